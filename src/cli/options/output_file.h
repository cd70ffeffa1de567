#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/byte_sink.h"
#include "base/replace_file.h"
#include "base/result.h"
#include "cli/screen/output.h"

namespace tacho {

// A file that is written piece by piece. Until Finish it has a hidden name beside its path, as in
// WriteFile (cli/screen/output.h). If Finish is not called, an earlier file at the path stays, and
// no hidden file is left. "-" is standard output. An existing pipe or device is written to
// directly.
class OutputFile : public ByteSink {
 public:
  // Makes missing folders. A request on `stop` ends the writing. kUsage: `path` is a folder;
  // kOutput: the file cannot be opened.
  static Result<std::unique_ptr<OutputFile>> Open(const std::string& path, std::stop_token stop);

  // Returns false after a failure, after a request to stop, or if nobody reads the pipe any more.
  bool Write(std::string_view bytes) override;
  // The name of the file that is being written, for a writer that opens it by name; "" for a pipe.
  [[nodiscard]] std::string name_beside() const { return beside_ ? beside_->beside() : ""; }
  // Renames the complete file to its path. kInterrupted: there was a request to stop; kOutput: a
  // write or the renaming failed. It is not a failure if the reader of a pipe closed it.
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
