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
// All files below a folder (at most 100,000), by path. Empty if the folder cannot be read.
using FolderState = std::map<std::string, FileState>;
FolderState ReadFolder(const std::string& folder);

// The files in `now` that `before` lacks or has in another state.
std::vector<std::string> NewFiles(const FolderState& before, const FolderState& now);

// Whether a file looks like a whole trace, judged by its beginning and end only: gzip with a
// trailer, or JSON that ends in a closing bracket. False for `*.tmp`, which is still being written.
bool LooksWhole(const std::string& path);
// Whether `path` names a trace, and not a table, a log or a recording of CUDA graph capture (which
// no profiling session writes). `folder`: the beginning of `path` whose folder names do not count.
bool IsTraceName(const std::string& path, std::string_view folder = {});
// Whether `path` names vLLM's table of averages, the last file that a flush writes.
bool IsTableName(const std::string& path);

// Whether the file's name begins with the key of a session. "t-w10_rank0.json" does not begin with
// the key "t-w1". The empty key fits every name.
bool NameHasKey(std::string_view path, std::string_view key);

struct SettleOptions {
  // The wait ends when no file has grown for this long, even if files are not whole.
  std::chrono::milliseconds quiet{3000};
  std::chrono::milliseconds patience{0};  // for the whole wait; 0: no limit
  std::string key;                        // only files with this key count (NameHasKey)
  size_t expected = 0;  // number of trace files; until they are all there, `quiet` is 10 s
};
// Waits until the new files below `folder` are whole and have stopped growing. Calls `progress`
// with their total size four times a second. Returns the new trace files, sorted.
std::vector<std::string> WaitForFiles(const std::string& folder, const FolderState& before,
                                      const SettleOptions& options, std::stop_token stop,
                                      const std::function<void(uint64_t bytes)>& progress,
                                      Clock& clock = SystemClock());

// Chooses names for files that go into one folder, so that no file overwrites another: never gives
// the name of an existing file, and no name twice. The second "t.json.gz" becomes "t~2.json.gz".
class FreshNames {
 public:
  explicit FreshNames(std::string folder) : folder_(std::move(folder)) {}
  // A path in the folder, which need not exist yet.
  std::string PathFor(const std::string& name);

 private:
  const std::string folder_;
  std::unordered_map<std::string, int> numbers_;  // the last number given to each name
};

struct BroughtFiles {
  std::vector<std::string> files;  // the new paths, in the order of the given files
  // The given files that are complete under their new paths too: the originals may be removed.
  std::vector<std::string> whole;
  std::optional<Finding> no_room;  // why some new paths are only links to the engine's files
};
// Puts `files` into `target`, each under its own name, or under a similar one if the name is taken
// (FreshNames). Makes a hard link if both places are on one file system, else copies the file under
// a temporary name and renames the copy. Leaves the engine's own files in place. If there is no
// room for a copy, makes a symbolic link instead. kOutput: even that failed, or, with `owner`, a
// file is not a regular file of that user (who could have replaced it by a link to another user's
// file). Files that were put there before the error stay.
Result<BroughtFiles> BringFiles(const std::vector<std::string>& files, const std::string& target,
                                std::optional<uint32_t> owner = {});

}  // namespace tacho
