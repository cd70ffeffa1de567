#include "session/http/profiler_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>

#include "base/folder_for_test.h"
#include "control/fake_engine_for_test.h"
#include "control/finding_for_test.h"
#include "control/version.h"
#include "session/http/profiler_trial.h"

namespace tacho {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kWholeTrace[] = R"({"traceEvents":[]})";

class SilentObserver final : public RecordObserver {
 public:
  void OnDone(std::string_view, const std::string&) override {}
  void OnProgress(std::string_view, const std::string&) override {}
  void OnRemark(const std::string& what) override { remarks.push_back(what); }
  void OnLeftBehind(const std::string& what) override { left_behind = what; }
  std::vector<std::string> remarks;
  std::string left_behind;
};

// A fake vLLM. `stop` chooses whether /stop_profile is answered or held; on stop it writes `files`.
class Engine {
 public:
  enum class StopIs { kAnswered, kHeld };
  explicit Engine(StopIs stop = StopIs::kAnswered, int start_status = 200)
      : stop_(stop), start_status_(start_status) {
    server_ = HttpServer::Create().value();
    port_ =
        server_
            ->Listen("127.0.0.1", 0,
                     [this](std::shared_ptr<HttpExchange> exchange) { Serve(std::move(exchange)); })
            .value();
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  size_t stops() const { return stops_; }
  std::vector<std::string> files;  // written before the stop is answered

 private:
  void Serve(std::shared_ptr<HttpExchange> exchange) {
    const std::string path = exchange->request().path;
    if (path == "/start_profile") return exchange->Respond(start_status_, "", "text/plain");
    if (path == "/stop_profile") {
      ++stops_;
      for (const std::string& file : files) std::ofstream(file) << kWholeTrace;
      if (stop_ == StopIs::kHeld) {
        held_ = std::move(exchange);
        return;
      }
    }
    exchange->Respond(200, "", "text/plain");
  }

  const StopIs stop_;
  const int start_status_;
  std::atomic<size_t> stops_ = 0;
  std::shared_ptr<HttpExchange> held_;
  uint16_t port_ = 0;
  std::unique_ptr<HttpServer> server_;  // last, so that its thread ends before the other members go
};

class ProfilerSessionTest : public ::testing::Test {
 protected:
  // The worker's session has the key `key`; "": the engine reads no key.
  RecordedWorker& Add(const Engine& engine, const std::string& key) {
    RecordedWorker& worker = recording_.workers.emplace_back();
    worker.worker.url = engine.url();
    worker.facts.kind = EngineKind::kVllm;
    worker.facts.profiler.has_http = true;
    worker.facts.profiler.reads_body = !key.empty();
    worker.key = key;
    worker.folder = traces_.path();
    worker.start = {engine.url(), "/start_profile", key};
    worker.stop = {engine.url(), "/stop_profile", ""};
    worker.expectation.url = engine.url();
    worker.expectation.name = fmt::format("w{}", recording_.workers.size() - 1);
    return worker;
  }
  const WorkerExpectation& Expected(size_t worker) const {
    return recording_.workers[worker].expectation;
  }
  std::vector<std::string> FilesOf(size_t worker) const {
    std::vector<std::string> names;
    for (const std::string& file : Expected(worker).files)
      names.push_back(file.substr(recording_.folder.path().size() + 1));
    return names;
  }
  bool IsMarked(size_t worker) const {
    const RecordedWorker& of = recording_.workers[worker];
    return FindOpenSession(of.worker, of.facts).has_value();
  }
  // Runs a session as a recording does.
  void Record() {
    ProfilerSession session(*client_, options_, observer_, recording_);
    session.files().LookIntoFolders();
    if (!session.Start({})) session.GiveUpTheOthers();
    session.Stop([] {});
    std::stop_source stop;
    stop.request_stop();  // do not wait for the files of those that failed
    session.Collect(stop.get_token());
  }

  RuntimeFolderForTest runtime_;
  FolderForTest folder_, traces_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
  RecordOptions options_;
  SilentObserver observer_;
  Recording recording_{.folder = RunFolder::Create(folder_.path(), "run").value()};
};

TEST_F(ProfilerSessionTest, StartsStopsAndBringsEachItsOwnFiles) {
  Engine a, b;
  Add(a, "t-w1");
  Add(b, "t-w10");
  a.files = {traces_.At("t-w1_rank0.1.pt.trace.json")};
  b.files = {traces_.At("t-w10_rank0.1.pt.trace.json")};
  Record();
  EXPECT_THAT(TextsOf(recording_.findings, true), ElementsAre());
  EXPECT_THAT(FilesOf(0), ElementsAre("traces/w0/t-w1_rank0.1.pt.trace.json"));
  EXPECT_THAT(FilesOf(1), ElementsAre("traces/w1/t-w10_rank0.1.pt.trace.json"));
  EXPECT_TRUE(Expected(0).answered_stop && Expected(1).answered_stop);
  EXPECT_FALSE(IsMarked(0) || IsMarked(1));
  EXPECT_EQ(recording_.starts.taken, 2u);
}

TEST_F(ProfilerSessionTest, WhereOneDoesNotStartTheOtherIsStoppedAndSaysWhy) {
  Engine well, broken(Engine::StopIs::kAnswered, 500);
  Add(well, "t-w0");
  Add(broken, "t-w1");
  well.files = {traces_.At("t-w0_rank0.1.pt.trace.json")};
  Record();
  EXPECT_EQ(well.stops(), 1u);
  EXPECT_THAT(Expected(1).trouble->Words(), StartsWith("did not start: "));
  EXPECT_THAT(TextsOf(recording_.findings, true),
              Contains(StartsWith(broken.url() + ": did not start")));
  EXPECT_FALSE(Expected(0).trouble);
  EXPECT_EQ(Expected(0).given_up->Words(),
            fmt::format("ended at once, because w1 ({}) did not start; "
                        "--keep-going records the others",
                        broken.url()));
  EXPECT_FALSE(IsMarked(0) || IsMarked(1));
}

TEST_F(ProfilerSessionTest, WhatRunsInAnotherSessionIsNotStopped) {
  Engine theirs(Engine::StopIs::kAnswered, 409);
  Add(theirs, "t-w0");
  ProfilerSession session(*client_, options_, observer_, recording_);
  EXPECT_FALSE(session.Start({}));
  session.Stop([] {});
  EXPECT_EQ(theirs.stops(), 0u);
  EXPECT_THAT(Expected(0).trouble->Words(), StartsWith("did not start: "));
}

TEST_F(ProfilerSessionTest, AStopThatIsNotAnsweredInTime) {
  Engine well, silent(Engine::StopIs::kHeld);
  Add(well, "t-w0");
  Add(silent, "t-w1");
  well.files = {traces_.At("t-w0_rank0.1.pt.trace.json")};
  options_.patience = std::chrono::milliseconds(1000);
  Record();
  EXPECT_THAT(Expected(1).trouble->Words(), StartsWith("did not answer its stop: "));
  EXPECT_EQ(Expected(1).trouble->id, FindingId::kStopNotAnswered);
  EXPECT_THAT(Expected(1).trouble->Words(), HasSubstr("it still writes, or hangs"));
  EXPECT_FALSE(Expected(1).answered_stop);
  EXPECT_TRUE(IsMarked(1)) << "it may still run";
  EXPECT_FALSE(Expected(0).trouble);
  EXPECT_EQ(FilesOf(0).size(), 1u);
  EXPECT_FALSE(IsMarked(0));
}

TEST_F(ProfilerSessionTest, EnginesWithoutKeysThatShareAFolderGetOneProcessEach) {
  Engine a, b;
  Add(a, "");
  Add(b, "");
  a.files = {traces_.At("aaaaa-rank-0.1.pt.trace.json")};
  b.files = {traces_.At("bbbbb-rank-0.1.pt.trace.json")};
  Record();
  EXPECT_THAT(FilesOf(0), ElementsAre("traces/w0/aaaaa-rank-0.1.pt.trace.json"));
  EXPECT_THAT(FilesOf(1), ElementsAre("traces/w1/bbbbb-rank-0.1.pt.trace.json"));
  EXPECT_THAT(TextsOf(recording_.findings, false),
              ElementsAre(HasSubstr("those of the process aaaaa")));
  EXPECT_THAT(IdsOf(recording_.findings), ElementsAre("shared-folder"));
}

TEST_F(ProfilerSessionTest, AnOldSessionIsEndedAndItsFilesAreNotOurs) {
  Engine engine;
  Add(engine, "t-w0");
  engine.files = {traces_.At("theirs_rank0.json")};
  ProfilerSession session(*client_, options_, observer_, recording_);
  EXPECT_TRUE(session.EndOldSessions({}));
  EXPECT_EQ(engine.stops(), 1u);
  EXPECT_THAT(TextsOf(recording_.findings, false),
              ElementsAre(HasSubstr("a session that was running at " + engine.url() +
                                    " was ended: it left ")));
  EXPECT_THAT(IdsOf(recording_.findings), ElementsAre("old-session-ended"));
  EXPECT_THAT(session.files().NewTracesIn(traces_.path()), ElementsAre());
}

TEST_F(ProfilerSessionTest, ADeadEngineIsNamedBeforeTheStart) {
  auto engine = std::make_unique<Engine>();
  Engine well;
  Add(*engine, "t-w0");
  Add(well, "t-w1");
  engine.reset();
  ProfilerSession session(*client_, options_, observer_, recording_);
  EXPECT_FALSE(session.EndOldSessions({}));
  EXPECT_THAT(Expected(0).trouble->Words(), StartsWith("it died before its start"));
  EXPECT_THAT(session.running(), ElementsAre(1));
  options_.keep_going = true;
  EXPECT_TRUE(session.EnoughRun());
}

TEST_F(ProfilerSessionTest, WhatBlocksAStartMayBeTheTrial) {
  const Engine engine(Engine::StopIs::kAnswered, 409);
  Add(engine, "t-w0").trial_start_ns = 1'000'000;
  RecordedWorker& saw_steps = Add(engine, "t-w1");
  saw_steps.trial_start_ns = 1'000'000;
  saw_steps.figures = ProfileFigures{};
  Add(engine, "t-w2");
  Record();
  EXPECT_THAT(Expected(0).trouble->Words(), HasSubstr("tacho's own trial saw no step"));
  for (const size_t worker : {1u, 2u})
    EXPECT_THAT(Expected(worker).trouble->Words(), Not(HasSubstr("trial"))) << worker;
}

TEST_F(ProfilerSessionTest, AnIdleEngineThatWaitsForAStepGetsNoTrial) {
  RecordedWorker worker;
  for (const auto& [kind, when_idle] :
       {std::pair{EngineKind::kTensorRtLlm, false}, std::pair{EngineKind::kTokenSpeed, true}}) {
    worker.facts.kind = kind;
    options_.load = false;
    EXPECT_EQ(MayTry(worker, options_), when_idle) << NameOf(kind);
    options_.load = true;
    EXPECT_TRUE(MayTry(worker, options_)) << NameOf(kind);
  }
}

TEST_F(ProfilerSessionTest, SaysWhatWouldBeLeftBehind) {
  Engine engine;
  Add(engine, "t-w0");
  ProfilerSession session(*client_, options_, observer_, recording_);
  EXPECT_TRUE(session.Start({}));
  EXPECT_THAT(observer_.left_behind, HasSubstr("tacho engine stop " + engine.url()));
  EXPECT_THAT(observer_.left_behind, HasSubstr(traces_.At("t-w0*")));
  session.Stop([] {});
  EXPECT_THAT(observer_.left_behind, Not(HasSubstr("tacho engine stop")));
}

}  // namespace
}  // namespace tacho
