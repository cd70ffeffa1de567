#include "analysis/sources/source_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/names/classifier.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A launch at `at` inside of `frames` (outermost first), and its kernel.
void Launch(TraceBuilder& b, int64_t at, const std::string& kernel,
            const std::vector<std::string>& frames, const std::string& call = "cudaLaunchKernel") {
  int64_t depth = 0;
  for (const std::string& frame : frames) {
    b.Host("python_function", frame, {.start = at - 50 + depth, .duration = 100 - 2 * depth});
    ++depth;
  }
  b.Host("cuda_runtime", call, {.start = at, .duration = 5, .correlation = at});
  b.Kernel(kernel, {.start = at + 20, .duration = 10, .correlation = at});
}

PreparedTrace PreparedOf(const Trace& trace) {
  return Prepare(trace, Classifier::Create().value());
}

std::vector<std::string> FramesOf(const SourceTable& table, std::string_view kernel) {
  std::vector<std::string> frames;
  for (const SourceRow& row : table.rows) {
    if (row.kernel != kernel) continue;
    for (const SourceSite& site : row.sites) frames.push_back(site.frame);
  }
  return frames;
}

TEST(Sources, AreTheInnermostFrameOfUserCode) {
  TraceBuilder b;
  Launch(b, 1000, "k",
         {"vllm/model.py(10): forward", "nn.Module: RMSNorm_3", "torch/nn/module.py(5): _call_impl",
          "vllm/ops.py(7): norm", "x.py(1): __torch_function__", "<built-in method norm>"});
  Launch(b, 2000, "outside", {});
  const Trace trace = std::move(b).Finish();
  const PreparedTrace prepared = PreparedOf(trace);
  const SourceTable table = FindSources(prepared, MapSources(prepared));
  EXPECT_EQ(table.state, SourcesState::kFound);
  EXPECT_THAT(FramesOf(table, "k"), ElementsAre("vllm/ops.py(7): norm"));
  EXPECT_THAT(table.rows.front().sites.front().modules, ElementsAre("RMSNorm"));
  EXPECT_THAT(FramesOf(table, "outside"), IsEmpty());
  EXPECT_EQ(table.one.ns, 10);
  EXPECT_EQ(table.device.ns, 20);
}

TEST(Sources, OfAMapNameWorkInGraphs) {
  TraceBuilder mapped;
  Launch(mapped, 1000, "a", {"a.py(1): f"});
  Launch(mapped, 2000, "b", {"b.py(1): f"});
  Launch(mapped, 3000, "b", {"b.py(1): f"});
  Launch(mapped, 4000, "b", {"c.py(1): g"});
  Launch(mapped, 5000, "c", {"d.py(1): replay"}, "cudaGraphLaunch");
  const Trace with_frames = std::move(mapped).Finish();
  const SourceMap map = MapSources(PreparedOf(with_frames));

  TraceBuilder graphs;
  graphs.Host("cuda_runtime", "cudaGraphLaunch", {.start = 0, .duration = 5, .correlation = 1});
  int64_t at = 10;
  for (const char* kernel : {"c", "b", "a", "a"})
    graphs.Kernel(kernel, {.start = at += 20, .duration = 10, .correlation = 1});
  const Trace trace = std::move(graphs).Finish();
  const PreparedTrace prepared = PreparedOf(trace);
  EXPECT_EQ(FindSources(prepared, MapSources(prepared)).state, SourcesState::kNoFrames);
  const SourceTable table = FindSources(prepared, map);
  EXPECT_THAT(FramesOf(table, "a"), ElementsAre("a.py(1): f"));
  EXPECT_THAT(FramesOf(table, "b"), ElementsAre("b.py(1): f", "c.py(1): g"));
  EXPECT_THAT(FramesOf(table, "c"), IsEmpty());
  EXPECT_EQ(table.one.ns, 20);
  EXPECT_EQ(table.several.ns, 10);
  EXPECT_EQ(table.device.ns, 40);
  DurationNs gaps;
  for (const SourceRow& row : table.rows) gaps += row.gap;
  EXPECT_EQ(gaps.ns, 30);
}

// ROCm names the kernel in the launch call. CUDA does not.
TEST(Sources, OfARecordingOfGraphCaptureAreThoseOfItsCalls) {
  TraceBuilder capture;
  int64_t at = 0;
  const auto launch = [&](const char* frame, const TraceBuilder::Arguments& args, bool has_work) {
    at += 1000;
    capture.Host("python_function", frame, {.start = at - 5, .duration = 100});
    capture.Host("cuda_runtime", "hipLaunchKernel",
                 {.start = at, .duration = 5, .correlation = at, .args = args});
    if (has_work) capture.Kernel("b", {.start = at + 20, .duration = 10, .correlation = at});
  };
  launch("a.py(1): f", {
    {"kernel", R"j("void a<int>(\"x\")")j"}, {"cid", "7"}}, false);
  launch("b.py(1): f", {{"kernel", R"("b")"}}, true);  // a warm-up
      launch("b.py(2): g", {{"kernel", R"("b")"}}, false);
      launch("c.py(1): f", {{"cid", "7"}}, false);
      const Trace captured = std::move(capture).Finish();
      const SourceMap map = MapSources(PreparedOf(captured));

      TraceBuilder replay;
      replay.Host("cuda_runtime", "hipGraphLaunch", {.start = 0, .duration = 5, .correlation = 1});
      at = 10;
      for (const char* kernel : {"void a<int>(\"x\")", "b", "c"})
        replay.Kernel(kernel, {.start = at += 20, .duration = 10, .correlation = 1});
      const Trace trace = std::move(replay).Finish();
      const SourceTable table = FindSources(PreparedOf(trace), map);
      EXPECT_EQ(table.state, SourcesState::kFound);
      EXPECT_THAT(FramesOf(table, "void a<int>(\"x\")"), ElementsAre("a.py(1): f"));
      EXPECT_THAT(FramesOf(table, "b"), ElementsAre("b.py(1): f", "b.py(2): g"));
      EXPECT_THAT(FramesOf(table, "c"), IsEmpty());
    }

}  // namespace
}  // namespace tacho
