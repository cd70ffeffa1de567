#include "control/live/session_lock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Optional;
using testing::StartsWith;

class SessionLockTest : public testing::Test {
 protected:
  RuntimeFolderForTest folder_;
};

TEST_F(SessionLockTest, TheErrorNamesTheFirstOwner) {
  {
    auto first = SessionLock::Take({"http://h:1", "http://h:2"}, "tacho record");
    ASSERT_TRUE(first) << first.error().message;
    auto second = SessionLock::Take({"http://h:3", "http://h:2"}, "tacho record");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kRemote);
    EXPECT_THAT(second.error().message, HasSubstr("http://h:2"));
    EXPECT_THAT(second.error().message,
                HasSubstr(fmt::format("tacho record, process {}", getpid())));
    EXPECT_TRUE(SessionLock::Take({"http://h:3"}, "tacho record"))
        << "what was taken on the way is free again";
  }
  EXPECT_TRUE(SessionLock::Take({"http://h:1", "http://h:2"}, "tacho record"));
}

TEST_F(SessionLockTest, NamesTheHolderOfALockWithoutTakingIt) {
  EXPECT_EQ(SessionLock::OwnerOf("http://h:1"), std::nullopt);
  {
    const auto lock = SessionLock::Take({"http://h:1"}, "tacho record");
    ASSERT_TRUE(lock);
    EXPECT_THAT(SessionLock::OwnerOf("http://h:1"),
                Optional(StartsWith(fmt::format("tacho record, process {}", getpid()))));
  }
  EXPECT_EQ(SessionLock::OwnerOf("http://h:1"), std::nullopt);
}

TEST_F(SessionLockTest, WhatRunsUnderAHoldSharesASecondLock) {
  const std::string own = fmt::format("{}", getpid());
  auto hold = SessionLock::Take({"http://h:1"}, kByHold);
  ASSERT_TRUE(hold);
  for (const char* const other : {"", "1", "tacho"}) {
    setenv(kHoldVariable, other, 1);
    const auto refused = SessionLock::Take({"http://h:1"}, "tacho record");
    ASSERT_FALSE(refused) << other;
    EXPECT_THAT(refused.error().message, HasSubstr("is held by tacho engine hold, process " + own));
    EXPECT_THAT(refused.error().message, HasSubstr("TACHO_HOLD=" + own + " before the command"));
  }
  setenv(kHoldVariable, "1", 1);
  EXPECT_FALSE(IsOurHold(*SessionLock::OwnerOf("http://h:1")));
  setenv(kHoldVariable, own.c_str(), 1);
  EXPECT_TRUE(IsOurHold(*SessionLock::OwnerOf("http://h:1")));
  {
    const auto under = SessionLock::Take({"http://h:1", "http://h:2"}, "tacho record");
    ASSERT_TRUE(under) << under.error().message;
    EXPECT_THAT(SessionLock::OwnerOf("http://h:1"), Optional(StartsWith("tacho record")));
    EXPECT_FALSE(SessionLock::Take({"http://h:1"}, "tacho record")) << "one at a time";
    unsetenv(kHoldVariable);
    EXPECT_THAT(SessionLock::Take({"http://h:1"}, "tacho engine stop").error().message,
                HasSubstr("is held by"));
  }
  EXPECT_THAT(SessionLock::OwnerOf("http://h:1"), Optional(StartsWith("tacho engine hold")));
}

TEST_F(SessionLockTest, APortIsHeldOnce) {
  {
    const auto held = SessionLock::TakePort(8000, "tacho launch");
    ASSERT_TRUE(held);
    EXPECT_FALSE(SessionLock::TakePort(8000, "tacho launch"));
    EXPECT_TRUE(SessionLock::TakePort(8001, "tacho launch"));
  }
  EXPECT_TRUE(SessionLock::TakePort(8000, "tacho launch"));
}

TEST_F(SessionLockTest, AReleasedLockLeavesNoFile) {
  ASSERT_TRUE(SessionLock::Take({"http://h:1", "http://h:2"}, "tacho record"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.At("tacho")));
}

TEST_F(SessionLockTest, NeverHasTwoOwnersWhileFilesComeAndGo) {
  std::atomic<int> owners = 0, taken = 0;
  std::atomic<bool> two = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 500; ++turn) {
        const auto lock = SessionLock::Take({"http://h:1"}, "tacho record");
        if (!lock) continue;
        if (++owners > 1) two = true;
        ++taken;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        --owners;
      }
    });
  threads.clear();
  EXPECT_FALSE(two);
  EXPECT_GT(taken, 0);
  EXPECT_TRUE(SessionLock::Take({"http://h:1"}, "tacho record"));
}

TEST_F(SessionLockTest, AFolderThatOthersMayWriteIsRefused) {
  std::string folder = folder_.At("tacho");
  mkdir(folder.c_str(), 0777);
  chmod(folder.c_str(), 0777);
  auto lock = SessionLock::Take({"http://h:1"}, "tacho record");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::kOutput);
}

}  // namespace
}  // namespace tacho
