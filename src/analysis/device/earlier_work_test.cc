#include "analysis/device/earlier_work.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

// A trace that starts at 0. The first work of stream 7 is launched at 1 ms and runs at 101 ms.
TraceBuilder Backlog() {
  TraceBuilder b;
  b.Host("python_function", "run", {.start = 0, .duration = 200 * kNsPerMs});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = kNsPerMs, .duration = 10, .correlation = 1});
  b.Kernel("gemm", {.start = 101 * kNsPerMs, .duration = kNsPerMs, .correlation = 1});
  return b;
}

int64_t Unseen(TraceBuilder&& b, const Scope& scope = {}) {
  const Trace trace = std::move(b).Finish();
  return MayBeBusyWithEarlierWork(TrackIndex(trace), LinkLaunches(trace), scope).ns;
}

TEST(EarlierWork, HoldsUpTheFirstWorkOfAStream) {
  EXPECT_EQ(Unseen(Backlog()), 100 * kNsPerMs - 10);
  Scope window;
  window.window = Interval{{51 * kNsPerMs}, {200 * kNsPerMs}};
  EXPECT_EQ(Unseen(Backlog(), window), 50 * kNsPerMs);
  Scope other;
  other.device = "1";
  EXPECT_EQ(Unseen(Backlog(), other), 0);
  // Time in which the trace shows work of the device does not count, and no time counts for two
  // streams.
  TraceBuilder b = Backlog();
  b.Kernel("unlinked", {.stream = "9", .start = 20 * kNsPerMs, .duration = 30 * kNsPerMs});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = kNsPerMs, .duration = 10, .correlation = 2});
  b.Kernel("copy", {.stream = "8", .start = 100 * kNsPerMs, .duration = 10, .correlation = 2});
  EXPECT_EQ(Unseen(std::move(b)), 70 * kNsPerMs - 10 - 10);
}

TEST(EarlierWork, NeedsItsEvidence) {
  EXPECT_EQ(Unseen(TraceBuilder()), 0);
  TraceBuilder quick;  // a normal launch latency
  quick.Host("cuda_runtime", "cudaLaunchKernel", {.start = 0, .duration = 10, .correlation = 1});
  quick.Kernel("gemm", {.start = kNsPerMs / 2, .duration = kNsPerMs, .correlation = 1});
  EXPECT_EQ(Unseen(std::move(quick)), 0);
  TraceBuilder unlinked;
  unlinked.Host("python_function", "run", {.start = 0, .duration = 200 * kNsPerMs});
  unlinked.Kernel("gemm", {.start = 101 * kNsPerMs, .duration = kNsPerMs});
  EXPECT_EQ(Unseen(std::move(unlinked)), 0);
  TraceBuilder late;  // work launched this late is not held up by work from before the recording
  late.Host("python_function", "run", {.start = 0, .duration = 900 * kNsPerMs});
  late.Host("cuda_runtime", "cudaLaunchKernel",
            {.start = 500 * kNsPerMs, .duration = 10, .correlation = 1});
  late.Kernel("gemm", {.start = 600 * kNsPerMs, .duration = kNsPerMs, .correlation = 1});
  EXPECT_EQ(Unseen(std::move(late)), 0);
}

TEST(EarlierWork, AnEventOfTheTraceMayBeWhatItWaitsFor) {
  TraceBuilder waits = Backlog();
  waits.Host("cuda_runtime", "cudaStreamWaitEvent", {.start = kNsPerMs / 2, .duration = 10});
  EXPECT_EQ(Unseen(std::move(waits)), 100 * kNsPerMs - 10) << "recorded before the trace began";
  TraceBuilder both = Backlog();
  both.Host("cuda_runtime", "cudaEventRecord", {.start = kNsPerMs / 4, .duration = 10});
  both.Host("cuda_runtime", "cudaStreamWaitEvent", {.start = kNsPerMs / 2, .duration = 10});
  EXPECT_EQ(Unseen(std::move(both)), 0);
}

}  // namespace
}  // namespace tacho
