#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

// All of `text` to an open file; 0 or the errno of what went wrong.
int WriteAll(int file, std::string_view text);

// A file that is written beside its place and takes it when it is whole. Until then readers see
// what was there; without Commit nothing has changed and nothing is left. Errors are errno values,
// 0 for none.
class FileBeside {
 public:
  explicit FileBeside(const std::string& path);
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;
  ~FileBeside();

  // Opens, appends and flushes; the umask takes its bits off `mode`.
  int Write(std::string_view content, mode_t mode = 0666);
  int Open(mode_t mode = 0666);
  int Append(std::string_view content) { return WriteAll(file_.get(), content); }
  int Flush();  // to the disk; closes it
  int Commit();
  // Its own name, hidden, until Commit.
  [[nodiscard]] const std::string& beside() const { return beside_; }

 private:
  const std::string path_;
  std::string beside_;  // "" before Open and after Commit
  FileDescriptor file_;
};

// `path` with this content. kOutput, with its name and the reason: what was there is there still.
Result<void> ReplaceFile(const std::string& path, std::string_view content, mode_t mode = 0666);

}  // namespace tacho
