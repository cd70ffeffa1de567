#include "session/files/trace_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/capture_file.h"
#include "base/disk_room.h"
#include "base/file_descriptor.h"
#include "base/replace_file.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 100'000;
constexpr std::chrono::milliseconds kLookAtFiles{250};
constexpr std::chrono::seconds kForTheRest{10};

std::string Tail(std::ifstream& file, int64_t size, int64_t most) {
  int64_t from = std::max<int64_t>(0, size - most);
  file.seekg(from);
  std::string text(static_cast<size_t>(size - from), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

}  // namespace

FolderState ReadFolder(const std::string& folder) {
  FolderState state;
  std::error_code failed;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied,
                                      failed);
  for (; !failed && it != fs::recursive_directory_iterator() && state.size() < kMostFiles;
       it.increment(failed)) {
    struct stat status {};
    std::string path = it->path().string();
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    state[path] = {static_cast<uint64_t>(status.st_size),
                   status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
  }
  return state;
}

std::vector<std::string> NewFiles(const FolderState& before, const FolderState& now) {
  std::vector<std::string> files;
  for (const auto& [path, state] : now) {
    auto known = before.find(path);
    if (known == before.end() || known->second != state) files.push_back(path);
  }
  return files;
}

bool LooksWhole(const std::string& path) {
  if (path.ends_with(".tmp")) return false;
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  int64_t size = file.tellg();
  if (!file || size < 2) return false;
  file.seekg(0);
  char head[2] = {};
  file.read(head, 2);
  if (head[0] == '\x1f' && head[1] == '\x8b') {
    // A gzip trailer has 4 bytes of checksum and 4 of length; both are checked when the file is
    // read. The smallest gzip file has 20 bytes.
    return size >= 20;
  }
  std::string tail = Tail(file, size, 64);
  size_t last = tail.find_last_not_of(" \t\r\n");
  return last != std::string::npos && (tail[last] == '}' || tail[last] == ']');
}

bool IsTraceName(const std::string& path, std::string_view folder) {
  const std::string_view below =
      std::string_view(path).substr(path.starts_with(folder) ? folder.size() : 0);
  std::string name = fs::path(path).filename().string();
  const bool beside = name.starts_with('.');  // a temporary file of FileBeside
  return !beside && name.find(".json") != std::string::npos && !IsCaptureFile(below);
}

bool IsTableName(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name.find("profiler_out") != std::string::npos && name.ends_with(".txt");
}

bool NameHasKey(std::string_view path, std::string_view key) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(key)) return false;
  const char next = name.size() > key.size() ? name[key.size()] : '.';
  return key.empty() || next < '0' || next > '9';
}

std::vector<std::string> WaitForFiles(const std::string& folder, const FolderState& before,
                                      const SettleOptions& options, std::stop_token stop,
                                      const std::function<void(uint64_t bytes)>& progress,
                                      Clock& clock) {
  const int64_t begin_ns = clock.NowNs();
  int64_t changed_ns = begin_ns;
  FolderState last;
  std::vector<std::string> traces;
  while (true) {
    FolderState now = ReadFolder(folder);
    std::vector<std::string> fresh = NewFiles(before, now);
    FolderState state;
    uint64_t bytes = 0;
    bool whole = true;
    traces.clear();
    for (const std::string& path : fresh) {
      if (!IsTraceName(path, folder) || !NameHasKey(path, options.key)) continue;
      state[path] = now[path];
      bytes += now[path].bytes;
      if (LooksWhole(path))
        traces.push_back(path);
      else
        whole = false;
    }
    if (state != last) changed_ns = clock.NowNs();
    last = state;
    if (progress) progress(bytes);
    const std::chrono::nanoseconds since(clock.NowNs() - changed_ns);
    bool enough = traces.size() >= options.expected;
    // A gzip file grows under its final name. If two looks in a row see no growth, it is done.
    if (whole && enough && !traces.empty() && since >= 2 * kLookAtFiles) break;
    if (since >= options.quiet && (enough || since >= kForTheRest)) break;
    if (options.patience.count() > 0 &&
        std::chrono::nanoseconds(clock.NowNs() - begin_ns) >= options.patience)
      break;
    if (stop.stop_requested()) break;
    clock.Pause(stop, kLookAtFiles);
  }
  // Files that never became whole are returned too: they can be read up to the point where they
  // end.
  traces.clear();
  for (const auto& [path, state] : last)
    if (state.bytes > 0) traces.push_back(path);
  return traces;
}

std::string FreshNames::PathFor(const std::string& name) {
  const size_t ending = std::min(name.rfind(".json"), name.size());
  int& number = numbers_[name];
  while (true) {
    std::string path = folder_ + '/' + name;
    // Continues from the last number, so that many files of one name do not take quadratic time.
    if (++number > 1)
      path =
          fmt::format("{}/{}~{}{}", folder_, name.substr(0, ending), number, name.substr(ending));
    std::error_code none;
    if (!fs::exists(fs::symlink_status(path, none))) return path;
  }
}

namespace {

// Whether the two paths are hard links to one file. Two paths to the same directory entry do not
// count, nor does a symbolic link.
bool HasItsBytes(const fs::path& to, const fs::path& file) {
  std::error_code failed;
  return fs::is_regular_file(fs::symlink_status(to, failed)) && fs::equivalent(to, file, failed) &&
         (to.filename() != file.filename() ||
          !fs::equivalent(to.parent_path(), file.parent_path(), failed));
}

// Copies the whole of `file` to `to`. Returns "", or the reason for a failure; then nothing is at
// `to`.
std::string Copy(const std::string& file, const std::string& to) {
  FileBeside beside(to);
  std::error_code failed;
  const uint64_t bytes = fs::file_size(file, failed);
  int error = failed ? failed.value() : beside.Open();
  if (error != 0) return std::strerror(error);
  fs::copy_file(file, beside.beside(), fs::copy_options::overwrite_existing, failed);
  if (failed) return failed.message();
  if (fs::file_size(beside.beside(), failed) < bytes) return "only a part of it was copied";
  error = beside.Flush();
  if (error == 0) error = beside.Commit();
  return error == 0 ? "" : std::strerror(error);
}

// Opens a regular file of `owner`. The descriptor still refers to that file if another one is put
// in its place.
FileDescriptor OpenOwned(const std::string& path, uint32_t owner) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  const bool is_his =
      file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == owner;
  return is_his ? std::move(file) : FileDescriptor();
}

// Makes `to` a hard link to `file` or a copy of it. Returns "", or the reason for a failure.
std::string LinkOrCopy(const std::string& file, const std::string& to) {
  const int flags = file.starts_with("/proc/self/fd/") ? AT_SYMLINK_FOLLOW : 0;
  return linkat(AT_FDCWD, file.c_str(), AT_FDCWD, to.c_str(), flags) == 0 ? "" : Copy(file, to);
}

}  // namespace

Result<BroughtFiles> BringFiles(const std::vector<std::string>& files, const std::string& target,
                                std::optional<uint32_t> owner) {
  std::error_code failed;
  fs::create_directories(target, failed);
  if (failed) return Fail(ErrorKind::kOutput, fmt::format("{}: {}", target, failed.message()));
  BroughtFiles brought;
  FreshNames names(target);
  size_t links = 0;
  for (const std::string& file : files) {
    const fs::path there = fs::path(target) / fs::path(file).filename();
    if (fs::equivalent(file, there, failed)) {
      brought.files.push_back(there.string());
      if (HasItsBytes(there, file)) brought.whole.push_back(file);
      continue;
    }
    const std::string to = names.PathFor(there.filename().string());
    const FileDescriptor his = owner ? OpenOwned(file, *owner) : FileDescriptor();
    if (owner && !his)
      return Fail(ErrorKind::kOutput,
                  fmt::format("{}: it is not a regular file of user {}", file, *owner));
    const std::string why =
        LinkOrCopy(owner ? fmt::format("/proc/self/fd/{}", his.get()) : file, to);
    if (why.empty()) {
      brought.whole.push_back(file);
    } else {
      // A copy that failed on a full disk may report another reason, so the free room is checked.
      const bool full = fs::exists(file, failed) &&
                        FreeBytes(target).value_or(UINT64_MAX) < fs::file_size(file, failed);
      failed.clear();
      if (full) fs::create_symlink(fs::absolute(file, failed), to, failed);
      const std::string reason = full ? std::strerror(ENOSPC) : why;
      if (failed || !full)
        return Fail(ErrorKind::kOutput,
                    fmt::format("{}: {}; the engine's own file is {}", to, reason, file));
      ++links;
      brought.no_room =
          Finding{FindingId::kOnlyLinked, target,
                  fmt::format("{}: {} of its traces {} to the engine's own: {}", reason, links,
                              links == 1 ? "is only a link" : "are only links",
                              links == 1 ? file : fs::path(file).parent_path().string())};
    }
    brought.files.push_back(to);
  }
  return brought;
}

}  // namespace tacho
