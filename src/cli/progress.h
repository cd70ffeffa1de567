#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "io/block_stream.h"
#include "text/text_style.h"

namespace tacho {

// How far reading has come, counted by many threads.
struct ProgressCounter {
  std::atomic<uint64_t> done_bytes = 0;
  std::atomic<uint64_t> total_bytes = 0;  // 0: not known
  std::atomic<uint64_t> files = 0;
};

// The stream, with its stored bytes counted as they are consumed.
std::unique_ptr<BlockStream> CountingStream(std::unique_ptr<BlockStream> stream,
                                            ProgressCounter& counter);

// A bar on standard error while it lives, from half a second on; on the end one plain line stays.
// Does nothing when not `enabled` (standard error is no terminal).
class ProgressBar {
 public:
  ProgressBar(const ProgressCounter& counter, const TextStyle& style, bool enabled);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();

 private:
  void Run();

  const ProgressCounter& counter_;
  const TextStyle style_;
  const std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

// The line of the bar, for tests too.
std::string ProgressLine(uint64_t done, uint64_t total, uint64_t files, double seconds,
                         const TextStyle& style);

}  // namespace tacho
