#include "cli/engine/engine_command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/folder_for_test.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "control/fake_engine_for_test.h"
#include "control/live/session_lock.h"

namespace tacho {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;
using Answers = std::map<std::string, FakeEngine::Answer>;

Answers VllmAnswers() {
  return {
      {"GET /v1/models", {200, R"({"data":[{"id":"m","owned_by":"vllm"}]})"}},
      {"GET /version", {200, R"({"version":"0.32.0"})"}},
      {"GET /openapi.json", {200, R"({"paths":{"/start_profile":{"post":{"requestBody":{}}}}})"}},
      {"POST /start_profile", {200, ""}},
      {"POST /stop_profile", {200, ""}}};
}

class EngineCommand : public testing::Test {
  RuntimeFolderForTest folder_;
};

struct Ran {
  int status;
  std::string out, err;
};
Ran RunIt(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  std::vector<std::string> words = {"engine"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  int status = RunCommandLine(words);
  std::string out = testing::internal::GetCapturedStdout();
  return {status, out, testing::internal::GetCapturedStderr()};
}

TEST_F(EngineCommand, WrongWordsAreUsage) {
  EXPECT_EQ(RunIt({}).status, kBadUsage);
  Ran typo = RunIt({"stauts", "http://h:1"});
  EXPECT_EQ(typo.status, kBadUsage);
  EXPECT_THAT(typo.err, HasSubstr("did you mean status?"));
  EXPECT_EQ(RunIt({"status"}).status, kBadUsage);
  EXPECT_THAT(RunIt({"stat", "http://h:1"}).err, HasSubstr("did you mean status?"));
  FakeEngine engine(VllmAnswers());
  Ran extra = RunIt({"list", engine.url(), "extra"});
  EXPECT_EQ(extra.status, kBadUsage);
  EXPECT_THAT(extra.err, HasSubstr("extra: there is no such file"));
  Ran none = RunIt({"start", "http://127.0.0.1:1", "--steps", "0"});
  EXPECT_EQ(none.status, kBadUsage);
  EXPECT_THAT(none.err, HasSubstr("--steps takes a whole number from 1 on, not '0'"));
  EXPECT_EQ(RunIt({"stop", "http://127.0.0.1:1", "--timeout", "soon"}).status, kBadUsage);
  EXPECT_EQ(RunIt({"--help"}).status, kDone);
}

TEST_F(EngineCommand, HelpOfAnActionHasItsOwnOptions) {
  const std::string all = RunIt({"--help"}).out, start = RunIt({"start", "--help"}).out,
                    status = RunIt({"status", "http://h:1", "--help"}).out;
  for (const char* option : {"--steps", "--level", "--force", "--json"})
    EXPECT_THAT(all, HasSubstr(option));
  EXPECT_THAT(start, StartsWith("tacho engine start: "));
  EXPECT_THAT(start, HasSubstr("--steps"));
  EXPECT_THAT(start, HasSubstr("--force"));
  EXPECT_THAT(start, Not(HasSubstr("--level")));
  EXPECT_THAT(start, Not(HasSubstr("tacho engine stop http")));
  for (const char* option : {"--steps", "--level", "--force"})
    EXPECT_THAT(status, Not(HasSubstr(option)));
  EXPECT_THAT(status, HasSubstr("--json"));
}

TEST_F(EngineCommand, AnActionOrAnAddressInPlaceOfACommand) {
  const auto said = [](const std::vector<std::string>& words) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(RunCommandLine(words), kBadUsage);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said({"status", "http://h:1"}), HasSubstr("did you mean tacho engine status URL?"));
  EXPECT_THAT(said({"stop", "http://h:1"}), HasSubstr("did you mean tacho engine stop URL?"));
  EXPECT_THAT(said({"http://h:1"}), HasSubstr("did you mean tacho engine status http://h:1, or "
                                              "tacho record http://h:1?"));
  EXPECT_THAT(said({"http://me:secret@h:1"}), Not(HasSubstr("secret")));
}

TEST_F(EngineCommand, StatusShowsEachWorker) {
  FakeEngine engine(VllmAnswers());
  Ran ran = RunIt({"status", engine.url()});
  EXPECT_EQ(ran.status, kDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("vllm 0.32.0"));
  EXPECT_THAT(ran.out, HasSubstr("http"));
  Json json = Json::parse(RunIt({"status", engine.url(), "--json"}).out);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["workers"][0]["engine"], "vllm");
  EXPECT_EQ(json["workers"][0]["profiler"]["reads_body"], true);
  EXPECT_FALSE(json["workers"][0].contains("tensor_parallel")) << "not told";
}

TEST_F(EngineCommand, OneDeadWorkerOfTwoIsStatusSix) {
  FakeEngine engine(VllmAnswers());
  Ran status = RunIt({"status", engine.url(), "http://127.0.0.1:1"});
  EXPECT_EQ(status.status, kRemoteFailed);
  Ran stop = RunIt({"stop", engine.url(), "http://127.0.0.1:1"});
  EXPECT_EQ(stop.status, kRemoteFailed);
}

TEST_F(EngineCommand, AWebServerIsNoEngineThatDidNotAnswer) {
  FakeEngine web({{"GET /v1/models", {404, "", {{"Server", "nginx"}}}}});
  Ran ran = RunIt({"status", web.url()});
  EXPECT_EQ(ran.status, kRemoteFailed);
  EXPECT_THAT(ran.out, Not(HasSubstr("no answer")));
  EXPECT_THAT(ran.err, HasSubstr("a web server (nginx), but no vLLM or SGLang: GET /v1/models"));
}

TEST_F(EngineCommand, TwoStartsHaveASpread) {
  FakeEngine one(VllmAnswers()), other(VllmAnswers());
  const Ran ran = RunIt({"start", one.url(), other.url(), "--steps", "3", "--json"});
  ASSERT_EQ(ran.status, kDone) << ran.err;
  EXPECT_GE(Json::parse(ran.out).at("spread_ns"), 0);
}

TEST_F(EngineCommand, OneThatRefusesOfTwoIsStatusSix) {
  FakeEngine good(VllmAnswers());
  Answers answers = VllmAnswers();
  answers["POST /start_profile"] = {409, R"({"error":{"message":"A session is active."}})"};
  FakeEngine busy(answers);
  Ran ran = RunIt({"start", good.url(), busy.url(), "--steps", "3", "--key", "k1", "--json"});
  EXPECT_EQ(ran.status, kRemoteFailed);
  Json json = Json::parse(ran.out);
  EXPECT_FALSE(json.contains("spread_ns")) << "of one start there is none";
  int done = 0, refused = 0;
  for (const Json& worker : json["workers"]) {
    done += worker["result"] == "done";
    refused += worker["result"] == "refused";
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(refused, 1);
  EXPECT_THAT(ran.err, HasSubstr("1 of 2 did not start; this stops the rest: tacho engine stop " +
                                 good.url() + "\n"));
  EXPECT_THAT(good.seen(),
              Contains(R"(POST /start_profile {"max_iterations":3,"profile_prefix":"k1-w0"})"));
}

TEST_F(EngineCommand, NothingIsStartedWhenOneWorkerCannotBe) {
  FakeEngine good(VllmAnswers());
  Answers off = VllmAnswers();
  off["GET /openapi.json"] = {200, R"({"paths":{}})"};
  FakeEngine plain(off);
  Ran ran = RunIt({"start", good.url(), plain.url()});
  EXPECT_EQ(ran.status, kBadUsage);
  EXPECT_THAT(ran.err, HasSubstr("--profiler-config"));
  EXPECT_THAT(good.seen(), Not(Contains(HasSubstr("POST"))));
}

constexpr char kHowToConfigure[] =
    R"(--profiler-config '{"profiler":"torch","torch_profiler_dir":"/path",)"
    R"("torch_profiler_with_stack":false,"torch_profiler_use_gzip":false,)"
    R"("torch_profiler_dump_cuda_time_total":false,"ignore_frontend":true,"max_iterations":1000}')";

Answers NotConfigured() {
  Answers answers = VllmAnswers();
  answers["GET /openapi.json"] = {200, R"({"paths":{}})"};
  answers.erase("POST /stop_profile");
  return answers;
}

Answers Sglang() {
  Answers answers;
  answers["GET /v1/models"] = {200, R"({"data":[{"id":"m","owned_by":"sglang"}]})"};
  answers["GET /server_info"] = {200, R"({"version":"0.5.23","tp_size":1,"internal_states":[]})"};
  answers["POST /start_profile"] = {200, "Start profiling.\n"};
  return answers;
}

TEST_F(EngineCommand, TakesTheFlagsOfProfileRollout) {
  FakeEngine sglang(Sglang());
  FakeEngine router(
      {{"GET /workers", {200, R"({"workers":[{"id":"1","url":")" + sglang.url() + R"("}]})"}}});
  Ran ran = RunIt({"--router-url", router.url(), "--action", "start", "--output-dir", "/p",
                   "--num-steps", "3", "--activities", "CPU", "GPU", "--profile-by-stage",
                   "--with-stack", "--record-shapes"});
  EXPECT_EQ(ran.status, kDone) << ran.err;
  std::string sent = sglang.seen().back();
  Json body = Json::parse(sent.substr(sent.find('{')));
  EXPECT_EQ(body["activities"], (Json{"CPU", "GPU"}));
  EXPECT_EQ(body["output_dir"], "/p");
  EXPECT_EQ(body["num_steps"], 3);
  EXPECT_EQ(body["profile_by_stage"], true);
  EXPECT_EQ(body["with_stack"], true);
  EXPECT_EQ(body["record_shapes"], true);
}

TEST_F(EngineCommand, FieldsOfTheStartRequest) {
  FakeEngine sglang(Sglang());
  Ran ran = RunIt({"start", sglang.url(), "--steps", "3", "--key", "k", "--profile-options",
                   "with_stack,activities=CPU+GPU,profile_prefix=mine"});
  EXPECT_EQ(ran.status, kDone) << ran.err;
  std::string sent = sglang.seen().back();
  Json body = Json::parse(sent.substr(sent.find('{')));
  EXPECT_EQ(body["with_stack"], true);
  EXPECT_EQ(body["activities"], (Json{"CPU", "GPU"}));
  EXPECT_EQ(body["profile_prefix"], "mine-k");
  for (const auto& [field, why] :
       std::map<std::string, std::string>{{"merge_profiles", "tacho reads all ranks"},
                                          {"=x", "write it as NAME=VALUE"},
                                          {"record_shapes,record_shapes=false", "given twice"},
                                          {"nonsense=1", "not known to sglang"}}) {
    FakeEngine untouched(Sglang());
    Ran refused = RunIt({"start", untouched.url(), "--profile-options", field});
    EXPECT_EQ(refused.status, kBadUsage) << field;
    EXPECT_THAT(refused.err, HasSubstr(why));
    EXPECT_THAT(untouched.seen(), Not(Contains(HasSubstr("POST"))));
  }
}

// The number of starts without the guards, which do not start a session.
size_t Starts(const FakeEngine& engine) {
  size_t starts = 0;
  for (const std::string& line : engine.seen())
    starts += line.starts_with("POST /start_profile") &&
              !line.ends_with(R"({"start_step":4611686018427387904})");
  return starts;
}

std::vector<std::string> FindingIds(const Json& status) {
  std::vector<std::string> ids;
  for (const Json& finding : status["findings"]) ids.push_back(finding["id"]);
  return ids;
}

TEST_F(EngineCommand, AnAsleepEngineIsAFinding) {
  Answers answers = VllmAnswers();
  answers["GET /is_sleeping"] = {200, R"({"is_sleeping":true})"};
  FakeEngine engine(answers);
  Json status = Json::parse(RunIt({"status", engine.url(), "--json"}).out);
  EXPECT_EQ(status["workers"][0]["asleep"], true);
  EXPECT_THAT(FindingIds(status), Contains("engine-asleep"));
}

TEST_F(EngineCommand, ASecondStartIsRefusedUntilAStop) {
  Answers answers = Sglang();
  answers["POST /stop_profile"] = {200, "Stop profiling.\n"};
  FakeEngine sglang(answers);
  EXPECT_EQ(RunIt({"start", sglang.url(), "--key", "first"}).status, kDone);
  Ran again = RunIt({"start", sglang.url()});
  EXPECT_EQ(again.status, kRemoteFailed);
  EXPECT_THAT(again.err, HasSubstr("(session first) and not stopped since; a second start would "
                                   "throw its window away (tacho engine stop " +
                                   sglang.url()));
  EXPECT_EQ(Starts(sglang), 1u);
  EXPECT_THAT(RunIt({"status", sglang.url()}).out, HasSubstr("profiles since"));
  Json status = Json::parse(RunIt({"status", sglang.url(), "--json"}).out);
  EXPECT_EQ(status["workers"][0]["open_session"]["key"], "first");
  EXPECT_THAT(FindingIds(status), Contains("open-session"));

  EXPECT_EQ(RunIt({"start", sglang.url(), "--force"}).status, kDone);
  EXPECT_THAT(sglang.seen(), Contains(HasSubstr("POST /stop_profile")));
  EXPECT_EQ(Starts(sglang), 2u);
  EXPECT_EQ(RunIt({"stop", sglang.url()}).status, kDone);
  EXPECT_EQ(RunIt({"start", sglang.url()}).status, kDone);
  EXPECT_EQ(Starts(sglang), 3u);
}

TEST_F(EngineCommand, ASleepIsRefusedUntilTheSessionIsStopped) {
  Answers answers = VllmAnswers();
  answers["POST /sleep"] = {200, ""};
  FakeEngine engine(answers);
  EXPECT_EQ(RunIt({"start", engine.url(), "--key", "first"}).status, kDone);
  const Ran asleep = RunIt({"sleep", engine.url()});
  EXPECT_EQ(asleep.status, kRemoteFailed);
  EXPECT_THAT(asleep.err, HasSubstr("(session first) and not stopped since; nothing was sent"));
  EXPECT_THAT(engine.seen(), Not(Contains(HasSubstr("/sleep"))));
  EXPECT_EQ(RunIt({"stop", engine.url()}).status, kDone);
  EXPECT_EQ(RunIt({"sleep", engine.url()}).status, kDone);
}

TEST_F(EngineCommand, AStartThatWasRefusedLeavesNoMark) {
  Answers answers = Sglang();
  answers["POST /start_profile"] = {500, ""};
  FakeEngine sglang(answers);
  EXPECT_EQ(RunIt({"start", sglang.url()}).status, kRemoteFailed);
  Ran again = RunIt({"start", sglang.url()});
  EXPECT_EQ(again.status, kRemoteFailed);
  EXPECT_THAT(again.err, Not(HasSubstr("not stopped since")));
}

TEST_F(EngineCommand, AStopUnderAnothersRecordingNeedsForce) {
  FakeEngine engine(VllmAnswers());
  auto recording = SessionLock::Take({engine.url()}, "tacho record");
  ASSERT_TRUE(recording);
  Ran stop = RunIt({"stop", engine.url()});
  EXPECT_EQ(stop.status, kRemoteFailed);
  EXPECT_THAT(stop.err, HasSubstr("is being profiled by tacho record, process"));
  EXPECT_THAT(stop.err, HasSubstr("--force"));
  EXPECT_THAT(engine.seen(), Not(Contains(HasSubstr("POST"))));
  EXPECT_EQ(RunIt({"stop", engine.url(), "--force"}).status, kDone);
  EXPECT_THAT(engine.seen(), Contains(HasSubstr("POST /stop_profile")));
}

TEST_F(EngineCommand, ARemedyIsWholeOnANarrowScreen) {
  FakeEngine engine(VllmAnswers());
  Ran asleep = RunIt({"sleep", engine.url()});
  EXPECT_EQ(asleep.status, kRemoteFailed);
  EXPECT_THAT(asleep.out, HasSubstr("\n    no such route: start vLLM with VLLM_SERVER_DEV_MODE=1 "
                                    "and --enable-sleep-mode\n"));
  Ran stop = RunIt({"stop", FakeEngine(NotConfigured()).url()});
  EXPECT_THAT(stop.out, HasSubstr(kHowToConfigure));
}

TEST_F(EngineCommand, AFailureIsOneJsonObjectToo) {
  for (const auto& [words, kind, status] :
       std::vector<std::tuple<std::vector<std::string>, std::string, int>>{
           {{"list", "http://127.0.0.1:1/workers/x y"}, "usage", kBadUsage},
           {{"start", "http://127.0.0.1:1"}, "remote", kRemoteFailed},
           {{"stauts", "http://h:1"}, "usage", kBadUsage},
           {{"status"}, "usage", kBadUsage},
           {{"status", "http://h:1", "--nonsense"}, "usage", kBadUsage}}) {
    std::vector<std::string> with = words;
    with.emplace_back("--json");
    Ran ran = RunIt(with);
    EXPECT_EQ(ran.status, status) << ran.err;
    Json json = Json::parse(ran.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << ran.out;
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["error"]["kind"], kind);
    EXPECT_EQ(json["error"]["exit_status"], status);
    EXPECT_THAT(ran.err, HasSubstr(json["error"]["message"].get<std::string>()));
    EXPECT_EQ(RunIt(words).out, "") << "without --json on standard error alone";
  }
}

TEST_F(EngineCommand, StatusTellsADeadEngine) {
  Answers answers = VllmAnswers();
  answers["GET /health"] = {503, ""};
  FakeEngine engine(answers);
  Ran ran = RunIt({"status", engine.url()});
  EXPECT_EQ(ran.status, kRemoteFailed);
  EXPECT_THAT(ran.out, HasSubstr("unhealthy: its /health answers 503"));
  EXPECT_THAT(ran.out, Not(HasSubstr("ready")));
  const Json json = Json::parse(RunIt({"status", engine.url(), "--json"}).out);
  EXPECT_EQ(json["workers"][0]["unhealthy"], "its /health answers 503");
  EXPECT_THAT(FindingIds(json), Contains("engine-dead"));
}

TEST_F(EngineCommand, StatusTellsWhoProfiles) {
  FakeEngine engine(VllmAnswers());
  {
    auto recording = SessionLock::Take({engine.url()}, "tacho record");
    ASSERT_TRUE(recording);
    Ran ran = RunIt({"status", engine.url()});
    EXPECT_EQ(ran.status, kDone);
    EXPECT_THAT(ran.out, HasSubstr("being profiled\n"));
    EXPECT_THAT(ran.out, Not(HasSubstr("ready")));
    EXPECT_THAT(ran.err, HasSubstr(engine.url() + ": is being profiled by tacho record, process"));
    Json json = Json::parse(RunIt({"status", engine.url(), "--json"}).out);
    EXPECT_THAT(json["workers"][0]["profiled_by"].get<std::string>(), HasSubstr("tacho record"));
    EXPECT_FALSE(SessionLock::Take({engine.url()}, "tacho record")) << "it is still theirs";
  }
  EXPECT_THAT(RunIt({"status", engine.url()}).out, HasSubstr("ready\n"));
}

TEST_F(EngineCommand, StatusTellsWhatARecordingNeeds) {
  FakeEngine silent(VllmAnswers()), off(NotConfigured()), other(NotConfigured());
  Ran ran = RunIt({"status", silent.url(), off.url(), other.url()});
  EXPECT_EQ(ran.status, kDone);
  EXPECT_THAT(ran.err, HasSubstr(silent.url() + ": does not report where it writes its traces: "
                                                "tacho record needs --trace-dir DIR"));
  EXPECT_THAT(ran.err, HasSubstr(" and 1 other: its profiler is not configured: "));
  EXPECT_THAT(ran.err, HasSubstr(kHowToConfigure));
  const Json report = Json::parse(RunIt({"status", silent.url(), off.url(), "--json"}).out);
  const Json& findings = report["findings"];
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0]["id"], "folder-unknown");
  EXPECT_EQ(findings[1]["id"], "profiler-off");
  EXPECT_EQ(findings[1]["severity"], "blocking");
  EXPECT_EQ(findings[1]["subject"], off.url());
  EXPECT_EQ(findings[1]["evidence"], "its profiler is not configured");
  EXPECT_THAT(findings[1]["remedy"].get<std::string>(), HasSubstr(kHowToConfigure));
  Answers answers = VllmAnswers();
  answers["GET /server_info"] = {
      200, R"({"vllm_config":{"profiler_config":{"profiler":"torch","torch_profiler_dir":"/t"}}})"};
  EXPECT_EQ(RunIt({"status", FakeEngine(answers).url()}).err, "");
}

TEST_F(EngineCommand, AStopNamesTheSessionAndWhatReadsIt) {
  Answers answers = VllmAnswers();
  answers["GET /server_info"] = {
      200, R"({"vllm_config":{"profiler_config":{"profiler":"torch","torch_profiler_dir":"/t t",
               "torch_profiler_with_stack":false}}})"};
  FakeEngine engine(answers);
  ASSERT_EQ(RunIt({"start", engine.url(), "--key", "k"}).status, kDone);
  EXPECT_THAT(RunIt({"stop", engine.url()}).err,
              HasSubstr(engine.url() + ": its traces of session k are in /t t: "
                                       "tacho analyze '/t t' --session k\n"));
  EXPECT_THAT(RunIt({"stop", engine.url()}).err,
              HasSubstr(": what it recorded, if anything, is in /t t: tacho analyze '/t t'\n"));
  // A folder that is seen from here, and no file of the session in it.
  const FolderForTest folder;
  answers["GET /server_info"].body = fmt::format(
      R"({{"vllm_config":{{"profiler_config":{{"profiler":"torch","torch_profiler_dir":"{}",
               "torch_profiler_with_stack":false}}}}}})",
      folder.path());
  FakeEngine idle(answers);
  ASSERT_EQ(RunIt({"start", idle.url(), "--key", "k"}).status, kDone);
  (void)folder.Write("k2_rank0.json", "{}");
  EXPECT_THAT(RunIt({"stop", idle.url()}).err,
              HasSubstr(": session k has written no file into " + folder.path()));
  FakeEngine silent(VllmAnswers());
  ASSERT_EQ(RunIt({"start", silent.url(), "--key", "k", "--steps", "3"}).status, kDone);
  EXPECT_THAT(RunIt({"stop", silent.url()}).err,
              HasSubstr(": traces of session k: does not report where it writes its traces: "
                        "torch_profiler_dir of its --profiler-config names the folder"));
}

TEST_F(EngineCommand, AStopOfAnSglangNamesTheFolderThatItsStartGave) {
  Answers answers = Sglang();
  answers["POST /stop_profile"] = {200, ""};
  FakeEngine engine(answers);
  ASSERT_EQ(RunIt({"start", engine.url(), "--key", "k", "--output-dir", "/mine"}).status, kDone);
  EXPECT_THAT(RunIt({"stop", engine.url()}).err,
              HasSubstr("are in /mine: tacho analyze /mine --session k\n"));
  answers["POST /stop_profile"] = {500, ""};
  Ran idle = RunIt({"stop", FakeEngine(answers).url()});
  EXPECT_EQ(idle.status, kDone);
  EXPECT_THAT(idle.out, HasSubstr("was not running"));
}

TEST_F(EngineCommand, AScheduleThatRecordsOnceIsNamed) {
  Answers answers = VllmAnswers();
  answers["GET /version"] = {200, R"({"version":"0.20.0"})"};
  answers["GET /server_info"] = {
      200, R"({"vllm_config":{"profiler_config":{"profiler":"torch","torch_profiler_dir":"/t",
               "torch_profiler_with_stack":false,"wait_iterations":1,"active_iterations":3}}})"};
  FakeEngine engine(answers);
  EXPECT_THAT(RunIt({"start", engine.url(), "--key", "k"}).err,
              HasSubstr("the first session of its life"));
}

}  // namespace
}  // namespace tacho
