#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "load/drive/drive.h"

namespace tacho {

// The planned extent of a load, as far as it is known.
struct LoadGoal {
  std::optional<uint64_t> requests;
  std::optional<double> seconds;
};

struct ProgressLines {
  bool shown = false;
  // On a terminal: the width of the line that is redrawn. Absent: a new line every ten seconds, for
  // a log.
  std::optional<size_t> live_columns;
  bool unicode = true;
};

// Shows a load's progress on standard error while the object lives: finished requests, running
// requests, and the rate. The rate covers the last three seconds in a redrawn line, and the time
// since the previous line in a log.
class LoadProgress {
 public:
  LoadProgress(const DriveProgress& progress, std::string title, LoadGoal goal,
               ProgressLines lines);
  LoadProgress(const LoadProgress&) = delete;
  LoadProgress& operator=(const LoadProgress&) = delete;
  ~LoadProgress();

 private:
  void Run();

  const DriveProgress& progress_;
  const std::string title_;
  const LoadGoal goal_;
  const ProgressLines lines_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

// The counters of a load at one time. The rate in a line is computed from two of them.
struct LoadLook {
  double at_s = 0;
  uint64_t running = 0, waiting = 0, done = 0, failed = 0, output_tokens = 0;
};
std::string LoadLine(const std::string& title, const LoadGoal& goal, const LoadLook& now,
                     const LoadLook& before);

}  // namespace tacho
