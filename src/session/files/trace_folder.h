#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "control/finding.h"

namespace tacho {

// A file as it stood at one moment.
struct FileState {
  uint64_t bytes = 0;
  int64_t modified_ns = 0;  // Unix, by the file system's clock
  bool operator==(const FileState&) const = default;
};
// Files below a folder (recursively, at most 100,000), by path. Empty when it cannot be read.
using FolderState = std::map<std::string, FileState>;
FolderState ReadFolder(const std::string& folder);

// What is in `now` and not, or not the same, in `before`.
std::vector<std::string> NewFiles(const FolderState& before, const FolderState& now);

// Whether a file has the form of a whole trace, by its two ends only: gzip with a trailer, or JSON
// that ends in a closing bracket. `*.tmp` files of a flush under way never are.
bool LooksWhole(const std::string& path);
// Whether the name is that of a trace rather than of a table, a log or a recording of how graphs
// were captured, which no session writes. What `folder`, above the file, is called says nothing.
bool IsTraceName(const std::string& path, std::string_view folder = {});
// Whether `path` names vLLM's table of averages, the last file that a flush writes.
bool IsTableName(const std::string& path);

// Whether the file's name begins with the key of a session: "t-w1" is not that of
// "t-w10_rank0.json". The empty key is that of all files.
bool NameHasKey(std::string_view path, std::string_view key);

struct SettleOptions {
  // No file has grown for so long: then it is over, whole or not.
  std::chrono::milliseconds quiet{3000};
  std::chrono::milliseconds patience{0};  // of it all; 0: no bound
  std::string key;                        // the files that count have it (NameHasKey)
  size_t expected = 0;  // trace files; more patience (10 s) is given until as many are there
};
// Waits until the new files below `folder` are whole and no longer grow; calls `progress` with
// their bytes about twice a second. Gives the new trace files, sorted.
std::vector<std::string> WaitForFiles(const std::string& folder, const FolderState& before,
                                      const SettleOptions& options, std::stop_token stop,
                                      const std::function<void(uint64_t bytes)>& progress);

// Gives files that come to one folder names of their own there: never that of a file that is there
// or was given, so that none overwrites another. "t.json.gz" becomes "t~2.json.gz".
class FreshNames {
 public:
  explicit FreshNames(std::string folder) : folder_(std::move(folder)) {}
  // A path in the folder; the folder may not be there yet.
  std::string PathFor(const std::string& name);

 private:
  const std::string folder_;
  std::unordered_map<std::string, int> numbers_;  // the last one, of each name
};

struct BroughtFiles {
  std::vector<std::string> files;  // the new paths, in the order of those that were given
  // Those of the given whose bytes are whole under the new path too: they may be removed.
  std::vector<std::string> whole;
  std::optional<Finding> no_room;  // some are only symbolic links to the engine's own, and why
};
// Puts `files` into `target`, each under its own name, or one like it where two have the same
// (FreshNames): linked where both are of one file system, else copied beside and renamed; the
// engine's own files stay. If there is no room for a copy, a symbolic link replaces it.
// kOutput: not even that, or with `owner`: one is no regular file of that user (where he could put
// a link to another's in its place); what was put there so far stays.
Result<BroughtFiles> BringFiles(const std::vector<std::string>& files, const std::string& target,
                                std::optional<uint32_t> owner = {});

}  // namespace tacho
