#include "load/drive/thread_priority.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "base/monotonic_clock.h"
#include "base/time.h"

namespace tacho {
namespace {

int PolicyOfThisThread() { return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

TEST(ThreadPriority, IsRaisedAndRestored) {
  const int before = PolicyOfThisThread();
  ThreadPriority priority;
  EXPECT_EQ(priority.priority(), Priority::kNormal);
  priority.Raise();
  if (priority.priority() == Priority::kRefused) {
    EXPECT_EQ(PolicyOfThisThread(), before);
    GTEST_SKIP() << "real-time priority is not permitted here";
  }
  ASSERT_EQ(priority.priority(), Priority::kRealTime);
  EXPECT_EQ(PolicyOfThisThread(), SCHED_RR);
  int of_another = -1;
  std::thread([&] { of_another = PolicyOfThisThread(); }).join();
  EXPECT_EQ(of_another, SCHED_OTHER);
  priority.Look(MonotonicNs());
  EXPECT_EQ(PolicyOfThisThread(), SCHED_RR);
  priority.Restore();
  EXPECT_EQ(PolicyOfThisThread(), before);
}

TEST(ThreadPriority, AThreadThatSpinsGivesItBackOrLosesIt) {
  for (const bool looks : {true, false}) {
    ThreadPriority priority;
    std::atomic<bool> over = false;
    std::thread spinner([&] {
      priority.Raise();
      const int64_t until = MonotonicNs() + 20 * kNsPerSecond;
      while (priority.priority() == Priority::kRealTime && MonotonicNs() < until) {
        if (looks) priority.Look(MonotonicNs());
      }
      EXPECT_NE(PolicyOfThisThread(), SCHED_RR);
      over = true;
    });
    while (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (!looks) priority.EaseIfStuck(MonotonicNs());
    }
    spinner.join();
    if (priority.priority() == Priority::kRefused)
      GTEST_SKIP() << "real-time priority is not permitted here";
    EXPECT_EQ(priority.priority(), Priority::kEased);
  }
}

}  // namespace
}  // namespace tacho
