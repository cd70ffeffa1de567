#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "load/drive/drive.h"

namespace tacho {

// How far a load is to go, as far as that is known.
struct LoadGoal {
  std::optional<uint64_t> requests;
  std::optional<double> seconds;
};

struct ProgressLines {
  bool shown = false;
  // The width of one line that changes, for a terminal. None: a plain line every ten seconds, for
  // a log.
  std::optional<size_t> live_columns;
  bool unicode = true;
};

// How a load goes, on standard error while this lives: how many requests, what is under way, the
// rate since the last plain line, or of the last three seconds.
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

// What a line shows, for tests too. The rates are of the time between two looks.
struct LoadLook {
  double at_s = 0;
  uint64_t running = 0, waiting = 0, done = 0, failed = 0, output_tokens = 0;
};
std::string LoadLine(const std::string& title, const LoadGoal& goal, const LoadLook& now,
                     const LoadLook& before);

}  // namespace tacho
