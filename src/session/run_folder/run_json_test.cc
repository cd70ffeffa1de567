#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/folder_for_test.h"
#include "session/recording.h"
#include "session/run_folder/run_json.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// One vLLM wrote its trace, another one was left out.
class RunJsonTest : public ::testing::Test {
 protected:
  RunJsonTest() {
    recording_.clocks.monotonic_ns = 1'000'000'000;
    recording_.clocks.unix_ns = 1'700'000'001'000'000'000;
    recording_.starts.answered_ns = 20'000;
    recording_.window = {};
    recording_.findings = {{FindingId::kDidNotStart, "http://b:1", "did not start: no"},
                           {FindingId::kOwnBound, "http://a:1", "ends after 5 steps", "--steps N"}};
    RecordedWorker& well = recording_.workers.emplace_back();
    Name(well, "w0", "http://a:1");
    well.facts.version = "0.32.0";
    well.facts.model = "m";
    well.facts.tensor_parallel = 1;
    well.facts.kv_cache_dtype = "fp8";
    well.facts.profiler.has_http = well.facts.profiler.reads_body = true;
    well.start = {"http://a:1", "/start_profile", R"({"profile_prefix":"t-w0"})"};
    well.stop = {"http://a:1", "/stop_profile", ""};
    well.started = OutcomeAt(2'000'000'000, 2'003'000'000);
    well.stopped = OutcomeAt(12'000'000'000, 13'000'000'000);
    RecordedWorker& broken = recording_.left_out.emplace_back();
    Name(broken, "w1", "http://b:1");
    broken.expectation.trouble = recording_.findings[0];
    RankProof& rank = proof_.ranks.emplace_back();
    rank.worker_url = "http://a:1";
    rank.identity.worker = "w0";
    rank.paths = {recording_.folder.In("traces/w0/t.json")};
    rank.steps = 7;
    rank.proven = true;
    options_.command = "tacho record http://a:1 http://b:1";
  }
  static void Name(RecordedWorker& worker, const std::string& name, const std::string& url) {
    worker.worker.url = url;
    worker.worker.found_in = "the command line";
    worker.facts.kind = EngineKind::kVllm;
    worker.expectation.name = name;
    worker.expectation.url = url;
    worker.key = "t-" + name;
  }
  static ControlOutcome OutcomeAt(int64_t sent_ns, int64_t answered_ns) {
    ControlOutcome outcome;
    outcome.status = 200;
    outcome.verdict = ControlVerdict::kDone;
    outcome.sent_ns = sent_ns;
    outcome.answered_ns = answered_ns;
    return outcome;
  }
  std::string Text(const std::string& analysis = "") const {
    return RunJsonText(recording_, options_, proof_, "0.0.0", 4, analysis);
  }
  nlohmann::ordered_json Json() const { return nlohmann::ordered_json::parse(Text()); }

  FolderForTest folder_;
  RecordOptions options_;
  Recording recording_{.folder = RunFolder::Create(folder_.path(), "run").value()};
  Proof proof_;
};

// Finds what `schema` requires and `json` lacks or has with another type.
void FindFaults(const nlohmann::json& schema, const nlohmann::json& json, const std::string& at,
                std::vector<std::string>& faults) {
  const std::map<std::string, bool> is = {
      {"object", json.is_object()},   {"array", json.is_array()},
      {"string", json.is_string()},   {"integer", json.is_number_integer()},
      {"boolean", json.is_boolean()}, {"number", json.is_number()},
      {"null", json.is_null()}};
  if (const auto type = schema.find("type"); type != schema.end() && type->is_string())
    if (!is.at(type->get<std::string>())) faults.push_back(at + " is no " + type->dump());
  for (const auto& key : schema.value("required", nlohmann::json::array()))
    if (!json.contains(key.get<std::string>())) faults.push_back(at + " lacks " + key.dump());
  if (json.is_object() && schema.contains("properties"))
    for (const auto& [key, value] : json.items()) {
      if (schema["properties"].contains(key))
        FindFaults(schema["properties"][key], value, at + "." + key, faults);
    }
  if (json.is_array() && schema.contains("items"))
    for (const auto& item : json) FindFaults(schema["items"], item, at + "[]", faults);
}

TEST_F(RunJsonTest, IsWhatItsSchemaSays) {
  std::ifstream file(TACHO_SOURCE_DIR "/docs/run.schema.json");
  const nlohmann::json schema = nlohmann::json::parse(file);
  std::vector<std::string> faults;
  FindFaults(schema, nlohmann::json::parse(Text()), "run", faults);
  EXPECT_THAT(faults, IsEmpty());
  FindFaults(schema, nlohmann::json::object(), "run", faults);
  EXPECT_FALSE(faults.empty());
}

TEST_F(RunJsonTest, OfASmallRecording) {
  EXPECT_EQ(Text(), R"({
 "schema": 1,
 "tacho": {
  "version": "0.0.0"
 },
 "command": "tacho record http://a:1 http://b:1",
 "exit_status": 4,
 "complete": false,
 "interrupted": false,
 "via": "http",
 "clocks": {
  "monotonic_ns": 1000000000,
  "unix_ns": 1700000001000000000
 },
 "proof": {
  "proven": 1,
  "ranks": 1
 },
 "start_spread_ns": 20000,
 "workers": [
  {
   "engine": "vllm",
   "engine_version": "0.32.0",
   "model": "m",
   "tensor_parallel": 1,
   "kv_cache_dtype": "fp8",
   "round_trip_ns": 0,
   "profiler": {
    "http": true,
    "daemon": false,
    "reads_body": true
   },
   "name": "w0",
   "url": "http://a:1",
   "found_in": "the command line",
   "key": "t-w0",
   "start": {
    "request": "/start_profile",
    "body": "{\"profile_prefix\":\"t-w0\"}",
    "status": 200,
    "sent_unix_ns": 1700000002000000000,
    "took_ns": 3000000
   },
   "stop": {
    "request": "/stop_profile",
    "body": "",
    "status": 200,
    "sent_unix_ns": 1700000012000000000,
    "took_ns": 1000000000
   },
   "ranks": [
    {
     "name": "w0",
     "engine": 0,
     "rank": 0,
     "proven": true,
     "files": [
      "traces/w0/t.json"
     ],
     "steps": 7
    }
   ]
  },
  {
   "engine": "vllm",
   "round_trip_ns": 0,
   "profiler": {
    "http": false,
    "daemon": false,
    "reads_body": false
   },
   "name": "w1",
   "url": "http://b:1",
   "found_in": "the command line",
   "key": "t-w1",
   "trouble": "did not start: no",
   "ranks": []
  }
 ],
 "extra_files": [],
 "foreign_files": [],
 "missing": [],
 "troubles": [
  "http://b:1: did not start: no"
 ],
 "remarks": [
  "http://a:1: ends after 5 steps; --steps N"
 ],
 "findings": [
  {
   "id": "did-not-start",
   "severity": "incomplete",
   "subject": "http://b:1",
   "evidence": "did not start: no",
   "remedy": "read the engine's words and its log"
  },
  {
   "id": "own-bound",
   "severity": "notice",
   "subject": "http://a:1",
   "evidence": "ends after 5 steps",
   "remedy": "--steps N"
  }
 ]
}
)");
}

TEST_F(RunJsonTest, IsCompleteOnlyWithoutAnyTrouble) {
  proof_.complete = true;
  EXPECT_FALSE(Json()["complete"].get<bool>());
  recording_.findings.clear();
  EXPECT_TRUE(Json()["complete"].get<bool>());
  recording_.interrupted_ns = 3'000'000'000;
  EXPECT_FALSE(Json()["complete"].get<bool>());
  EXPECT_EQ(Json()["interrupted_unix_ns"], 1'700'000'003'000'000'000);
}

TEST_F(RunJsonTest, TheAnalysisIsAddedAndNothingElseReplacesIt) {
  EXPECT_EQ(nlohmann::json::parse(Text(R"({"verdict":{"text":"idle"}})"))["verdict"]["text"],
            "idle");
  EXPECT_EQ(Text("no JSON"), Text());
}

TEST_F(RunJsonTest, AnEnginesBytesAreTextWhateverTheyAre) {
  recording_.workers[0].stopped->said = "half a \xf0\x9f";
  recording_.workers[0].facts.model = "\"}\n\x01";
  EXPECT_EQ(Json()["workers"][0]["model"], "\"}\n\x01");
  EXPECT_EQ(Json()["workers"][0]["stop"]["said"], "half a \xef\xbf\xbd");
}

TEST_F(RunJsonTest, TheRunFolderHoldsWhatWasSentAndNoKey) {
  // Only the HTTP client has the key; the caller's command says where the key came from.
  setenv("OPENAI_API_KEY", "sk-secret", 1);
  options_.command = "tacho record http://a:1 --api-key-file key.txt";
  const std::string log = recording_.folder.In("engine.log");
  recording_.workers[0].log = EngineLog(log);
  std::ofstream(log) << "[TP0] server_args: api_key=['sk-secret']\n'a\nHF_TOKEN=sk-secret\nkept\n";
  EXPECT_THAT(WriteRecording(recording_, options_), IsEmpty());
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::status(recording_.folder.In("logs/w0.log")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  for (const char* name : {"commands.sh", "probes.json", "logs/w0.log"}) {
    std::ifstream file(recording_.folder.In(name));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(text.empty()) << name;
    EXPECT_THAT(text, Not(HasSubstr("sk-secret"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("Authorization"))) << name;
  }
  EXPECT_THAT(Text(), Not(HasSubstr("sk-secret")));
  unsetenv("OPENAI_API_KEY");
}

}  // namespace
}  // namespace tacho
