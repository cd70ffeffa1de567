#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/byte_sink.h"
#include "base/replace_file.h"
#include "base/result.h"
#include "cli/screen/output.h"

namespace tacho {

// A file that is written piece by piece, like WriteFile (cli/screen/output.h): under a hidden name
// beside its path until it is complete, so that without Finish nothing changes and nothing is left.
// "-" is standard output; an existing pipe or device is written to.
class OutputFile : public ByteSink {
 public:
  // Makes missing folders. `stop`: a request ends the writing. kUsage: the path of a folder;
  // kOutput.
  static Result<std::unique_ptr<OutputFile>> Open(const std::string& path, std::stop_token stop);

  // False after a failure, after a request to stop, and if a pipe has no reader any more.
  bool Write(std::string_view bytes) override;
  // The name of the file that is being written, for a writer that opens it by name; "" for a pipe.
  [[nodiscard]] std::string name_beside() const { return beside_ ? beside_->beside() : ""; }
  // Puts the file into its place, or says what went wrong: kOutput, or kInterrupted. A reader that
  // closed the pipe is no failure.
  Result<void> Finish();

 private:
  OutputFile(std::string path, std::stop_token stop)
      : path_(std::move(path)), stop_(std::move(stop)) {}

  std::string path_;
  std::stop_token stop_;
  NewFolders folders_;
  std::unique_ptr<FileBeside> beside_;  // null: a pipe, in stream_
  FileDescriptor stream_;
  int error_ = 0;
};

}  // namespace tacho
