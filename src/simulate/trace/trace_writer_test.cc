#include "simulate/trace/trace_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "simulate/engine/step_plan.h"
#include "simulate/trace/truth.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

struct TextSink : ByteSink {
  std::string text;
  bool Write(std::string_view bytes) override {
    text += bytes;
    return true;
  }
};

constexpr int64_t kNow = 1'795'261'781'249'449'380;

TraceSource Source(SimulatedEngine engine, int tp) {
  TraceSource source;
  source.engine = engine;
  source.version = "0.32.0";
  source.stamps_version = engine == SimulatedEngine::kVllm;
  source.names = engine == SimulatedEngine::kVllm ? StepNames::kContext : StepNames::kSglang;
  source.scopes = engine == SimulatedEngine::kSglang;
  source.cost = {*FindModelShape("tiny"), *FindHardware("h100"), tp, 1};
  source.world_size = tp;
  source.pid = 4711;
  source.process_name = "VLLM::Worker";
  source.trace_name = "/x/\"y\".json";
  return source;
}

Recording SomeSteps() {
  Recording recording;
  recording.start_ns = kNow;
  StepLoad prefill, decode;
  prefill.context.Add(100, 100);
  prefill.sampled = 1;
  decode.generation.Add(1, 101);
  decode.sampled = 1;
  int64_t at = kNow + 300'000;
  for (uint64_t i = 0; i < 4; ++i) {
    recording.steps.push_back({i, at, i == 0 ? prefill : decode, {}, 1, true, i == 0});
    at += 30'000'000;
  }
  recording.end_ns = at;
  return recording;
}

Json Written(const TraceSource& source, const Recording& recording) {
  TextSink sink;
  EXPECT_TRUE(WriteKinetoTrace(source, recording, sink));
  return Json::parse(sink.text);
}

TEST(WriteKinetoTrace, IsJsonInBothDialects) {
  for (const auto dialect : {KinetoDialect::kManyKeysALine, KinetoDialect::kOneKeyALine}) {
    TraceSource source = Source(SimulatedEngine::kVllm, 2);
    source.dialect = dialect;
    const Json trace = Written(source, SomeSteps());
    EXPECT_EQ(trace["baseTimeNanoseconds"], 1'790'857'026'000'000'000);
    EXPECT_EQ(trace["distributedInfo"]["world_size"], 2);
    EXPECT_EQ(trace["traceName"], source.trace_name);
    EXPECT_EQ(trace["vllm_version"], "0.32.0");
  }
}

TEST(WriteKinetoTrace, EachSessionHasATraceIdOfItsOwn) {
  const TraceSource source = Source(SimulatedEngine::kVllm, 1);
  Recording recording;
  recording.start_ns = kNow;
  recording.end_ns = kNow + 1'000'000'000;
  const Json first = Written(source, recording);
  EXPECT_EQ(first["trace_id"].get<std::string>().size(), 32U);
  EXPECT_EQ(first["trace_id"], Written(source, recording)["trace_id"]);
  recording.start_ns += 60'000'000'000;
  recording.end_ns += 60'000'000'000;
  EXPECT_NE(first["trace_id"], Written(source, recording)["trace_id"]);
}

TEST(WriteKinetoTrace, EachLaunchHasItsWorkAndEachFlowItsEnds) {
  for (const SimulatedEngine engine : {SimulatedEngine::kVllm, SimulatedEngine::kSglang}) {
    const Json trace = Written(Source(engine, 1), SomeSteps());
    std::map<int64_t, int> calls, work, starts;
    std::set<int64_t> ops;
    for (const Json& event : trace["traceEvents"]) {
      const std::string cat = event.value("cat", "");
      const std::string phase = event["ph"];
      if (cat == "cuda_runtime" || cat == "cuda_driver") ++calls[event["args"]["correlation"]];
      if (cat == "cpu_op") ops.insert(event["args"]["External id"].get<int64_t>());
      if (cat == "kernel" || cat == "gpu_memcpy" || cat == "gpu_memset") {
        ++work[event["args"]["correlation"]];
        EXPECT_EQ(event["tid"], event["args"]["stream"]);
        if (event["args"].contains("External id")) {
          EXPECT_TRUE(ops.contains(event["args"]["External id"].get<int64_t>()));
        }
      }
      if (phase == "s") ++starts[event["id"]];
    }
    EXPECT_FALSE(work.empty());
    for (const auto& [id, count] : calls) EXPECT_EQ(count, 1) << id;
    for (const auto& [id, count] : work) {
      EXPECT_EQ(calls[id], 1) << id;
      EXPECT_EQ(starts[id], 1) << id;
    }
  }
}

// What does not lie wholly inside the window is not in the trace.
TEST(WriteKinetoTrace, DropsWhatTheWindowCuts) {
  Recording recording = SomeSteps();
  recording.start_ns += 550'000;
  const TraceSource source = Source(SimulatedEngine::kVllm, 1);
  // The window ends in the middle of the third step's annotation.
  const RecordedStep& cut = recording.steps[2];
  const StepPlan plan = PlanStep(source.engine, source.cost, cut.load, source.seed, cut.index);
  for (const HostSlice& slice : plan.ranks[0].host) {
    if (slice.kind != HostSlice::Kind::kStep) continue;
    recording.end_ns = cut.start_ns + slice.start_ns + slice.dur_ns / 2;
  }
  const int64_t base = KinetoBaseNs(recording.start_ns);
  const auto begin = static_cast<double>(recording.start_ns - base) / 1000;
  const auto end = static_cast<double>(recording.end_ns - base) / 1000;
  int kernels = 0, unfinished = 0;
  const Json trace = Written(source, recording);
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] == "gpu_user_annotation") continue;
    EXPECT_GE(event["ts"].get<double>(), begin);
    EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(), end + 0.01);
    kernels += event["cat"] == "kernel" ? 1 : 0;
    unfinished += event["args"].contains("finished") ? 1 : 0;
  }
  EXPECT_GT(kernels, 0);
  EXPECT_GT(unfinished, 0);
  const Json truth = Json::parse(TruthOf(source, recording));
  EXPECT_GT(truth["launches"]["without_launch"], 0);
  int64_t counted = 0;
  for (const Json& row : truth["kernels"]) counted += row["count"].get<int64_t>();
  EXPECT_EQ(counted, kernels);
}

TEST(WriteKinetoTrace, EmptySessionIsATraceToo) {
  Recording recording;
  recording.start_ns = kNow;
  recording.end_ns = kNow + 3'000'000;
  const Json trace = Written(Source(SimulatedEngine::kVllm, 1), recording);
  for (const Json& event : trace["traceEvents"]) {
    EXPECT_TRUE(event["ph"] == "M" || event["ph"] == "i" || event["cat"] == "Trace");
  }
}

TEST(WriteKinetoTrace, IdleSglangLoopsAllTheTime) {
  Recording recording;
  recording.start_ns = kNow;
  recording.end_ns = kNow + 100'000'000;
  recording.ends_idle = recording.ends_in_request = true;
  const Json trace = Written(Source(SimulatedEngine::kSglang, 1), recording);
  int idle = 0, unfinished = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("name", "") == "scheduler.idle") ++idle;
    if (event.contains("args") && event["args"].contains("finished")) ++unfinished;
  }
  EXPECT_NEAR(idle, 400, 100);
  EXPECT_EQ(unfinished, 1);
}

TEST(StepName, IsSpeltAsTheEngineDoes) {
  RecordedStep step;
  step.load.context.Add(28, 28);
  step.load.generation.Add(1, 9);
  step.load.new_requests = 1;
  step.forward = 7;
  EXPECT_EQ(StepName(StepNames::kNone, step), "");
  EXPECT_EQ(StepName(StepNames::kNewCached, step), "execute_new_1_cached_1");
  EXPECT_EQ(StepName(StepNames::kContext, step), "execute_context_1(28)_generation_1(1)");
  EXPECT_EQ(StepName(StepNames::kContextDetailed, step),
            "execute_29_context_1(sq28sk28sqsq784sqsk784)_generation_1(sq1sk9sqsq1sqsk9)");
  step.load.generation = {};
  EXPECT_EQ(StepName(StepNames::kSglang, step), "step[EXTEND bs=1 toks=28]");
  EXPECT_EQ(StepName(StepNames::kSglangDetailed, step),
            "step[EXTEND bs=1 toks=28 c_sq=28 c_sqsq=784 c_sqsk=784 c_sk=28 forward_id=7]");
}

}  // namespace
}  // namespace tacho::simulate
