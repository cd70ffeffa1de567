#include "cli/screen/slow_notice.h"

#include <fmt/format.h>

#include "cli/screen/output.h"

namespace tacho {

std::string StillWaitingText(std::chrono::milliseconds patience) {
  return fmt::format("still waiting for answers, for up to {} s each (--timeout bounds it)",
                     patience.count() / 1000);
}

SlowNotice::SlowNotice(std::string text, std::chrono::milliseconds after)
    : thread_([this, text = std::move(text), after] {
        std::unique_lock lock(mutex_);
        if (!ended_.wait_for(lock, after, [this] { return end_; })) Complain(text);
      }) {}

SlowNotice::~SlowNotice() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

}  // namespace tacho
