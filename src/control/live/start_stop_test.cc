#include "control/live/start_stop.h"

#include <gmock/gmock.h>

#include "base/folder_for_test.h"
#include "control/fake_engine_for_test.h"
#include "control/finding_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Operate : public testing::Test {
 protected:
  static PlannedStart StartOf(const FakeEngine& engine, const std::string& key) {
    PlannedStart start;
    start.worker.url = engine.url();
    start.facts.kind = EngineKind::kVllm;
    start.facts.instance = ParseInstance("start:1");
    start.request = {engine.url(), "/start_profile", ""};
    start.mark.key = key;
    return start;
  }
  static OpenSession MarkOf(const std::string& key) {
    OpenSession mark;
    mark.key = key;
    mark.instance = ParseInstance("start:1");
    return mark;
  }
  StartedSessions Start(const std::vector<PlannedStart>& starts) {
    return StartAll(*client_, starts, std::chrono::seconds(30), {});
  }
  std::string KeyOfMark(const PlannedStart& start) {
    const auto open = FindOpenSession(start.worker, start.facts);
    return open ? open->key : "none";
  }

  RuntimeFolderForTest folder_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
  FakeEngine well_{{{"POST /start_profile", {}}, {"POST /stop_profile", {}}}};
  FakeEngine busy_{{{"POST /start_profile", {409, R"({"detail":"busy"})"}},
                    {"POST /stop_profile", {500, "not now"}}}};
};

TEST_F(Operate, TheLockIsOfAllWorkers) {
  Worker a, b;
  a.url = "http://h:1";
  b.url = "http://h:2";
  const auto lock = LockAll({a, b}, "tacho record");
  ASSERT_TRUE(lock);
  const auto second = LockAll({b}, "tacho engine start");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("http://h:2: is being profiled by tacho record"));
}

TEST_F(Operate, AMarkStaysFromTheStartToTheStop) {
  const PlannedStart start = StartOf(well_, "mine");
  EXPECT_THAT(Start({start}).findings, IsEmpty());
  EXPECT_EQ(KeyOfMark(start), "mine");
  EXPECT_GT(FindOpenSession(start.worker, start.facts)->since_unix_s, 1'700'000'000);
  StopAll(*client_, {{start.facts, {well_.url(), "/stop_profile", ""}}}, std::chrono::seconds(30));
  EXPECT_EQ(KeyOfMark(start), "none");
}

TEST_F(Operate, ARefusedStartLeavesNoMark) {
  const PlannedStart refused = StartOf(busy_, "mine"), good = StartOf(well_, "mine");
  const StartedSessions started = Start({refused, good});
  EXPECT_EQ(started.outcomes[0].verdict, ControlVerdict::kRefused);
  EXPECT_EQ(started.outcomes[1].verdict, ControlVerdict::kDone);
  EXPECT_EQ(KeyOfMark(refused), "none");
  EXPECT_EQ(KeyOfMark(good), "mine");
}

TEST_F(Operate, ARefusedStartLeavesTheEarlierMark) {
  const PlannedStart refused = StartOf(busy_, "mine");
  ASSERT_TRUE(KeepOpenSession(busy_.url(), MarkOf("theirs")));
  EXPECT_TRUE(Start({refused}).outcomes[0].taken);
  EXPECT_EQ(KeyOfMark(refused), "theirs");
}

TEST_F(Operate, AStartWithoutAnAnswerMayHaveBeenTaken) {
  PlannedStart start = StartOf(well_, "mine");
  start.worker.url = start.request.url = "http://127.0.0.1:1";
  EXPECT_EQ(Start({start}).outcomes[0].verdict, ControlVerdict::kNoAnswer);
  EXPECT_EQ(KeyOfMark(start), "mine");
}

TEST_F(Operate, ARefusedStopLeavesTheMark) {
  const PlannedStart start = StartOf(busy_, "mine");
  ASSERT_TRUE(KeepOpenSession(busy_.url(), MarkOf("mine")));
  StopAll(*client_, {{start.facts, {busy_.url(), "/stop_profile", ""}}}, std::chrono::seconds(30));
  EXPECT_EQ(KeyOfMark(start), "mine");
}

TEST_F(Operate, WithoutAFolderForMarksTheStartGoesOnAndSaysSo) {
  const PlannedStart start = StartOf(well_, "mine");
  setenv("XDG_RUNTIME_DIR", "/proc/nowhere", 1);
  const StartedSessions started = Start({start});
  EXPECT_EQ(started.outcomes[0].verdict, ControlVerdict::kDone);
  EXPECT_THAT(IdsOf(started.findings), testing::ElementsAre("mark-not-kept"));
}

}  // namespace
}  // namespace tacho
