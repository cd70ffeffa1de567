#include "cli/screen/interrupt.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "base/file_descriptor.h"
#include "cli/exit_status.h"
#include "cli/screen/without_interrupts.h"

namespace tacho {
namespace {

using std::chrono::steady_clock;

std::atomic<int> reached_default = 0;

// Whether `test` becomes true within half a minute.
template <typename Test>
bool ComesTrue(const Test& test) {
  const auto until = steady_clock::now() + std::chrono::seconds(30);
  while (!test() && steady_clock::now() < until) std::this_thread::yield();
  return test();
}

// Hides the acknowledgements, which would fill the test's own output.
class InterruptScopeTest : public ::testing::Test {
 protected:
  InterruptScopeTest() : stderr_(dup(STDERR_FILENO)) {
    const FileDescriptor nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
    dup2(nothing.get(), STDERR_FILENO);
    reached_default = 0;
    old_ = std::signal(SIGINT, [](int) { ++reached_default; });
  }
  ~InterruptScopeTest() override {
    std::signal(SIGINT, old_);
    dup2(stderr_.get(), STDERR_FILENO);
  }

  FileDescriptor stderr_;
  void (*old_)(int) = nullptr;
};

TEST_F(InterruptScopeTest, NoSignalIsLost) {
#ifdef TACHO_SANITIZED
  constexpr int kScopes = 500;
#else
  constexpr int kScopes = 3000;
#endif
  std::atomic<int> begun = 0, sent = 0;
  std::thread sender;
  {
    const WithoutInterrupts inherited;  // the signals are for the thread with the scopes
    sender = std::thread([&] {
      std::mt19937 random(1);
      for (int i = 1; i <= kScopes; ++i) {
        while (begun.load() < i) std::this_thread::yield();
        const auto at = steady_clock::now() + std::chrono::microseconds(random() % 150);
        while (steady_clock::now() < at) {
        }
        kill(getpid(), SIGINT);
        sent = i;
      }
    });
  }
  int lost = 0;
  for (int i = 1; i <= kScopes; ++i) {
    const int before = reached_default;
    std::stop_token token;
    {
      const InterruptScope scope("nothing");
      token = scope.token();
      begun = i;
    }
    ComesTrue([&] { return sent.load() == i; });
    lost += token.stop_requested() || reached_default > before ? 0 : 1;
  }
  sender.join();
  EXPECT_EQ(lost, 0);
}

TEST_F(InterruptScopeTest, TheSecondEndsTheProcessAlsoWhereTheCallerBlocksSignals) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto interrupted_twice = [] {
    const WithoutInterrupts between;
    const InterruptScope scope("nothing");
    kill(getpid(), SIGINT);
    ComesTrue([&] { return scope.token().stop_requested(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(getpid(), SIGTERM);
    std::this_thread::sleep_for(std::chrono::seconds(30));
  };
  EXPECT_EXIT(interrupted_twice(), testing::ExitedWithCode(kInterrupted), "");
}

TEST_F(InterruptScopeTest, OneThatIsHeldBackReachesTheNext) {
  const WithoutInterrupts between;
  kill(getpid(), SIGINT);
  const InterruptScope scope("nothing");
  EXPECT_TRUE(ComesTrue([&] { return scope.token().stop_requested(); }));
  EXPECT_EQ(reached_default, 0);
}

}  // namespace
}  // namespace tacho
