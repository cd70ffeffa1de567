#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/finding.h"
#include "control/log/log_line.h"

namespace tacho {

// Follows the profiling sessions of one or several engines through their log, line by line. Knows
// vLLM's "Starting profiler...", "Stopping profiler...", "Profiler stopped.", and SGLang's
// "Profiling starts.", "Stop profiling...", "Profiling done.". Its memory does not grow with the
// log.
class LogSessions {
 public:
  struct Fault {
    FindingId id;
    std::string detail;  // a text to show after the quoted line; may be ""
  };
  // Takes the next line, and returns the faults that it shows.
  std::vector<Fault> Take(const LogLine& line);

  bool IsProfiling() const { return profiling_; }  // between a start and the end of its stop
  bool IsStarting() const { return !starting_.empty(); }
  // Whether a process was told to stop and has not yet reported that its trace is written.
  bool IsStopping() const { return !stopping_.empty(); }

 private:
  void Forget();
  void Stop(const LogLine& line, std::vector<Fault>& faults);
  void End(const LogLine& line, std::vector<Fault>& faults);

  bool profiling_ = false;
  std::set<std::string> sessions_;  // SGLang processes that began a session
  // How many SGLang engines have started in this log: one, or more.
  bool one_runs_ = false, several_run_ = false;
  std::string starter_;
  // By process. The value is the second of the day in which the stop began, if its line has a time.
  std::set<std::string> starting_;
  std::map<std::string, std::optional<int64_t>> stopping_;
};

}  // namespace tacho
