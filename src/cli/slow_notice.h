#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tacho {

// Of questions to engines.
inline constexpr std::chrono::seconds kPatienceWithoutWords{3};
// "still waiting for answers, for up to 30 s each (--timeout bounds it)"
std::string StillWaitingText(std::chrono::milliseconds patience);

// Says `text` on standard error once, where it still lives after `after`: what is silent for long
// shall not look hung. Owns one thread; the end waits for nothing.
class SlowNotice {
 public:
  SlowNotice(std::string text, std::chrono::milliseconds after);
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;
  ~SlowNotice();

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace tacho
