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
// The same. False: the reader closed the pipe, so that writing on is of no use.
Result<bool> WriteToReader(std::string_view text);

// Prints `message` on standard error after "tacho: ". It may contain hostile names, so each line is
// made visible (text/visible_text.h).
void Complain(std::string_view message);

// Writes `text` unchanged to standard error, for a line that is redrawn. Ignores failures.
void DrawOnStderr(std::string_view text);

// Prints `error` and returns its exit status.
int Fails(const Error& error);

// The error as the JSON object that --json prints instead of a result (docs/json.md).
std::string ErrorJson(const Error& error, int exit_status);

// Writes the files (name, content) to `folder`, which is created if missing. They are written
// beside their places and renamed when all are complete: on failure (kOutput) none
// has changed, unless a stranger's file in a sticky folder refuses its replacement.
Result<void> WriteFiles(const std::string& folder,
                        const std::vector<std::pair<std::string, std::string>>& files);

// Checks that writing `files` (name, beginning) would replace only older versions, which have the
// same beginning. kOutput: another file is in the way; the message names it.
Result<void> CheckReplaces(const std::string& folder,
                           const std::vector<std::pair<std::string, std::string>>& files);

// Makes a missing folder, with those above it. The destructor removes the folders that it made,
// except those in which something was written: a failure leaves no empty folder.
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

// Where a file goes. An empty name: an existing pipe, a device or standard output, which is written
// to and not replaced.
struct OutputPlace {
  std::string folder, name;
};
// kUsage: the path of a folder.
Result<OutputPlace> PlaceOf(const std::string& path);

// Writes one file in the same way; its folder is created if missing. An existing pipe or device is
// written to; the target of a link is replaced, not the link. kOutput; kUsage: the path of a
// folder.
Result<void> WriteFile(const std::string& path, std::string content);
// Checks, as far as possible, that WriteFile will succeed. Leaves nothing behind.
Result<void> CheckWritable(const std::string& path);

}  // namespace tacho
