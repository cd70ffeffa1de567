#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tacho {

// If engines give no answer for this time, a notice is printed.
inline constexpr std::chrono::seconds kPatienceWithoutWords{2};
// "still waiting for answers, for up to 30 s each (--timeout bounds it)"
std::string StillWaitingText(std::chrono::milliseconds patience);

// Prints `text` to standard error once if this object still exists after `after`, so that a long
// silence does not look like a hang. Owns one thread; the destructor does not wait.
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
