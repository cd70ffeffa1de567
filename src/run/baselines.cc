#include "run/baselines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/closest.h"
#include "base/file_descriptor.h"
#include "base/replace_file.h"
#include "base/system_error.h"
#include "io/gzip_sink.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 100;
constexpr int kGzipOfResults = 6;
constexpr std::string_view kResultsName = "results.json.gz", kRunJsonName = "run.json",
                           kPlanName = "plan.json";
constexpr size_t kMostRunsKept = 999;
constexpr size_t kRandomLetters = 6;  // how many mkdtemp fills in
// `run.json` contains commands, so only its owner may read it.
constexpr mode_t kForAll = 0644, kForOwner = 0600;
constexpr std::string_view kOld = "-old";

struct GzippedText : ByteSink {
  std::string text = {};
  bool Write(std::string_view bytes) override {
    text += bytes;
    return true;
  }
};

std::string Gzipped(std::string_view text) {
  GzippedText to;
  GzipSink gzip(to, kGzipOfResults);
  gzip.Write(text);
  gzip.Finish();
  return std::move(to.text);
}

std::string RunFolderOf(const std::string& path, size_t number) {
  return fmt::format("{}/run{}", path, number);
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error)) && !error;
}
bool IsThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// The entries of a folder, not sorted. Empty if the folder cannot be read.
std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  return entries;
}

// A file in the baseline that tacho did not create; "" if there is none.
std::string StrangerIn(const std::string& baseline) {
  const size_t runs = RunsOfBaseline(baseline).size();
  for (const fs::path& entry : EntriesOf(baseline)) {
    bool is_run = false;
    for (size_t i = 1; i <= runs; ++i) is_run |= entry == RunFolderOf(baseline, i);
    if (!is_run || !IsFolder(entry)) return entry.string();
    for (const fs::path& file : EntriesOf(entry)) {
      const std::string name = file.filename().string();
      if (IsFolder(file) || (name != kResultsName && name != kRunJsonName && name != kPlanName))
        return file.string();
    }
  }
  return "";
}

// A folder that is removed with its contents, unless `path` was cleared because it was moved away.
struct FolderBeside {
  std::string path;
  ~FolderBeside() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

Result<void> MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? CannotWrite(path, error.value()) : Result<void>();
}

Result<void> WriteRunToKeep(const std::string& folder, const RunToKeep& run) {
  const auto write = [&](std::string_view name, std::string_view content) {
    // Only the owner may read run.json, because it has the command of the recording.
    const mode_t mode = name == kRunJsonName ? kForOwner : kForAll;
    return ReplaceFile(fmt::format("{}/{}", folder, name), content, mode);
  };
  TACHO_RETURN_IF_ERROR(MakeFolder(folder));
  TACHO_RETURN_IF_ERROR(write(kResultsName, Gzipped(run.results)));
  if (!run.run_json.empty()) TACHO_RETURN_IF_ERROR(write(kRunJsonName, run.run_json));
  if (!run.plan_facts.empty()) TACHO_RETURN_IF_ERROR(write(kPlanName, run.plan_facts + "\n"));
  return {};
}

Result<void> Move(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? CannotWrite(to, error.value()) : Result<void>();
}

// Locks the hidden folder of a save while the save uses it. The lock ends with the process at the
// latest. The result has no descriptor if another process has the lock or the file system has no
// locks.
FileDescriptor Locked(const std::string& folder) {
  FileDescriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (file && flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.Close();
  return file;
}

// Whether `entry` is the name of a hidden folder from a save of `name`: ".main-Xy12Ab" or
// ".main-Xy12Ab-old".
bool IsHiddenFolderOf(const std::string& name, std::string_view entry) {
  const std::string begin = "." + name + "-";
  if (!entry.starts_with(begin)) return false;
  entry.remove_prefix(begin.size());
  if (entry.ends_with(kOld)) entry.remove_suffix(kOld.size());
  return entry.size() == kRandomLetters && entry.find_first_of(".-_") == std::string_view::npos;
}

// Removes what is left of killed saves of this baseline.
void RemoveDeadSaves(const BaselinePlace& place) {
  for (const fs::path& entry : EntriesOf(place.folder)) {
    if (!IsHiddenFolderOf(place.name, entry.filename().string()) || !IsFolder(entry)) continue;
    const FileDescriptor lock = Locked(entry.string());
    std::error_code ignored;
    if (lock) fs::remove_all(entry, ignored);
  }
}

// Puts the folder `fresh` in the place of `path`. Returns the path to which the old folder was
// moved, so that the caller can remove it; "" if `path` did not exist. If the file system can
// exchange two names, `path` exists all the time.
Result<std::string> PutInPlace(const std::string& fresh, const std::string& path) {
  if (!IsThere(path)) return Move(fresh, path).map([] { return std::string(); });
  if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0)
    return fresh;
  const std::string aside = fresh + std::string(kOld);
  TACHO_RETURN_IF_ERROR(Move(path, aside));
  if (const auto moved = Move(fresh, path); !moved) {
    TACHO_RETURN_IF_ERROR(Move(aside, path));
    return tl::unexpected(moved.error());
  }
  return aside;
}

}  // namespace

Result<void> CheckBaselineName(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool is_name = !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
                       std::ranges::all_of(name, [&](char c) {
                         return is_letter(c) || c == '.' || c == '_' || c == '-';
                       });
  if (is_name) return {};
  return Fail(
      ErrorKind::kUsage,
      fmt::format("'{}' is not a valid name for a baseline: 1 to {} letters, digits, '.', '_' and "
                  "'-', first a letter or a digit",
                  name.substr(0, kLongestName), kLongestName));
}

Result<void> CheckBaselinePlace(const BaselinePlace& place, bool replace) {
  const std::string path = place.path();
  if (!IsThere(path)) return {};
  if (!IsFolder(path) || RunsOfBaseline(path).empty()) {
    return Fail(ErrorKind::kOutput, path + " is not a baseline of tacho: it is left alone");
  }
  if (!replace) return Fail(ErrorKind::kUsage, path + " is there already; --replace replaces it");
  if (const std::string stranger = StrangerIn(path); !stranger.empty())
    return Fail(ErrorKind::kOutput, stranger + " is not tacho's: it is left alone");
  return {};
}

Result<void> SaveBaseline(const BaselinePlace& place, const std::vector<RunToKeep>& runs,
                          bool replace) {
  const std::string path = place.path();
  TACHO_RETURN_IF_ERROR(CheckBaselinePlace(place, replace));
  TACHO_RETURN_IF_ERROR(MakeFolder(place.folder));
  RemoveDeadSaves(place);
  // The new folder has a hidden name, which no baseline can have.
  FolderBeside fresh{
      fmt::format("{}/.{}-{}", place.folder, place.name, std::string(kRandomLetters, 'X'))};
  if (mkdtemp(fresh.path.data()) == nullptr) {
    const int reason = errno;
    fresh.path.clear();
    return CannotWrite(path, reason);
  }
  const FileDescriptor lock = Locked(fresh.path);
  std::error_code error;
  fs::permissions(fresh.path, fs::status(place.folder, error).permissions(), error);
  for (size_t i = 0; i < runs.size(); ++i)
    TACHO_RETURN_IF_ERROR(WriteRunToKeep(RunFolderOf(fresh.path, i + 1), runs[i]));
  TACHO_ASSIGN_OR_RETURN(fresh.path, PutInPlace(fresh.path, path));
  return {};
}

std::vector<std::string> RunsOfBaseline(const std::string& path) {
  std::vector<std::string> runs;
  std::error_code error;
  while (runs.size() < kMostRunsKept) {
    std::string run = RunFolderOf(path, runs.size() + 1);
    if (!fs::is_regular_file(fs::path(run) / kResultsName, error)) break;
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<std::vector<std::string>> RunsOfBaseline(const BaselinePlace& place) {
  TACHO_RETURN_IF_ERROR(CheckBaselineName(place.name));
  std::vector<std::string> runs = RunsOfBaseline(place.path());
  if (!runs.empty()) return runs;
  const std::string nearest = Closest(place.name, BaselinesIn(place.folder));
  return Fail(ErrorKind::kUnreadable,
              fmt::format("no baseline '{}' in {}{}", place.name, place.folder,
                          nearest.empty() ? "; 'tacho baseline save' makes one"
                                          : fmt::format(" (did you mean {}?)", nearest)));
}

std::vector<std::string> WithRunsOfBaselines(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::vector<std::string> runs = path == "-" ? std::vector<std::string>{} : RunsOfBaseline(path);
    std::error_code unknown;
    if (runs.empty() && CheckBaselineName(path) && !fs::exists(path, unknown))
      runs = RunsOfBaseline(BaselinePlace{std::string(kBaselineFolder), path}.path());
    if (runs.empty()) runs = {path};
    all.insert(all.end(), runs.begin(), runs.end());
  }
  return all;
}

std::vector<std::string> BaselinesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::path& entry : EntriesOf(folder)) {
    std::string name = entry.filename().string();
    if (CheckBaselineName(name) && !RunsOfBaseline(entry.string()).empty())
      names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

Result<void> RemoveBaseline(const BaselinePlace& place) {
  TACHO_RETURN_IF_ERROR(RunsOfBaseline(place));
  TACHO_RETURN_IF_ERROR(CheckBaselinePlace(place, true));
  std::error_code error;
  fs::remove_all(place.path(), error);
  return error ? CannotWrite(place.path(), error.value()) : Result<void>();
}

}  // namespace tacho
