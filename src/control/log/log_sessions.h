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

// The profiling sessions in the log of an engine, or of several, followed line by line: vLLM's
// "Starting profiler...", "Stopping profiler...", "Profiler stopped.", SGLang's "Profiling
// starts.", "Stop profiling...", "Profiling done.". Memory does not grow with the log.
class LogSessions {
 public:
  struct Fault {
    FindingId id;
    std::string detail;  // follows the quoted line; may be ""
  };
  // The faults that the next line shows.
  std::vector<Fault> Take(const LogLine& line);

  bool IsProfiling() const { return profiling_; }  // between a start and the end of its stop
  bool IsStarting() const { return !starting_.empty(); }
  // Whether a process was asked to stop, and has not reported that it wrote its trace.
  bool IsStopping() const { return !stopping_.empty(); }

 private:
  void Forget();
  void Stop(const LogLine& line, std::vector<Fault>& faults);
  void End(const LogLine& line, std::vector<Fault>& faults);

  bool profiling_ = false;
  std::set<std::string> sessions_;               // SGLang processes that began a session
  bool one_runs_ = false, several_run_ = false;  // SGLang engines whose start is in the log
  std::string starter_;
  // By process. The value is the second of the day when the stop began, if its line has a time.
  std::set<std::string> starting_;
  std::map<std::string, std::optional<int64_t>> stopping_;
};

}  // namespace tacho
