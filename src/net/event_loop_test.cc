#include "net/event_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <future>

#include "base/file_descriptor.h"
#include "base/monotonic_clock.h"
#include "base/time.h"
#include "net/net_for_test.h"

namespace tacho {
namespace {

std::unique_ptr<EventLoop> Started() {
  auto loop = EventLoop::Create();
  if (!loop) std::abort();
  (*loop)->Start("test", [] {});
  return std::move(*loop);
}

TEST(EventLoop, JobsRunInOrderOnOneThread) {
  std::vector<int> order;
  const auto loop = Started();
  for (int i = 0; i < 1000; ++i) {
    loop->Post([&, i] {
      EXPECT_TRUE(loop->OnThread());
      order.push_back(i);
    });
  }
  EXPECT_FALSE(loop->OnThread());
  loop->Stop();
  ASSERT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(EventLoop, TimesRunInOrderAndNotEarly) {
  std::vector<int> order;
  std::vector<int64_t> late;
  std::promise<void> done;
  const auto loop = Started();
  const int64_t start = MonotonicNs();
  // One job adds them, so that all are known before the first runs.
  loop->Post([&] {
    for (const int ms : {30, 10, 20, 10, -5, 40}) {
      const int64_t at = start + ms * kNsPerMs;
      loop->At(at, [&, ms, at] {
        order.push_back(ms);
        late.push_back(MonotonicNs() - at);
        if (ms == 40) done.set_value();
      });
    }
  });
  Await(done.get_future(), "done");
  EXPECT_THAT(order, testing::ElementsAre(-5, 10, 10, 20, 30, 40));
  EXPECT_THAT(late, testing::Each(testing::Ge(0)));
}

TEST(EventLoop, ChainOfJobsLetsDescriptorsHaveTheirTurn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor near(ends[0]), far(ends[1]);
  std::atomic<bool> seen = false;
  struct Reader final : FdWatcher {
    explicit Reader(std::atomic<bool>& flag) : seen_flag(flag) {}
    void OnReady(int, uint32_t) override { seen_flag = true; }
    std::atomic<bool>& seen_flag;
  } reader(seen);
  const auto loop = Started();
  std::promise<bool> over;
  int links = 0;
  std::function<void()> again = [&] {
    if (seen || ++links == 100'000) return over.set_value(seen);
    loop->Post(again);
  };
  loop->Post([&] {
    loop->Watch(near.get(), EPOLLIN, &reader);
    ASSERT_EQ(write(far.get(), "x", 1), 1);
    again();
  });
  EXPECT_TRUE(Await(over.get_future(), "over"));
  loop->Stop();
}

TEST(EventLoop, JobForThePastDoesNotKeepTheLoop) {
  std::atomic<bool> stop = false;
  std::function<void()> again;
  const auto loop = Started();
  again = [&] {
    if (!stop) loop->At(0, again);
  };
  loop->At(0, again);
  std::promise<void> posted;
  loop->Post([&] { posted.set_value(); });
  Await(posted.get_future(), "posted");
  stop = true;
}

TEST(EventLoop, StopRunsWhatIsPostedAndDropsWhatIsNotDue) {
  int ran = 0;
  const auto loop = Started();
  const auto held = std::make_shared<int>(1);
  loop->Post([&] { loop->Post([&] { loop->Post([&] { ++ran; }); }); });
  loop->At(MonotonicNs() + 3'600'000 * kNsPerMs, [held, &ran] { ran += 100; });
  loop->Stop();
  EXPECT_EQ(ran, 1);
}

TEST(EventLoop, PostsOfManyThreads) {
  std::atomic<int> ran = 0;
  {
    const auto loop = Started();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) loop->Post([&] { ++ran; });
      });
    }
    threads.clear();
  }
  EXPECT_EQ(ran, 20'000);
}

// Unwatches its twin when it is served first.
class Twin final : public FdWatcher {
 public:
  Twin(EventLoop& loop, Twin*& other, std::atomic<int>& served)
      : loop_(loop), other_(other), served_(served) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) std::abort();
    mine_ = FileDescriptor(fds[0]);
    far_ = FileDescriptor(fds[1]);
    [[maybe_unused]] const auto size = write(far_.get(), "x", 1);
  }
  void OnReady(int fd, uint32_t) override {
    ++served_;
    loop_.Unwatch(fd);
    loop_.Unwatch(other_->fd());
  }
  int fd() const { return mine_.get(); }

 private:
  EventLoop& loop_;
  Twin*& other_;
  std::atomic<int>& served_;
  FileDescriptor mine_;
  FileDescriptor far_;
};

// A file is always ready, so that epoll refuses it, as it refuses what is beyond its limit.
TEST(EventLoop, WhatCannotBeWatchedIsReadyWithAnError) {
  struct Hears : FdWatcher {
    void OnReady(int fd, uint32_t events) override {
      loop->Unwatch(fd);
      heard.set_value(events);
    }
    EventLoop* loop = nullptr;
    std::promise<uint32_t> heard;
  };
  const auto loop = Started();
  Hears hears;
  hears.loop = loop.get();
  const FileDescriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  loop->Post([&] { loop->Watch(file.get(), EPOLLIN, &hears); });
  EXPECT_EQ(Await(hears.heard.get_future(), "an error"), uint32_t{EPOLLERR});
}

TEST(EventLoop, UnwatchedDescriptorIsNotServedAnyMore) {
  const auto loop = Started();
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> served = 0;
    Twin* a = nullptr;
    Twin* b = nullptr;
    Twin first(*loop, b, served);
    Twin second(*loop, a, served);
    a = &first;
    b = &second;
    std::promise<void> done;
    loop->Post([&] {
      loop->Watch(first.fd(), EPOLLIN, &first);
      loop->Watch(second.fd(), EPOLLIN, &second);
      loop->At(MonotonicNs() + kNsPerMs, [&] { done.set_value(); });
    });
    Await(done.get_future(), "done");
    EXPECT_EQ(served, 1);
  }
}

}  // namespace
}  // namespace tacho
