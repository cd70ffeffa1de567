#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tacho {

// Writes all of `text` to standard output. A reader that closed the pipe ("| head") is not a
// failure; any other failure is kOutput.
Result<void> WriteStdout(std::string_view text);
// Like WriteStdout. Returns false if the reader closed the pipe: further writing is useless.
Result<bool> WriteToReader(std::string_view text);

// Prints `message` on standard error after "tacho: ". The message may contain hostile names, so
// control characters are escaped (text/visible_text.h).
void Complain(std::string_view message);

// Writes `text` unchanged to standard error, for a line that is redrawn. Ignores failures.
void DrawOnStderr(std::string_view text);

// Prints `error` and returns its exit status.
int Fails(const Error& error);

// The error as the JSON object that --json prints instead of a result (docs/json.md).
std::string ErrorJson(const Error& error, int exit_status);

// Writes the files (name, content) to `folder`, which is created if missing. They are written under
// hidden names and renamed when all are complete: after a failure (kOutput) no file has changed,
// except if another user's file in a sticky folder refuses the rename.
Result<void> WriteFiles(const std::string& folder,
                        const std::vector<std::pair<std::string, std::string>>& files);

// Checks that writing `files` (name, beginning) would replace only earlier versions of these files.
// A file that begins with `beginning` is taken for an earlier version. kOutput: another file is in
// the way; the message names it.
Result<void> CheckReplaces(const std::string& folder,
                           const std::vector<std::pair<std::string, std::string>>& files);

// Makes missing folders. The destructor removes those that are still empty, so that a failure
// leaves no empty folder.
class NewFolders {
 public:
  NewFolders() = default;
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  ~NewFolders();

  int Make(const std::string& folder);  // 0 or an errno value

 private:
  std::vector<std::filesystem::path> made_;  // innermost first
};

// Where a file goes. `name` is empty for an existing pipe, a device or standard output, which is
// written to and not replaced.
struct OutputPlace {
  std::string folder, name;
};
// kUsage: `path` is a folder.
Result<OutputPlace> PlaceOf(const std::string& path);

// Writes one file as WriteFiles does; makes its folder if it is missing. An existing pipe or device
// is written to; the target of a link is replaced, not the link. kUsage: `path` is a folder;
// kOutput: it cannot be written.
Result<void> WriteFile(const std::string& path, std::string content);
// Checks, as far as possible, that WriteFile will succeed. Leaves nothing behind.
Result<void> CheckWritable(const std::string& path);

}  // namespace tacho
