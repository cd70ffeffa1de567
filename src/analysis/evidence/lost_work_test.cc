#include "analysis/evidence/lost_work.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analysis/evidence/integrity.h"
#include "analysis/prepared_trace.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

// A run of an engine: `steps` graph replays of `nodes` kernels, each followed by `eager` kernels,
// all on one stream. Also says which whole launches and which nodes of replays the recording lost.
struct Run {
  int64_t steps = 40, nodes = 5, eager = 1;
  std::function<bool(int64_t launch)> lost = [](int64_t) { return false; };
  std::function<bool(int64_t launch, int64_t node)> lost_node = [](int64_t, int64_t) {
    return false;
  };
  bool node_ids = false;
  int64_t silence_at_end = 0;  // ns for which the host continues after the last step
};

Trace Record(const Run& run) {
  TraceBuilder b;
  int64_t host = 1'000, device = 0, correlation = 0;
  const auto launch = [&](std::string_view call, int64_t pieces) {
    b.Host("cuda_runtime", call, {.start = host, .duration = 2'000, .correlation = ++correlation});
    device = std::max(device, host + 5'000);
    for (int64_t node = 0; node < pieces; ++node) {
      const std::string name = pieces == 1 ? "sample" : node % 2 == 0 ? "gemm" : "attention";
      const std::string id = std::to_string(node + 1);
      if (!run.lost(correlation - 1) && !run.lost_node(correlation - 1, node)) {
        TraceBuilder::Arguments args;
        if (run.node_ids && pieces > 1) args.emplace_back("graph node id", id);
        b.Kernel(name, {.start = device,
                        .duration = 10'000,
                        .correlation = correlation,
                        .args = std::move(args)});
      }
      device += 11'000;
    }
    host += 3'000;
  };
  for (int64_t step = 0; step < run.steps; ++step) {
    launch("cudaGraphLaunch", run.nodes);
    for (int64_t k = 0; k < run.eager; ++k) launch("cudaLaunchKernel", 1);
    host = std::max(host, device);
  }
  b.Host("cuda_runtime", "cudaEventQuery", {.start = host + run.silence_at_end, .duration = 100});
  return std::move(b).Finish();
}

LostWork LossesOf(const Trace& trace) { return Prepare(trace, BuiltInRules()).integrity.lost; }

TEST(LostWork, WholeRecordingsLoseNothing) {
  const LostWork lost = LossesOf(Record({.silence_at_end = 10'000'000}));
  EXPECT_EQ(lost.calls, 80u);
  EXPECT_FALSE(lost.any());
  EXPECT_EQ(lost.pattern, LossPattern::kNone);
}

TEST(LostWork, OfTheFirstCalls) {
  for (const int64_t k : {1, 3, 50}) {
    const LostWork lost = LossesOf(Record({.lost = [&](int64_t i) { return i < k; }}));
    EXPECT_EQ(lost.lost_calls, static_cast<uint64_t>(k));
    EXPECT_EQ(lost.pattern, LossPattern::kStart);
    EXPECT_EQ(lost.in_doubt, DurationNs{});
  }
}

TEST(LostWork, OfTheLastCalls) {
  const auto last = [](int64_t i) { return i >= 70; };
  const LostWork lost = LossesOf(Record({.lost = last}));
  EXPECT_EQ(lost.lost_calls, 10u);
  EXPECT_EQ(lost.pattern, LossPattern::kEnd);
  // A call so shortly before the end that its work may not have run yet has lost nothing.
  const LostWork cut = LossesOf(Record({.lost = [](int64_t i) { return i == 79; }}));
  EXPECT_EQ(cut.lost_calls, 0u);
  EXPECT_EQ(cut.cut_off, 1u);
  const LostWork late =
      LossesOf(Record({.lost = [](int64_t i) { return i == 79; }, .silence_at_end = 10'000'000}));
  EXPECT_EQ(late.lost_calls, 1u);
}

TEST(LostWork, OfAllReplaysButEveryEighth) {
  const LostWork lost =
      LossesOf(Record({.lost = [](int64_t i) { return i % 2 == 0 && (i / 2) % 8 != 0; }}));
  EXPECT_EQ(lost.lost_calls, 35u);
  EXPECT_EQ(lost.pattern, LossPattern::kAllButOneIn);
  EXPECT_EQ(lost.one_in, 8u);
  ASSERT_EQ(lost.apis.size(), 1u);
  EXPECT_EQ(lost.apis[0].name, "cudaGraphLaunch");
  EXPECT_EQ(lost.apis[0].calls, 40u);
  EXPECT_GT(lost.in_doubt, DurationNs{1'000'000});
}

TEST(LostWork, OfAllGraphsAndOfSome) {
  EXPECT_EQ(LossesOf(Record({.lost = [](int64_t i) { return i >= 20 && i < 27; }})).pattern,
            LossPattern::kInARow);
  EXPECT_EQ(LossesOf(Record({.lost = [](int64_t i) { return i % 2 == 0; }})).pattern,
            LossPattern::kAllGraphs);
  EXPECT_EQ(
      LossesOf(Record({.lost = [](int64_t i) { return i == 7 || i == 12 || i == 13; }})).pattern,
      LossPattern::kSpread);
}

TEST(LostWork, OfGraphsThatLackNodes) {
  const auto first_five = [](int64_t launch, int64_t node) { return launch == 0 && node < 3; };
  for (const bool ids : {false, true}) {
    const LostWork lost = LossesOf(Record({.lost_node = first_five, .node_ids = ids}));
    EXPECT_EQ(lost.partial_graphs, 1u);
    EXPECT_EQ(lost.lost_events, 3u);
    EXPECT_EQ(lost.pattern, LossPattern::kStart);
  }
  // With node ids every hole is found, even if no replay is complete.
  const LostWork holes = LossesOf(
      Record({.lost_node = [](int64_t launch, int64_t node) { return (launch / 2) % 5 == node; },
              .node_ids = true}));
  EXPECT_EQ(holes.partial_graphs, 40u);
  EXPECT_EQ(holes.lost_calls, 8u);
  EXPECT_EQ(holes.lost_events, 48u);
}

TEST(LostWork, IsNotWhatOtherGraphsHaveLess) {
  TraceBuilder b;
  int64_t at = 0, correlation = 0;
  for (int step = 0; step < 6; ++step) {
    // A model's first and last pieces, larger pieces between them, and the single layer of a draft
    // model.
    for (const int pieces : {2, 4, 4, 4, 3, 1}) {
      b.Host("cuda_runtime", "cudaGraphLaunch",
             {.start = at, .duration = 10, .correlation = ++correlation});
      for (int i = 0; i < pieces; ++i) {
        b.Kernel(i % 2 == 0 ? "gemm" : "norm",
                 {.start = at + 20 + 10 * i, .duration = 10, .correlation = correlation});
      }
      at += 100;
    }
  }
  EXPECT_FALSE(LossesOf(std::move(b).Finish()).any());
}

TEST(LostWork, IsNotWhatHasNoRowByNature) {
  TraceBuilder b;
  const auto call = [&](std::string_view name, int64_t at, int64_t correlation, bool row,
                        TraceBuilder::Arguments args = {}) {
    b.Host("cuda_runtime", name,
           {.start = at, .duration = 50, .correlation = correlation, .args = std::move(args)});
    if (row) b.Kernel("k", {.start = at + 60, .duration = 10, .correlation = correlation});
  };
  call("cudaLaunchKernel", 0, 1, true);
  call("cudaStreamBeginCapture_v10000", 100, 2, false);
  call("cudaLaunchKernel", 200, 3, false);
  call("cudaMemcpyAsync", 300, 4, false);
  call("cudaStreamEndCapture", 400, 5, false);
  call("cudaLaunchKernel", 500, 6, false, {{"return value", "700"}});
  call("cudaMemsetAsync", 600, 7, false);
  call("cudaLaunchHostFunc", 700, 8, false);
  call("cudaGraphAddMemcpyNode", 800, 9, false);
  call("cudaLaunchKernel", 900, 10, true);
  b.Host("cuda_driver", "cuLaunchKernel", {.start = 910, .duration = 20, .correlation = 11});
  call("cudaLaunchKernel", 100'000, 12, true);
  const LostWork lost = LossesOf(std::move(b).Finish());
  EXPECT_FALSE(lost.any());
  EXPECT_EQ(lost.captured, 2u);
  EXPECT_EQ(lost.failed, 1u);
}

// A capture may begin before the recording, or end after it.
TEST(LostWork, IsNotWhatACaptureAtTheEdgeHolds) {
  TraceBuilder b;
  int64_t at = 0;
  for (const std::string_view name :
       {"cudaLaunchKernel", "cudaStreamEndCapture", "cudaLaunchKernel", "cudaStreamBeginCapture",
        "cudaLaunchKernel"}) {
    b.Host("cuda_runtime", name, {.start = at, .duration = 5, .correlation = at + 1});
    if (at == 200) b.Kernel("k", {.start = 210, .duration = 10, .correlation = at + 1});
    at += 100;
  }
  b.Host("cpu_op", "aten::empty", {.start = 1'000'000, .duration = 1});
  const LostWork lost = LossesOf(std::move(b).Finish());
  EXPECT_FALSE(lost.any());
  EXPECT_EQ(lost.captured, 2u);
}

// Autograd's thread launches the backward pass into the graph.
TEST(LostWork, IsNotWhatAnotherThreadLaunchesIntoACapture) {
  TraceBuilder b;
  const auto call = [&](std::string_view name, int64_t at, std::string_view tid, bool row) {
    b.Host("cuda_runtime", name, {.tid = tid, .start = at, .duration = 5, .correlation = at + 1});
    if (row) b.Kernel("k", {.start = at + 6, .duration = 10, .correlation = at + 1});
  };
  for (int64_t at = 0; at < 1'000; at += 100) call("cudaLaunchKernel", at, "1", true);
  call("cudaStreamBeginCapture", 1'000, "1", false);
  for (int64_t at = 1'100; at < 2'000; at += 100) call("cudaLaunchKernel", at, "2", false);
  call("cudaStreamEndCapture", 2'000, "1", false);
  for (int64_t at = 2'100; at < 4'000; at += 100) call("cudaLaunchKernel", at, "2", true);
  const LostWork lost = LossesOf(std::move(b).Finish());
  EXPECT_FALSE(lost.any());
  EXPECT_EQ(lost.captured, 9u);
}

// Whatever is lost between two pieces of work, busy time is a lower bound. Idle time is either
// unknown, or wrong by no more than the doubtful time.
TEST(LostWork, BoundsWhatItMakesWrong) {
  std::mt19937 random(7);
  const Trace whole = Record({});
  const DeviceTime right = DeviceTimesOf(Prepare(whole, BuiltInRules())).front();
  for (int round = 0; round < 300; ++round) {
    const double share = std::uniform_real_distribution(0.0, 0.3)(random);
    std::vector<bool> lost(80);
    for (size_t i = 0; i < lost.size(); ++i)
      lost[i] = std::uniform_real_distribution(0.0, 1.0)(random) < share;
    const Trace trace = Record({.lost = [&](int64_t i) { return lost[static_cast<size_t>(i)]; }});
    const PreparedTrace prepared = Prepare(trace, BuiltInRules());
    const LostWork& found = prepared.integrity.lost;
    const auto count = static_cast<uint64_t>(std::ranges::count(lost, true));
    EXPECT_EQ(found.lost_calls + found.cut_off, count);
    const std::vector<DeviceTime> times = DeviceTimesOf(prepared);
    if (times.empty()) continue;
    EXPECT_LE(times.front().busy, right.busy);
    if (!times.front().whole || found.at_edges()) continue;
    EXPECT_LE(times.front().idle - right.idle, found.in_doubt);
  }
}

// Kernels of 50 us on stream 7, one each ms, plus what `add` adds.
Trace WithKernels(const std::function<void(TraceBuilder&)>& add) {
  TraceBuilder b;
  for (int64_t i = 0; i < 20; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 1'000'000 * i, .duration = 3'000, .correlation = i + 1});
    b.Kernel("gemm", {.start = 1'000'000 * i + 9'000, .duration = 50'000, .correlation = i + 1});
  }
  add(b);
  return std::move(b).Finish();
}

// The missing work may have run since its launch, beside the recorded work of another stream.
TEST(LostWork, OfTheEndIsInDoubt) {
  const Trace trace = WithKernels([](TraceBuilder& b) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 18'700'000, .duration = 3'000, .correlation = 29});
    b.Kernel("long", {.start = 18'709'000, .duration = 800'000, .correlation = 29});
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 19'590'000, .duration = 3'000, .correlation = 30});
    b.Host("cuda_runtime", "cudaMemcpyAsync",
           {.start = 19'600'000, .duration = 3'000, .correlation = 31});
    b.Memcpy("Memcpy DtoH",
             {.stream = "20", .start = 20'280'000, .duration = 10'000, .correlation = 31});
  });
  const PreparedTrace prepared = Prepare(trace, BuiltInRules());
  const LostWork& lost = prepared.integrity.lost;
  EXPECT_FALSE(lost.any());  // the copy did not wait for the missing work
  EXPECT_EQ(lost.cut_off, 1u);
  EXPECT_EQ(lost.in_doubt, DurationNs{20'290'000 - 19'590'000});
  EXPECT_FALSE(DeviceTimesOf(prepared).front().whole);
}

// Kernels of 50 us, one each ms. The last `gone` have no row. The first launch takes `first` ns.
LostWork WithoutTheLast(int64_t gone, int64_t first,
                        const std::function<void(TraceBuilder&)>& add) {
  TraceBuilder b;
  b.Host("cuda_runtime", "cudaLaunchKernel",
         {.start = -first, .duration = first, .correlation = 100});
  b.Kernel("gemm", {.start = 1'000, .duration = 50'000, .correlation = 100});
  for (int64_t i = 1; i < 20; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 1'000'000 * i, .duration = 3'000, .correlation = 100 + i});
    if (i < 20 - gone)
      b.Kernel("gemm",
               {.start = 1'000'000 * i + 9'000, .duration = 50'000, .correlation = 100 + i});
  }
  add(b);
  return Prepare(std::move(b).Finish(), BuiltInRules()).integrity.lost;
}

// The stream had no work left, so the launched work ran, or at least began, long before the
// recording ended.
TEST(LostWork, OfTheEndIsNotCutOffWhereItsTurnWasOver) {
  const LostWork lost = WithoutTheLast(3, 3'000, [](TraceBuilder&) {});
  EXPECT_EQ(lost.pattern, LossPattern::kEnd);
  EXPECT_EQ(lost.lost_calls, 3u);
  EXPECT_EQ(WithoutTheLast(1, 3'000, [](TraceBuilder&) {}).cut_off, 1u);
}

// The first launch loads the module, which takes longer than everything else.
TEST(LostWork, OfTheEndIsNotHiddenByASlowFirstLaunch) {
  EXPECT_EQ(WithoutTheLast(3, 180'000'000, [](TraceBuilder&) {}).lost_calls, 3u);
}

TEST(LostWork, OfTheEndIsNotCutOffBeforeACallThatWaitedForTheDevice) {
  const LostWork lost = WithoutTheLast(1, 3'000, [](TraceBuilder& b) {
    b.Host("cuda_runtime", "cudaDeviceSynchronize", {.start = 19'010'000, .duration = 60'000});
  });
  EXPECT_EQ(lost.cut_off, 0u);
  EXPECT_EQ(lost.lost_calls, 1u);
}

// Waits for the only stream prove the same. The last of them alone may have been for a stream
// without a row. A long wait at another time, as of a collective for its ranks, hides nothing.
TEST(LostWork, OfTheEndIsNotCutOffBeforeCallsThatWaitedForTheOnlyStream) {
  const auto syncs = [](int64_t count) {
    return [count](TraceBuilder& b) {
      for (int64_t i = 20 - count; i < 20; ++i)
        b.Host("cuda_runtime", "cudaStreamSynchronize",
               {.start = 1'000'000 * i + 10'000, .duration = 60'000});
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.start = 18'000, .duration = 2'000, .correlation = 99});
      b.Kernel("all_reduce", {.start = 70'000, .duration = 900'000'000, .correlation = 99});
    };
  };
  EXPECT_EQ(WithoutTheLast(4, 3'000, syncs(0)).cut_off, 4u);
  EXPECT_EQ(WithoutTheLast(4, 3'000, syncs(4)).lost_calls, 4u);
  EXPECT_EQ(WithoutTheLast(1, 3'000, syncs(1)).cut_off, 1u);
}

// The kernels of one prefill take a hundred times as long as those of any decode, under the same
// operator. So the recorded kernels give no bound.
TEST(LostWork, IsBoundByOrderAndWaitsAlone) {
  TraceBuilder b;
  for (int64_t i = 0; i < 30; ++i) {
    const int64_t at = 1'000'000 * i;
    b.Host("cpu_op", "aten::mm", {.start = at, .duration = 9'000});
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = at + 1'000, .duration = 3'000, .correlation = i + 1});
    if (i != 15) b.Kernel("gemm", {.start = at + 9'000, .duration = 10'000, .correlation = i + 1});
    b.Host("cuda_runtime", "cudaDeviceSynchronize",
           {.start = at + 10'000, .duration = i == 15 ? 900'000 : 12'000});
  }
  const PreparedTrace prepared = Prepare(std::move(b).Finish(), BuiltInRules());
  EXPECT_EQ(prepared.integrity.lost.lost_calls, 1u);
  EXPECT_EQ(prepared.integrity.lost.in_doubt, DurationNs{10'000 + 900'000 - 1'000});
  EXPECT_FALSE(DeviceTimesOf(prepared).front().whole);
}

// If nothing in the trace is like the missing work, its duration is unknown.
TEST(LostWork, OfOperatorsThatHaveNoWorkAtAllMayHaveRunAnyTime) {
  const Trace trace = WithKernels([](TraceBuilder& b) {
    for (int64_t i = 2; i < 18; ++i) {
      b.Host("cpu_op", "nccl::all_reduce", {.start = 1'000'000 * i + 100'000, .duration = 9'000});
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.start = 1'000'000 * i + 101'000, .duration = 3'000, .correlation = 100 + i});
    }
  });
  const PreparedTrace prepared = Prepare(trace, BuiltInRules());
  EXPECT_EQ(prepared.integrity.lost.lost_calls, 16u);
  EXPECT_GT(prepared.integrity.lost.in_doubt, DurationNs{10'000'000});
  EXPECT_FALSE(DeviceTimesOf(prepared).front().whole);
}

// The first replay is of a smaller graph, which is not the beginning or the end of the larger one.
TEST(LostWork, IsNotWhatTheFirstGraphHasLess) {
  TraceBuilder b;
  for (int64_t i = 0; i < 8; ++i) {
    b.Host("cuda_runtime", "cudaGraphLaunch",
           {.start = 1'000'000 * i, .duration = 9'000, .correlation = i + 1});
    int64_t at = 1'000'000 * i + 20'000;
    for (const std::string_view name : {"gemm", "reduce", "norm"}) {
      if (i == 0 && name == "reduce") continue;
      b.Kernel(name, {.start = at, .duration = 10'000, .correlation = i + 1});
      at += 11'000;
    }
  }
  EXPECT_FALSE(LossesOf(std::move(b).Finish()).any());
}

// Each process numbers its nodes on its own.
TEST(LostWork, IsNotWhatAGraphOfAnotherProcessHasMore) {
  TraceBuilder b;
  for (int64_t i = 0; i < 8; ++i) {
    const bool first = i % 2 == 0;
    const std::string_view pid = first ? "1" : "2", device = first ? "0" : "1";
    b.Host("cuda_runtime", "cudaGraphLaunch",
           {.pid = pid, .start = 1'000'000 * i, .duration = 9'000, .correlation = i + 1});
    for (int64_t node = 0; node < (first ? 3 : 2); ++node) {
      const std::string id = std::to_string(node + 1);
      b.Kernel("gemm", {.device = device,
                        .start = 1'000'000 * i + 20'000 + 11'000 * node,
                        .duration = 10'000,
                        .correlation = i + 1,
                        .args = {{"graph node id", id}}});
    }
  }
  EXPECT_FALSE(LossesOf(std::move(b).Finish()).any());
}

}  // namespace
}  // namespace tacho
