#include "base/clock.h"

#include "base/monotonic_clock.h"
#include "base/pause.h"

namespace tacho {
namespace {

class System : public Clock {
 public:
  int64_t NowNs() const override { return MonotonicNs(); }
  bool Pause(const std::stop_token& stop, std::chrono::milliseconds time) override {
    return tacho::Pause(stop, time);
  }
};

}  // namespace

Clock& SystemClock() {
  static System clock;
  return clock;
}

}  // namespace tacho
