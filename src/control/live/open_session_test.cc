#include "control/live/open_session.h"

#include <gmock/gmock.h>

#include <ctime>

#include "base/folder_for_test.h"
#include "control/live/session_lock.h"

namespace tacho {
namespace {

using testing::HasSubstr;

constexpr int64_t kSince = 1'700'000'000;

class OpenSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    worker_.url = "http://h:1";
    engine_.kind = EngineKind::kSglang;
    engine_.version = "0.5.23";
    engine_.instance = ParseInstance("start:1700000000");
  }
  void Keep(std::optional<int64_t> steps) {
    auto kept = KeepOpenSession(
        worker_.url,
        {.key = "k", .since_unix_s = kSince, .steps = steps, .instance = engine_.instance});
    ASSERT_TRUE(kept) << kept.error().message;
  }
  bool IsFree(const ProfileOptions& options = {}) {
    return !FindSessionInTheWay(worker_, engine_, options);
  }

  RuntimeFolderForTest folder_;
  Worker worker_;
  EngineFacts engine_;
};

TEST_F(OpenSessionTest, StandsInTheWayUntilItIsForgotten) {
  EXPECT_TRUE(IsFree());
  Keep({});
  const auto found = FindSessionInTheWay(worker_, engine_, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(ErrorOf(*found).kind, ErrorKind::kRemote);
  EXPECT_THAT(found->Text(), HasSubstr(SinceText(kSince)));
  EXPECT_THAT(found->Text(), HasSubstr("session k"));
  EXPECT_THAT(found->Text(), HasSubstr("would throw its window away"));
  EXPECT_THAT(found->Text(), HasSubstr("tacho engine stop http://h:1"));
  worker_.url = "http://h:2";
  EXPECT_TRUE(IsFree()) << "of another worker";
  worker_.url = "http://h:1";
  ForgetOpenSession(worker_.url);
  EXPECT_TRUE(IsFree());
  ForgetOpenSession(worker_.url);  // there is none any more
}

TEST_F(OpenSessionTest, NamesWhoLeftIt) {
  Keep({});
  EXPECT_THAT(FindSessionInTheWay(worker_, engine_, {})->Text(),
              HasSubstr("was started by tacho engine start at"));
  OpenSession killed = *FindOpenSession(worker_, engine_);
  killed.command = kByRecord;
  ASSERT_TRUE(KeepOpenSession(worker_.url, killed));
  EXPECT_THAT(FindSessionInTheWay(worker_, engine_, {})->Text(),
              HasSubstr("was started by tacho record at"));
}

TEST_F(OpenSessionTest, EndsWithItsEngine) {
  Keep({});
  engine_.instance = ParseInstance("pid:7 100");
  EXPECT_FALSE(IsFree()) << "told in another way: it may be the same process";
  engine_.instance = {};
  EXPECT_FALSE(IsFree()) << "not told";
  engine_.instance = ParseInstance("start:1700000099");
  EXPECT_TRUE(IsFree());
}

TEST_F(OpenSessionTest, AnIdMayComeAgainInAnotherLife) {
  engine_.instance = ParseInstance("id:c4b40 start:1700000000");
  Keep({});
  EXPECT_FALSE(IsFree());
  engine_.instance = ParseInstance("id:c4b40");
  EXPECT_FALSE(IsFree()) << "its metrics were not told";
  engine_.instance = ParseInstance("start:1700000000");
  EXPECT_FALSE(IsFree());
  engine_.instance = ParseInstance("id:c4b40 start:1700000099");
  EXPECT_TRUE(IsFree());
  engine_.instance = ParseInstance("id:aaaaa");
  EXPECT_TRUE(IsFree());
}

TEST_F(OpenSessionTest, OfCountedStepsIsLeftToTheEngineThatRefusesByItself) {
  ProfileOptions five;
  five.steps = 5;
  Keep(5);
  EXPECT_TRUE(IsFree(five));
  EXPECT_FALSE(IsFree()) << "a start without steps throws the window away";
  engine_.version = "0.4.9";
  EXPECT_FALSE(IsFree(five)) << "knows no start_step";
  engine_.kind = EngineKind::kVllm;
  engine_.version = "0.13.0";
  const auto found = FindSessionInTheWay(worker_, engine_, five);
  ASSERT_TRUE(found) << "needs a stop";
  EXPECT_THAT(found->Text(), HasSubstr("ignored"));
  engine_.version = "0.32.0";
  EXPECT_THAT(FindSessionInTheWay(worker_, engine_, five)->Text(), HasSubstr("409"));
  engine_.kind = EngineKind::kSglang;
  engine_.version = "0.5.23";
  Keep({});
  EXPECT_FALSE(IsFree(five)) << "the first one has no end";
}

TEST_F(OpenSessionTest, AFileOfAnotherKindIsNone) {
  Keep({});
  const std::string path = *SessionFile(worker_.url, "session");
  for (const char* text : {"", "{", "[]", "{}", R"({"key":"k","since":"now","instance":""})"}) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs(text, file);
    std::fclose(file);
    EXPECT_TRUE(IsFree()) << text;
  }
}

TEST(SinceText, NamesTheDayWhereItIsNotToday) {
  EXPECT_EQ(SinceText(std::time(nullptr)).size(), 8u);
  EXPECT_EQ(SinceText(kSince).size(), 19u);
}

}  // namespace
}  // namespace tacho
