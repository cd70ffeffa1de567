#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "run/progress.h"
#include "text/text_style.h"

namespace tacho {

// The progress of reading, as a bar on standard error from half a second on; one plain line remains
// at the end. Does nothing unless `enabled` (standard error is a terminal).
class ProgressBar : public RunProgress {
 public:
  ProgressBar(const TextStyle& style, bool enabled);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() override;

  void OnPlan(size_t traces, uint64_t stored_bytes) override;
  void OnBytes(uint64_t stored_bytes) override { done_bytes_ += stored_bytes; }

 private:
  void Run();

  std::atomic<uint64_t> done_bytes_ = 0, total_bytes_ = 0, traces_ = 0;
  const TextStyle style_;
  const std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

// The line of the bar, also for tests.
std::string ProgressLine(uint64_t done, uint64_t total, uint64_t files, double seconds,
                         const TextStyle& style);

}  // namespace tacho
