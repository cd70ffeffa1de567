#include "session/plan/preflight.h"

#include <gmock/gmock.h>

#include "base/folder_for_test.h"
#include "control/fake_engine_for_test.h"
#include "control/finding_for_test.h"
#include "control/live/open_session.h"
#include "session/plan/preflight_folders.h"
#include "session/small_disk_for_test.h"

namespace tacho {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PreflightTest : public ::testing::Test {
 protected:
  using Answers = std::map<std::string, FakeEngine::Answer>;

  // A vLLM in its developer mode that writes to `folder`; "" makes one without a profiler.
  static Answers VllmThatWritesTo(const std::string& folder) {
    Answers answers = {{"GET /v1/models", {200, R"({"data":[{"id":"m","owned_by":"vllm"}]})"}},
                       {"GET /version", {200, R"({"version":"0.32.0"})"}},
                       {"GET /openapi.json", {200, R"({"paths":{}})"}}};
    if (folder.empty()) return answers;
    answers["GET /openapi.json"].body =
        R"({"paths":{"/start_profile":{"post":{"requestBody":{}}}}})";
    answers["GET /server_info"] = {
        200, R"({"vllm_config":{"profiler_config":{"profiler":"torch","torch_profiler_dir":")" +
                 folder + R"("}}})"};
    return answers;
  }
  Result<Preflight> Run(const std::vector<const FakeEngine*>& engines) {
    options_.targets.clear();
    for (const FakeEngine* engine : engines) options_.targets.push_back(engine->url());
    return RunPreflight(*client_, options_, *run_, "tacho-1", {});
  }
  // Why preflight leaves `engine` out, beside another engine that writes to `folder` and can be
  // recorded.
  FindingId WhyLeftOut(const FakeEngine& engine, const std::string& folder) {
    const FakeEngine well(VllmThatWritesTo(folder));
    options_.keep_going = true;
    const auto preflight = Run({&engine, &well});
    options_.keep_going = false;
    const bool one = preflight && preflight->left_out.size() == 1;
    return one ? preflight->left_out[0].expectation.trouble->id : FindingId::kCount;
  }
  // Checks that nothing but questions was sent to `engine`.
  static void ExpectUntouched(const FakeEngine& engine) {
    EXPECT_THAT(engine.seen(), Not(Contains(StartsWith("POST"))));
  }

  RuntimeFolderForTest runtime_;
  FolderForTest folder_;
  RecordOptions options_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
  Result<RunFolder> run_ = RunFolder::Create(folder_.path(), "run");
};

TEST_F(PreflightTest, PlansEachWorker) {
  const FakeEngine a(VllmThatWritesTo(folder_.path())), b(VllmThatWritesTo(folder_.path()));
  const auto preflight = Run({&a, &b});
  ASSERT_TRUE(preflight) << preflight.error().message;
  ASSERT_EQ(preflight->workers.size(), 2u);
  EXPECT_EQ(preflight->workers[1].expectation.name, "w1");
  EXPECT_EQ(preflight->workers[1].key, "tacho-1-w1");
  EXPECT_EQ(preflight->workers[1].folder, folder_.path());
  EXPECT_THAT(preflight->workers[1].start->body, HasSubstr("tacho-1-w1"));
  EXPECT_TRUE(SessionLock::OwnerOf(a.url()) && SessionLock::OwnerOf(b.url()));
  ExpectUntouched(a);
}

// A folder of the engine's host, which need not exist here.
TEST_F(PreflightTest, LeavesTracesWhereTheyAreIfTheyStay) {
  options_.traces_stay = true;
  const FakeEngine engine(VllmThatWritesTo("/on/its/node"));
  const auto preflight = Run({&engine});
  ASSERT_TRUE(preflight) << preflight.error().message;
  EXPECT_EQ(preflight->workers[0].stays_in, "/on/its/node");
  EXPECT_EQ(preflight->workers[0].folder, "") << "nothing is looked for here";
  ExpectUntouched(engine);
  options_.trace_dir = "/as//named/";
  const FakeEngine other(VllmThatWritesTo("/on/its/node"));
  const auto named = Run({&other});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->workers[0].stays_in, "/as/named");
  options_.trace_dir = "";
  const FakeEngine store(VllmThatWritesTo("s3://traces"));
  EXPECT_FALSE(Run({&store}));
}

TEST_F(PreflightTest, RefusesAnEngineWithoutAProfiler) {
  const FakeEngine with(VllmThatWritesTo(folder_.path())), without(VllmThatWritesTo(""));
  const auto preflight = Run({&without, &with});
  ASSERT_FALSE(preflight);
  EXPECT_EQ(preflight.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(preflight.error().message, StartsWith(without.url() + ": "));
  EXPECT_THAT(preflight.error().message, HasSubstr("--profiler-config"));
  EXPECT_THAT(preflight.error().message, HasSubstr("(--keep-going records the others)"));
  EXPECT_FALSE(SessionLock::OwnerOf(with.url())) << "the lock is free again";
  ExpectUntouched(with);
}

TEST_F(PreflightTest, KeepGoingLeavesItOut) {
  const FakeEngine with(VllmThatWritesTo(folder_.path())), without(VllmThatWritesTo(""));
  options_.keep_going = true;
  const auto preflight = Run({&without, &with});
  ASSERT_TRUE(preflight) << preflight.error().message;
  ASSERT_EQ(preflight->workers.size(), 1u);
  EXPECT_EQ(preflight->workers[0].expectation.name, "w1") << "by its place among all";
  ASSERT_EQ(preflight->left_out.size(), 1u);
  EXPECT_THAT(preflight->left_out[0].expectation.trouble->remedy, HasSubstr("--profiler-config"));
  EXPECT_EQ(preflight->left_out[0].expectation.trouble->id, FindingId::kProfilerOff);
  EXPECT_THAT(TextsOf(preflight->findings, true), ElementsAre(StartsWith(without.url())));
}

TEST_F(PreflightTest, KeepGoingNeedsOneThatCanBeRecorded) {
  const FakeEngine without(VllmThatWritesTo(""));
  options_.keep_going = true;
  const auto preflight = Run({&without});
  ASSERT_FALSE(preflight);
  EXPECT_EQ(preflight.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(preflight.error().message, StartsWith("no worker can be profiled: "));
}

TEST_F(PreflightTest, RefusesATraceDirThatContradictsTheEngine) {
  const FakeEngine engine(VllmThatWritesTo(folder_.path()));
  options_.trace_dir = "/somewhere/else";
  const auto preflight = Run({&engine});
  ASSERT_FALSE(preflight);
  EXPECT_EQ(preflight.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(preflight.error().message, HasSubstr("it writes its traces to " + folder_.path()));
  EXPECT_THAT(preflight.error().message, HasSubstr("--trace-dir says /somewhere/else"));
  options_.trace_dir = folder_.At("traces");
  EXPECT_EQ(WhyLeftOut(engine, options_.trace_dir), FindingId::kTraceDirContradicted);
}

TEST_F(PreflightTest, TakesATraceDirThatTheEngineWillMake) {
  const FakeEngine engine(VllmThatWritesTo(folder_.At("traces")));
  options_.trace_dir = folder_.At("traces");
  const auto preflight = Run({&engine});
  ASSERT_TRUE(preflight) << preflight.error().message;
  EXPECT_THAT(TextsOf(preflight->findings, false), Contains(HasSubstr("is not there yet")));
  EXPECT_THAT(IdsOf(preflight->findings), Contains("trace-dir-missing"));
}

TEST_F(PreflightTest, AFolderMountedElsewhereIsFoundByMap) {
  const FakeEngine engine(VllmThatWritesTo("/no/such/on/this/host"));
  auto preflight = Run({&engine});
  ASSERT_FALSE(preflight);
  EXPECT_THAT(preflight.error().message, HasSubstr("--map /no/such/on/this/host=DIR"));
  EXPECT_EQ(WhyLeftOut(engine, folder_.path()), FindingId::kFolderNotSeen);
  options_.maps = {{"/no/such", folder_.path()}};
  preflight = Run({&engine});
  ASSERT_TRUE(preflight) << preflight.error().message;
  EXPECT_EQ(preflight->workers[0].folder, folder_.At("on/this/host"));
}

TEST_F(PreflightTest, SaysOnceThatAFolderHasLittleRoom) {
  const SmallDiskForTest small(folder_.At("small"));
  if (!small.works()) GTEST_SKIP() << "no right to mount a small disk";
  std::vector<Finding> findings;
  for (int i = 0; i < 2; ++i) LookAtRoom(folder_.At("small"), findings);
  EXPECT_THAT(IdsOf(findings), ElementsAre("little-room"));
}

TEST_F(PreflightTest, SaysThatAFolderTakesNoFiles) {
  std::vector<Finding> findings;
  LookAtRoom("/proc/traces", findings);
  EXPECT_THAT(IdsOf(findings), ElementsAre("trace-folder-bad"));
}

TEST_F(PreflightTest, RefusesSomebodyElsesSession) {
  const FakeEngine engine(VllmThatWritesTo(folder_.path()));
  OpenSession theirs;
  theirs.key = "theirs";
  ASSERT_TRUE(KeepOpenSession(engine.url(), theirs));
  const auto preflight = Run({&engine});
  ASSERT_FALSE(preflight);
  EXPECT_EQ(preflight.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(preflight.error().message, HasSubstr("session theirs"));
  ExpectUntouched(engine);
}

TEST_F(PreflightTest, RefusesAWorkerThatAnotherTachoHolds) {
  const FakeEngine engine(VllmThatWritesTo(folder_.path()));
  const auto lock = SessionLock::Take({engine.url()}, "tacho engine start");
  const auto preflight = Run({&engine});
  ASSERT_FALSE(preflight);
  EXPECT_THAT(preflight.error().message, HasSubstr("is being profiled by tacho engine start"));
}

TEST_F(PreflightTest, ADaemonWindowCountsNoSteps) {
  const FakeEngine engine(VllmThatWritesTo(folder_.path()));
  options_.via = Via::kDaemon;
  const auto preflight = Run({&engine});
  ASSERT_FALSE(preflight);
  EXPECT_THAT(preflight.error().message, HasSubstr("KINETO_USE_DAEMON=1"));
}

}  // namespace
}  // namespace tacho
