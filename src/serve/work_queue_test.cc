#include "serve/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "net/net_for_test.h"

namespace tacho {
namespace {

TEST(WorkQueue, RunsEachJobOnce) {
  std::atomic<int> ran = 0;
  WorkQueue queue(4, 1000);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(queue.Add([&] { ++ran; }));
  EXPECT_TRUE(Eventually([&] { return ran == 1000; }));
}

TEST(WorkQueue, RefusesWhatIsTooMuchAndDropsWhatWaitsAtItsEnd) {
  std::promise<void> begun, go;
  std::atomic<int> ran = 0;
  std::thread end;
  {
    WorkQueue queue(1, 2);
    ASSERT_TRUE(queue.Add([&] {
      begun.set_value();
      go.get_future().wait();
    }));
    Await(begun.get_future(), "the first job");
    EXPECT_TRUE(queue.Add([&] { ++ran; }));
    EXPECT_TRUE(queue.Add([&] { ++ran; }));
    EXPECT_FALSE(queue.Add([&] { ++ran; }));
    end = std::thread([&] { go.set_value(); });
  }
  end.join();
  EXPECT_LE(ran, 2);
}

}  // namespace
}  // namespace tacho
