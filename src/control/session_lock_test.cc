#include "control/session_lock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;

class SessionLockTest : public testing::Test {
 protected:
  RuntimeFolderForTest folder_;
};

TEST_F(SessionLockTest, ASecondOwnerIsToldOfTheFirst) {
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
