#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

// The error kOutput: "cannot write WHAT: WHY". `error`: a value of errno.
tl::unexpected<Error> CannotWrite(const std::string& what, int error);
// Writes all of `text` to an open file. 0 or an errno value.
int WriteAll(int file, std::string_view text);

// A new file that is written under a hidden name beside `path`. Commit puts it in the place of
// `path`. Until then readers see the old file. Without Commit the destructor removes the new file,
// and the old one stays. The functions return errno values, 0 on success.
class FileBeside {
 public:
  explicit FileBeside(const std::string& path);
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;
  ~FileBeside();

  // Opens, appends and flushes. The umask applies to `mode`.
  int Write(std::string_view content, mode_t mode = 0666);
  int Open(mode_t mode = 0666);
  int Append(std::string_view content) { return WriteAll(file_.get(), content); }
  int Flush();  // to the disk; closes the file
  int Commit();
  // The hidden path. Its name does not contain the name of `path`. The hidden file stays if the
  // process is killed.
  [[nodiscard]] const std::string& beside() const { return beside_; }

 private:
  const std::string path_;
  std::string beside_;  // "" before Open and after Commit
  FileDescriptor file_;
};

// Writes `content` to `path`. On failure: kOutput with the path and the reason, and the old file is
// unchanged.
Result<void> ReplaceFile(const std::string& path, std::string_view content, mode_t mode = 0666);

}  // namespace tacho
