#include "control/log/log_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {
namespace {

constexpr size_t kMostWriting = 4096;
constexpr int64_t kLongFlushS = 60, kHalfDayS = 43'200, kDayS = 86'400;
// The engine starts again, or ends: later lines have nothing to do with earlier sessions.
constexpr auto kBeginsAnew =
    std::to_array<std::string_view>({"LLM engine (v", "server_args=", "SIGQUIT received",
                                     "Finished server process", "kill_process_tree called"});

bool Mentions(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// The seconds since midnight of "16:02:39".
std::optional<int64_t> SecondsOf(std::string_view time) {
  int64_t seconds = 0;
  for (int part = 0; part < 3; ++part) {
    const auto number = TakeNumber<int64_t>(time);
    if (!number || *number < 0 || *number > 59) return std::nullopt;
    seconds = seconds * 60 + *number;
    if (time.starts_with(':')) time.remove_prefix(1);
  }
  return seconds;
}

std::string FirstWord(std::string_view text) { return std::string(TakeWord(text)); }

}  // namespace

void LogSessions::Forget() {
  profiling_ = false;
  sessions_.clear();
  starting_.clear();
  stopping_.clear();
}

std::vector<LogSessions::Fault> LogSessions::Take(const LogLine& line) {
  const std::string_view text = line.text;
  std::vector<Fault> faults;
  if (std::ranges::any_of(kBeginsAnew,
                          [&](std::string_view words) { return Mentions(text, words); })) {
    // A second SGLang that starts is another engine. Addresses are not compared: two servers on
    // different machines may have the same host and port.
    const bool is_sglang = Mentions(text, "server_args=");
    several_run_ |= is_sglang && one_runs_;
    one_runs_ = is_sglang;
    Forget();
  } else if (text.starts_with("Starting profiler...") || Mentions(text, "] profiler_start")) {
    profiling_ = true;
    stopping_.erase(line.process);
    if (!Mentions(text, "...")) return faults;
    starter_ = line.process;
    if (starting_.size() < kMostWriting) starting_.insert(line.process);
  } else if (text.starts_with("Profiler started.")) {
    starting_.erase(line.process);
  } else if (text.starts_with("Profiling starts. ")) {
    // In a log of several engines, a line without an engine's name does not show which one started.
    const bool tells = !line.engine.empty() || (one_runs_ && !several_run_);
    if (tells && sessions_.contains(line.process)) faults.push_back({FindingId::kSessionLost, ""});
    if (sessions_.size() < kMostWriting) sessions_.insert(line.process);
    profiling_ = true;
    stopping_.erase(line.process);
  } else if (text.starts_with("Profiling starts for ")) {
    profiling_ = true;
  } else if (Mentions(text, "Profiling is not in progress")) {
    sessions_.clear();  // the stop shows that no session had begun
  } else if (text.starts_with("Stopping profiler...") || text.starts_with("Stop profiling")) {
    Stop(line, faults);
  } else if (text.starts_with("Profiler stopped.") || text.starts_with("Profiling done.")) {
    End(line, faults);
  }
  return faults;
}

void LogSessions::Stop(const LogLine& line, std::vector<Fault>& faults) {
  sessions_.erase(line.process);
  starting_.clear();
  if (stopping_.size() < kMostWriting) stopping_[line.process] = SecondsOf(line.time);
  if (Mentions(line.process, "ApiServer_") && Mentions(starter_, "ApiServer_") &&
      FirstWord(line.process) != FirstWord(starter_))
    faults.push_back({FindingId::kSeveralFrontEnds,
                      fmt::format(": {}, then {}", FirstWord(starter_), FirstWord(line.process))});
}

void LogSessions::End(const LogLine& line, std::vector<Fault>& faults) {
  profiling_ = false;
  const auto stop = stopping_.find(line.process);
  if (stop == stopping_.end()) return;
  const auto now = SecondsOf(line.time), then = stop->second;
  stopping_.erase(stop);
  if (!now || !then) return;
  const int64_t took = (*now - *then + kDayS) % kDayS;
  if (took >= kLongFlushS && took < kHalfDayS)
    faults.push_back({FindingId::kFlushLong, fmt::format(": {} s", took)});
}

}  // namespace tacho
