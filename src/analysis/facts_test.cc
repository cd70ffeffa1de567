#include "analysis/facts.h"

#include "analysis/device/graph_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TraceFacts Gather(TraceBuilder&& b) { return GatherFacts(std::move(b).Finish()); }

TEST(Facts, OfAVllmWorker) {
  TraceBuilder b;
  b.header().vllm_version = "0.32.0";
  b.header().rank = 1;
  b.header().world_size = 2;
  b.header().record_shapes = b.header().profile_memory = true;
  b.NameProcess("5", "VLLM::Worker_TP1");
  b.Host("user_annotation", "execute_context_0(0)_generation_1(1)", {.pid = "5", .duration = 9});
  b.Host("cpu_op", "aten::mm", {.pid = "5", .duration = 5});
  b.Kernel("gemm", {.duration = 5});
  b.Kernel("gemm", {.duration = 5});
  b.basics().counts.by_label = {{"X", 4}, {"M", 1}};
  const TraceFacts facts = Gather(std::move(b));
  EXPECT_EQ(TraceRoleName(facts.role), "worker");
  EXPECT_EQ(facts.engine, "vllm");
  EXPECT_EQ(facts.engine_version, "0.32.0");
  EXPECT_EQ(facts.rank, 1);
  EXPECT_EQ(facts.world_size, 2);
  EXPECT_THAT(facts.process_names, ElementsAre("VLLM::Worker_TP1"));
  EXPECT_THAT(facts.by_phase, ElementsAre(Pair("M", 1), Pair("X", 4)));
  EXPECT_THAT(facts.by_category,
              ElementsAre(Pair("cpu_op", 1), Pair("kernel", 2), Pair("user_annotation", 1)));
  EXPECT_THAT(facts.options, ElementsAre("record_shapes", "profile_memory"));
  EXPECT_THAT(facts.cannot_tell, Contains(HasSubstr("launch delays")));
  EXPECT_THAT(facts.cannot_tell, Not(Contains(HasSubstr("steps"))));
}

TEST(Facts, TheEngineIsToldByWhateverNamesIt) {
  const auto engine_with = [](auto add) {
    TraceBuilder b;
    add(b);
    return Gather(std::move(b)).engine;
  };
  EXPECT_EQ(engine_with([](TraceBuilder&) {}), "");
  EXPECT_EQ(engine_with([](TraceBuilder& b) { b.NameProcess("1", "VLLM::EngineCore"); }), "vllm");
  EXPECT_EQ(engine_with([](TraceBuilder& b) { b.NameProcess("1", "sglang::scheduler_DP1"); }),
            "sglang");
  EXPECT_EQ(
      engine_with([](TraceBuilder& b) { b.Host("user_annotation", "step[DECODE bs=1]", {}); }),
      "sglang");
  EXPECT_EQ(engine_with([](TraceBuilder& b) { b.Host("user_annotation", "ProfilerStep#1", {}); }),
            "");
  EXPECT_EQ(
      engine_with([](TraceBuilder& b) { b.Host("user_annotation", "scheduler.run_batch", {}); }),
      "sglang");
  EXPECT_EQ(engine_with([](TraceBuilder& b) {
              b.Host("user_annotation", "execute_diffusion_1_1024x1024", {});
            }),
            "")
      << "xDiT and others write it";
  EXPECT_EQ(engine_with([](TraceBuilder& b) {
              b.Host("user_annotation", "gpu_model_runner: forward", {});
            }),
            "vllm");
  EXPECT_EQ(engine_with([](TraceBuilder& b) {
              b.Host("python_function", "/x/site-packages/vllm/v1/engine/async_llm.py(9): run", {});
            }),
            "vllm");
  // A build of SGLang that writes vLLM's names too.
  EXPECT_EQ(engine_with([](TraceBuilder& b) {
              b.Host("user_annotation", "execute_context_0(0)_generation_1(1)", {.duration = 9});
              b.Host("user_annotation", "step[DECODE bs=1]", {.start = 1, .duration = 5});
            }),
            "sglang");
}

TEST(Facts, AFrontEndHasNeitherOperatorsNorGpuWork) {
  TraceBuilder b;
  b.header().vllm_version = "0.32.0";
  b.NameProcess("7732", "python3");
  b.Host("python_function", "run", {.duration = 5});
  const TraceFacts facts = Gather(std::move(b));
  EXPECT_EQ(TraceRoleName(facts.role), "frontend");
  ASSERT_EQ(facts.cannot_tell.size(), 1u);
  EXPECT_THAT(facts.cannot_tell[0], HasSubstr("front end"));
}

TEST(Facts, AFrontEndIsOnlyWhatShowsItself) {
  const auto role = [](auto build, std::string_view path = {}) {
    TraceBuilder b;
    build(b);
    return GatherFacts(std::move(b).Finish(), path).role;
  };
  const auto frame = [&](std::string_view name, std::string_view path = {}) {
    return role([&](TraceBuilder& b) { b.Host("python_function", name, {.duration = 5}); }, path);
  };
  EXPECT_EQ(role([](TraceBuilder& b) {
              b.NameProcess("1", "VLLM::APIServer");
              b.Host("python_function", "run", {.duration = 5});
            }),
            TraceRole::kFrontend);
  EXPECT_EQ(frame("vllm/v1/engine/async_llm.py(7): generate"), TraceRole::kFrontend);
  EXPECT_EQ(frame("run", "t/h_77.async_llm.1795.pt.trace.json.gz"), TraceRole::kFrontend);
  // A trace of torch's profiler from a process without a known name.
  EXPECT_EQ(frame("example.py(36): <module>"), TraceRole::kWorker);
  EXPECT_EQ(frame("nanovllm/engine/llm_engine.py(230): generate"), TraceRole::kWorker);
}

TEST(Facts, AnotherProducersTraceIsNoFrontEnd) {
  TraceBuilder b;
  b.header().fields.emplace_back("viztracer_metadata", "{}");
  b.NameProcess("5", "MainProcess");
  b.Host("FEE", "step (core.py:300)", {.duration = 5});
  const TraceFacts facts = Gather(std::move(b));
  EXPECT_EQ(TraceRoleName(facts.role), "foreign");
  EXPECT_EQ(facts.producer, "VizTracer");
  TraceBuilder unknown;
  unknown.Host("irq", "softirq", {.duration = 5});
  const TraceFacts of_unknown = Gather(std::move(unknown));
  EXPECT_EQ(of_unknown.role, TraceRole::kForeign);
  EXPECT_EQ(of_unknown.producer, "");
}

TEST(Facts, AnEngineIsNamedByWholeFolders) {
  const auto engine = [](std::string_view frame) {
    TraceBuilder b;
    b.Host("cpu_op", "aten::mm", {.duration = 1});
    b.Host("python_function", frame, {.duration = 5});
    return Gather(std::move(b)).engine;
  };
  EXPECT_EQ(engine("/opt/lib/vllm/v1/engine/core.py(301): step"), "vllm");
  EXPECT_EQ(engine("vllm/engine/llm_engine.py(3): step"), "vllm");
  EXPECT_EQ(engine("/x/sglang/srt/managers/scheduler.py(3): run"), "sglang");
  for (const char* other :
       {"nanovllm/engine/llm_engine.py(230): generate", "nano-vllm/v1/engine.py(3): step",
        "minisglang/srt/a.py(1): f", "mini-sglang/srt/a.py(1): f", "my_vllm/v1/core.py(1): f"}) {
    EXPECT_EQ(engine(other), "") << other;
  }
}

TEST(Facts, ARecordingOfGraphCaptureIsNoRank) {
  const auto role = [](auto build, std::string_view path = {}) {
    TraceBuilder b;
    b.header().rank = 0;
    b.Host("cpu_op", "aten::mm", {.duration = 1});
    build(b);
    return GatherFacts(std::move(b).Finish(), path).role;
  };
  const auto annotated = [](const char* name) {
    return [name](TraceBuilder& b) { b.Host("user_annotation", name, {.duration = 9}); };
  };
  EXPECT_EQ(role(annotated("_capture_graph")), TraceRole::kCapture);
  EXPECT_EQ(role(annotated("_dummy_run")), TraceRole::kCapture);
  EXPECT_EQ(role(annotated("capture_8_tokens")), TraceRole::kCapture);
  EXPECT_EQ(role(annotated("capture_outputs")), TraceRole::kWorker);
  EXPECT_EQ(role([](TraceBuilder& b) {
              b.Host("cuda_runtime", "hipStreamBeginCapture", {.duration = 1});
            }),
            TraceRole::kCapture);
  // A data-parallel rank without requests also has dummy runs, but its graphs run.
  EXPECT_EQ(role([](TraceBuilder& b) {
              b.Host("user_annotation", "_dummy_run", {.duration = 9});
              b.Host("cuda_runtime", "cudaGraphLaunch", {.duration = 1, .correlation = 1});
            }),
            TraceRole::kWorker);
  EXPECT_EQ(role([](TraceBuilder& b) {
              b.Host("user_annotation", "_capture_graph", {.duration = 9});
              b.Host("user_annotation", "step[DECODE bs=8]", {.duration = 9});
            }),
            TraceRole::kWorker);
  EXPECT_EQ(role([](TraceBuilder&) {}, "t/graph_capture_profile/x.json.gz"), TraceRole::kCapture);
  EXPECT_EQ(role([](TraceBuilder&) {}, "t/x.json.gz"), TraceRole::kWorker);
  EXPECT_EQ(role(annotated("step[DECODE bs=8]"), "capture_traces/serving.json"),
            TraceRole::kWorker);
}

TEST(Facts, ARankThatHadNothingToDoIsAWorker) {
  TraceBuilder b;
  b.NameProcess("1", "VLLM::Worker");
  EXPECT_EQ(Gather(std::move(b)).role, TraceRole::kWorker);
  TraceBuilder with_header;
  with_header.NameProcess("1", "python3");
  with_header.header().rank = 3;
  EXPECT_EQ(Gather(std::move(with_header)).role, TraceRole::kWorker);
}

TEST(Facts, AMergedFileSaysTheRankOfItsHeader) {
  TraceBuilder b;
  b.header().rank = 0;
  b.header().world_size = 2;
  b.Host("cpu_op", "aten::mm", {.pid = "20034", .duration = 5, .rank = "[TP00] "});
  b.NameProcess("[TP00] 20034", "sglang::scheduler_TP0");
  const TraceFacts facts = Gather(std::move(b));
  EXPECT_EQ(TraceRoleName(facts.role), "merged");
  EXPECT_EQ(facts.rank, 0);
  EXPECT_EQ(facts.world_size, 2);

  TraceBuilder two;
  two.NameProcess("1", "VLLM::Worker_TP0");
  two.NameProcess("2", "VLLM::Worker_TP1");
  EXPECT_EQ(Gather(std::move(two)).role, TraceRole::kMerged);
}

TEST(Facts, TheRankComesFromTheProcessNameWhenTheHeaderIsLost) {
  const auto rank_of = [](std::string_view process) {
    TraceBuilder b;
    b.NameProcess("1", process);
    return Gather(std::move(b)).rank;
  };
  EXPECT_EQ(rank_of("VLLM::Worker_TP3"), 3);
  EXPECT_EQ(rank_of("sglang::scheduler_DP1_TP2"), 2);
  EXPECT_EQ(rank_of("VLLM::Worker_PP0_TP1"), 1);
  EXPECT_EQ(rank_of("VLLM::Worker_PP1_TP1"),
            std::nullopt);  // the number of ranks in a stage is unknown
  EXPECT_EQ(rank_of("sglang::scheduler_DP1"), std::nullopt);
  EXPECT_EQ(rank_of("VLLM::Worker"), std::nullopt);
  EXPECT_EQ(rank_of("something_TP3"), std::nullopt);
}

TEST(Facts, SayWhatSpoilsTheFigures) {
  TraceBuilder b;
  b.header().base_time_ns = 5;
  b.notes().Add(NoteId::kTruncatedJson, "byte 9");
  b.Host("cpu_op", "aten::mm", {.duration = 5});
  b.Host("python_function", "run", {.duration = 5});
  const TraceFacts facts = Gather(std::move(b));
  EXPECT_THAT(facts.cannot_tell, ElementsAre(HasSubstr("exact totals"), HasSubstr("steps"),
                                             HasSubstr("GPU time"), HasSubstr("record_shapes"),
                                             HasSubstr("with_stack was on"), HasSubstr("rank")));
  for (const std::string& sentence : facts.cannot_tell)
    EXPECT_THAT(sentence, HasSubstr(", because "));
}

TEST(StageOf, NeedsTheNameAndTheSteps) {
  StepTable decode;
  decode.steps.push_back({{Phase::kDecode, 0, 0, 1, 1}, {}, std::nullopt});
  decode.steps.push_back({{Phase::kEmpty, 0, 0, 0, 0}, {}, std::nullopt});
  EXPECT_EQ(StageOf("a/1795.45-TP-0-DECODE.trace.json.gz", decode), "decode");
  EXPECT_EQ(StageOf("a.zip:v2-TP-0-decode.trace.json.gz", decode), "decode");
  EXPECT_EQ(StageOf("a/1795.45-TP-0-EXTEND.trace.json.gz", decode), "");
  EXPECT_EQ(StageOf("a/1795.45-TP-0.trace.json.gz", decode), "");
  EXPECT_EQ(StageOf("a-DECODE/1795.45-TP-0.trace.json.gz", decode), "");
  EXPECT_EQ(StageOf("a/1795.45-TP-0-DECODE.trace.json.gz", {}), "");
  decode.steps.push_back({{Phase::kPrefill, 1, 10, 0, 0}, {}, std::nullopt});
  EXPECT_EQ(StageOf("a/1795.45-TP-0-DECODE.trace.json.gz", decode), "decode");
  decode.steps.erase(decode.steps.begin());
  EXPECT_EQ(StageOf("a/1795.45-TP-0-DECODE.trace.json.gz", decode), "");
  EXPECT_EQ(StageOf("a/1795.45-TP-0-prefill.trace.json.gz", decode), "prefill");
}

}  // namespace
}  // namespace tacho
