#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "load/drive.h"

namespace tacho {

// How far a load is to go, as far as that is known.
struct LoadGoal {
  std::optional<uint64_t> requests;
  std::optional<double> seconds;
};

// A live line on standard error while it lives: how many requests, what is under way, the rate of
// the last seconds. Does nothing when not `enabled` (standard error is no terminal).
class LoadProgressLine {
 public:
  LoadProgressLine(const DriveProgress& progress, std::string title, LoadGoal goal, bool enabled);
  LoadProgressLine(const LoadProgressLine&) = delete;
  LoadProgressLine& operator=(const LoadProgressLine&) = delete;
  ~LoadProgressLine();

 private:
  void Run();

  const DriveProgress& progress_;
  const std::string title_;
  const LoadGoal goal_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

// What the line shows, for tests too. The rates are of the time between two looks.
struct LoadLook {
  double at_s = 0;
  uint64_t sent = 0, running = 0, waiting = 0, done = 0, failed = 0, output_tokens = 0;
};
std::string LoadLine(const std::string& title, const LoadGoal& goal, const LoadLook& now,
                     const LoadLook& before);

}  // namespace tacho
