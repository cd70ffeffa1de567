#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

// An error of kind kOutput: "cannot write WHAT: WHY". `error`: a value of errno.
tl::unexpected<Error> CannotWrite(const std::string& what, int error);
// Writes all of `text` to an open file. Returns 0 or an errno value.
int WriteAll(int file, std::string_view text);

// A new file that is first written under a hidden name in the folder of `path`. Commit renames it
// to `path`; until then readers see the old file. Without Commit the destructor removes the new
// file, and the old one stays. All functions return 0 or an errno value.
class FileBeside {
 public:
  explicit FileBeside(const std::string& path);
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;
  ~FileBeside();

  // Write opens the file, appends `content` and flushes. `mode`: permissions, reduced by the umask.
  int Write(std::string_view content, mode_t mode = 0666);
  int Open(mode_t mode = 0666);
  int Append(std::string_view content) { return WriteAll(file_.get(), content); }
  int Flush();  // writes the file to the disk and closes it
  int Commit();
  // The hidden path. The hidden name does not contain the name of `path`. If the process is killed,
  // the hidden file stays.
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
