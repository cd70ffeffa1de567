#include "session/daemon/daemon_round.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "load/result/records.h"

namespace tacho {
namespace {

constexpr int64_t kMarginNs = 500 * kNsPerMs;

// Whether Kineto's JSON holds an operator; every trace of work in PyTorch does.
bool HoldsOperator(const std::string& path) {
  constexpr std::string_view kOperator = "\"cpu_op\"";
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> block(1 << 20);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    // Keeps the end of the last block, because the searched text may lie across two blocks.
    text.erase(0, text.size() - std::min(text.size(), kOperator.size() - 1));
    text.append(block.data(), static_cast<size_t>(file.gcount()));
    if (text.find(kOperator) != std::string::npos) return true;
  }
  return false;
}

// The state of `path` if it is a regular file that belongs to `user` (absent: to any user).
std::optional<FileState> FileOfUser(const std::string& path, std::optional<uint32_t> user) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (user && status.st_uid != *user) return std::nullopt;
  return FileState{static_cast<uint64_t>(status.st_size),
                   status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// Moves the file. Copies it if it cannot be renamed: the folder from KINETO_ONDEMAND_TRACE_DIR may
// lie on another file system than /tmp, and in a shared /tmp only the owner of a file may rename
// it.
bool Move(const std::string& own, const std::string& to, const DaemonPlace& place) {
  namespace fs = std::filesystem;
  std::error_code failed, ignored;
  fs::rename(own, to, failed);
  if (!failed) return true;
  const auto brought = BringFiles({own}, fs::path(to).parent_path().string(), place.user);
  if (!brought || brought->files.empty()) return false;
  const std::string& copy = brought->files.front();
  if (brought->whole.empty()) {  // no room: the copy is only a link
    fs::remove(copy, ignored);
    return false;
  }
  fs::rename(copy, to, failed);
  // Later, only files that belong to `place.owner` are taken from that folder.
  if (!failed && place.owner && geteuid() == 0 &&
      lchown(to.c_str(), *place.owner, static_cast<gid_t>(-1)) != 0)
    return false;
  if (!failed) fs::remove(own, ignored);
  return !failed;
}

// The endings of a whole file, and of a file that is being written.
constexpr const char* kEndings[] = {"", ".tmp"};

}  // namespace

DaemonRound::DaemonRound(Askers askers, Places places, DaemonTrace trace)
    : askers_(std::move(askers)), places_(std::move(places)), trace_(std::move(trace)) {
  for (const auto& [worker, pids] : askers_) {
    told_.insert(told_.end(), pids.begin(), pids.end());
    for (const int64_t pid : pids) worker_of_[pid] = worker;
  }
}

void DaemonRound::Ask(KinetoDaemon& daemon, int64_t lead_ms) {
  trace_.start_unix_ms = daemon.AllToldByUnixMs(told_) + lead_ms;
  std::map<int64_t, DaemonTrace> traces;
  for (const int64_t pid : told_) {
    DaemonTrace& own = traces[pid] = trace_;
    own.folder = PlaceOf(WorkerOf(pid)).folder;
  }
  const ClockPair clocks = ReadClocks();
  daemon.Request(traces);
  asked_unix_ns_ = clocks.unix_ns;
  begin_ns_ = clocks.monotonic_ns + trace_.start_unix_ms * kNsPerMs - clocks.unix_ns;
}

std::string DaemonRound::ConfigText() const {
  std::set<std::string> folders;
  std::string text;
  for (const auto& [worker, place] : places_) {
    DaemonTrace own = trace_;
    own.folder = place.folder;
    if (folders.insert(place.folder).second) text += own.ConfigText();
  }
  return text;
}

std::string DaemonRound::FileOf(int64_t pid) const {
  DaemonTrace own = trace_;
  own.folder = PlaceOf(WorkerOf(pid)).folder;
  return own.FileOf(pid);
}

// Ignores a file that an earlier session left. Also ignores another user's file, because anybody
// may write to /tmp.
std::optional<FileState> DaemonRound::OwnFile(int64_t pid, const std::string& ending) const {
  const DaemonPlace& place = PlaceOf(WorkerOf(pid));
  if (late_at_close_ || !place.user) return std::nullopt;
  std::optional<FileState> file = FileOfUser(place.OwnFileOf(pid) + ending, place.user);
  const int64_t oldest_ns = ending.empty() ? trace_.start_unix_ms * kNsPerMs : asked_unix_ns_;
  return file && file->modified_ns >= oldest_ns ? file : std::nullopt;
}

std::string DaemonRound::LeftBy(int64_t pid) const {
  const DaemonPlace& place = PlaceOf(WorkerOf(pid));
  for (const std::string ending : kEndings) {
    std::string path = FileOf(pid) + ending;
    if (FileOfUser(path, place.owner)) return path;
    if (OwnFile(pid, ending)) return place.OwnFileOf(pid) + ending;
  }
  return "";
}

bool DaemonRound::Refused(int64_t pid) const {
  return moved_.contains(pid) || OwnFile(pid, "") || OwnFile(pid, ".tmp");
}

FolderState DaemonRound::Files() const {
  FolderState files;
  for (const int64_t pid : told_) {
    const DaemonPlace& place = PlaceOf(WorkerOf(pid));
    for (const std::string ending : kEndings) {
      const std::string path = FileOf(pid) + ending;
      if (const auto file = FileOfUser(path, place.owner)) files[path] = *file;
      if (const auto file = OwnFile(pid, ending)) files[place.OwnFileOf(pid) + ending] = *file;
    }
  }
  return files;
}

void DaemonRound::KeepOnly(const std::vector<int64_t>& pids) {
  told_ = pids;
  for (auto& [worker, of_it] : askers_)
    std::erase_if(of_it, [&](int64_t pid) { return !IsAmong(pid, told_); });
}

void DaemonRound::Look(const KinetoDaemon& daemon, const FolderState& folder) {
  for (const DaemonProcess& process : daemon.Processes())
    if (process.tracing && process.asked_ns > begin_ns_ - KinetoDaemon::kReadyMs * kNsPerMs)
      began_.insert(process.pid);
  // A process whose file exists before the window begins takes part, because Kineto opens the file
  // before it warms up. The time is compared with our own clock, because the clock of a file server
  // may differ.
  if (MonotonicNs() < begin_ns_)
    for (const int64_t pid : told_)
      if (folder.contains(FileOf(pid) + ".tmp") || OwnFile(pid, ".tmp")) began_.insert(pid);
}

// An empty file that was opened after the window's start does not show that the process takes part:
// a Kineto that refuses a start in the past also opens a file.
bool DaemonRound::TakesPart(int64_t pid, const FolderState& folder) const {
  if (began_.contains(pid)) return true;
  for (const std::string& file : {FileOf(pid), PlaceOf(WorkerOf(pid)).OwnFileOf(pid)}) {
    if (folder.contains(file)) return true;
    const auto open = folder.find(file + ".tmp");
    if (open != folder.end() &&
        (open->second.bytes > 0 || open->second.modified_ns < trace_.start_unix_ms * kNsPerMs))
      return true;
  }
  return false;
}

std::vector<int64_t> DaemonRound::Late(const KinetoDaemon& daemon,
                                       const FolderState& folder) const {
  if (late_at_close_) return *late_at_close_;
  std::vector<int64_t> late;
  for (const DaemonProcess& process : daemon.Processes())
    if (IsAmong(process.pid, told_) && !process.tracing &&
        process.asked_ns > begin_ns_ + kMarginNs && !TakesPart(process.pid, folder))
      late.push_back(process.pid);
  return late;
}

size_t DaemonRound::Whole() const {
  return static_cast<size_t>(std::count_if(told_.begin(), told_.end(),
                                           [&](int64_t pid) { return LooksWhole(LeftBy(pid)); }));
}

// At its last poll in the window a process reports that it traces, even if it has no events and
// will write nothing. So a report from within the window counts only until one poll period after
// the window's end.
bool DaemonRound::Writes(int64_t pid, const KinetoDaemon& daemon) const {
  if (late_at_close_ || !ProcessLives(pid) || LooksWhole(LeftBy(pid))) return false;
  const int64_t now = MonotonicNs();
  for (const DaemonProcess& process : daemon.Processes())
    if (process.pid == pid && process.tracing)
      return process.asked_ns > end_ns() || now - end_ns() < KinetoDaemon::kPollMs * kNsPerMs;
  return false;
}

size_t DaemonRound::Traces(const KinetoDaemon& daemon) const {
  return static_cast<size_t>(std::count_if(told_.begin(), told_.end(), [&](int64_t pid) {
    const std::string file = LeftBy(pid);
    return Writes(pid, daemon) || (LooksWhole(file) && HoldsOperator(file));
  }));
}

void DaemonRound::Close(const KinetoDaemon& daemon, const FolderState& folder) {
  for (const int64_t pid : told_) {
    const DaemonPlace& place = PlaceOf(WorkerOf(pid));
    if (OwnFile(pid, "") && Move(place.OwnFileOf(pid), FileOf(pid), place)) moved_.insert(pid);
  }
  late_at_close_ = Late(daemon, folder);
}

void DaemonRound::RemoveFiles() const {
  std::error_code ignored;
  for (const int64_t pid : told_)
    for (const std::string ending : kEndings) {
      std::filesystem::remove(FileOf(pid) + ending, ignored);
      if (OwnFile(pid, ending))
        std::filesystem::remove(PlaceOf(WorkerOf(pid)).OwnFileOf(pid) + ending, ignored);
    }
}

bool IsAmong(int64_t pid, const std::vector<int64_t>& pids) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

bool ProcessLives(int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) != "Z";
}

}  // namespace tacho
