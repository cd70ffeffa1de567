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

#include "base/clock.h"
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

// The files in `now` that `before` lacks or has in another state.
std::vector<std::string> NewFiles(const FolderState& before, const FolderState& now);

// Whether a file has the form of a whole trace, by its two ends only: gzip with a trailer, or JSON
// that ends in a closing bracket. False for `*.tmp`: its flush is under way.
bool LooksWhole(const std::string& path);
// Whether `path` names a trace: no table, no log, and no recording of graph capture (no session
// writes one). `folder`: the beginning of `path` in which names of folders do not count.
bool IsTraceName(const std::string& path, std::string_view folder = {});
// Whether `path` names vLLM's table of averages, the last file that a flush writes.
bool IsTableName(const std::string& path);

// Whether the file's name begins with the key of a session: "t-w1" is not the key of
// "t-w10_rank0.json". Every file has the empty key.
bool NameHasKey(std::string_view path, std::string_view key);

struct SettleOptions {
  // The wait ends when no file has grown for this long, whether the files are whole or not.
  std::chrono::milliseconds quiet{3000};
  std::chrono::milliseconds patience{0};  // for the whole wait; 0: no limit
  std::string key;                        // only files with this key count (NameHasKey)
  size_t expected = 0;  // number of trace files; while there are fewer, `quiet` is 10 s
};
// Waits until the new files below `folder` are whole and no longer grow. Calls `progress` with the
// size of these files four times a second. Returns the new trace files, sorted.
std::vector<std::string> WaitForFiles(const std::string& folder, const FolderState& before,
                                      const SettleOptions& options, std::stop_token stop,
                                      const std::function<void(uint64_t bytes)>& progress,
                                      Clock& clock = SystemClock());

// Chooses names for files that come to one folder, so that no file overwrites another: never the
// name of a file that is there, and no name twice. "t.json.gz" becomes "t~2.json.gz".
class FreshNames {
 public:
  explicit FreshNames(std::string folder) : folder_(std::move(folder)) {}
  // A path in the folder; the folder may not be there yet.
  std::string PathFor(const std::string& name);

 private:
  const std::string folder_;
  std::unordered_map<std::string, int> numbers_;  // the last number of each name
};

struct BroughtFiles {
  std::vector<std::string> files;  // the new paths, in the order of the given files
  // The given files whose bytes are whole under the new path too: these may be removed.
  std::vector<std::string> whole;
  std::optional<Finding> no_room;  // why some are only links to the engine's files
};
// Puts `files` into `target`, each under its own name, or a similar one if two have the same
// (FreshNames). Links a file if both places are on one file system, else copies it beside and
// renames the copy; the engine's own files stay. If there is no room for a copy, a symbolic link
// replaces it. kOutput: even that failed; or, with `owner`, a file is not a regular file of that
// user (who might have put a link to another user's file in its place). Files put there so far
// stay.
Result<BroughtFiles> BringFiles(const std::vector<std::string>& files, const std::string& target,
                                std::optional<uint32_t> owner = {});

}  // namespace tacho
