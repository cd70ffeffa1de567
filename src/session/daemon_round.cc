#include "session/daemon_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/time.h"
#include "load/result/records.h"
#include "net/clock.h"

namespace tacho {
namespace {

constexpr int64_t kMarginNs = 500 * kNsPerMs;

// Of Kineto's text; every trace of PyTorch's work has some.
bool HoldsOperator(const std::string& path) {
  constexpr std::string_view kOperator = "\"cpu_op\"";
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> block(1 << 20);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    // An occurrence may lie across two blocks.
    text.erase(0, text.size() - std::min(text.size(), kOperator.size() - 1));
    text.append(block.data(), static_cast<size_t>(file.gcount()));
    if (text.find(kOperator) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

DaemonRound::DaemonRound(Askers askers, DaemonTrace trace)
    : askers_(std::move(askers)), trace_(std::move(trace)) {
  for (const auto& [worker, pids] : askers_) told_.insert(told_.end(), pids.begin(), pids.end());
}

void DaemonRound::Ask(KinetoDaemon& daemon, int64_t lead_ms) {
  trace_.start_unix_ms = daemon.AllToldByUnixMs(told_) + lead_ms;
  daemon.Request(told_, trace_);
  const ClockPair clocks = ReadClocks();
  begin_ns_ = clocks.monotonic_ns + trace_.start_unix_ms * kNsPerMs - clocks.unix_ns;
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
  // Kineto opens a file before it warms up. By our own clock: a file server's may be another one.
  if (MonotonicNs() < begin_ns_)
    for (const int64_t pid : told_)
      if (folder.contains(trace_.FileOf(pid) + ".tmp")) began_.insert(pid);
}

// A Kineto that refuses a start in the past opens the file all the same.
bool DaemonRound::TakesPart(int64_t pid, const FolderState& folder) const {
  if (began_.contains(pid) || folder.contains(trace_.FileOf(pid))) return true;
  const auto open = folder.find(trace_.FileOf(pid) + ".tmp");
  return open != folder.end() &&
         (open->second.bytes > 0 || open->second.modified_ns < trace_.start_unix_ms * kNsPerMs);
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
  return static_cast<size_t>(std::count_if(
      told_.begin(), told_.end(), [&](int64_t pid) { return LooksWhole(trace_.FileOf(pid)); }));
}

// Of one without events the last question within the window says that it traces, too.
bool DaemonRound::Writes(int64_t pid, const KinetoDaemon& daemon) const {
  if (late_at_close_ || !ProcessLives(pid) || LooksWhole(trace_.FileOf(pid))) return false;
  const int64_t now = MonotonicNs();
  for (const DaemonProcess& process : daemon.Processes())
    if (process.pid == pid && process.tracing)
      return process.asked_ns > end_ns() || now - end_ns() < KinetoDaemon::kPollMs * kNsPerMs;
  return false;
}

size_t DaemonRound::Traces(const KinetoDaemon& daemon) const {
  return static_cast<size_t>(std::count_if(told_.begin(), told_.end(), [&](int64_t pid) {
    const std::string file = trace_.FileOf(pid);
    return Writes(pid, daemon) || (LooksWhole(file) && HoldsOperator(file));
  }));
}

void DaemonRound::Close(const KinetoDaemon& daemon, const FolderState& folder) {
  late_at_close_ = Late(daemon, folder);
}

void DaemonRound::RemoveFiles() const {
  std::error_code ignored;
  for (const int64_t pid : told_)
    for (const char* ending : {"", ".tmp"})
      std::filesystem::remove(trace_.FileOf(pid) + ending, ignored);
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
