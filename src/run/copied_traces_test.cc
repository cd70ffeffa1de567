#include "run/copied_traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TraceAnalysis OfRank(int64_t rank, const std::string& path, int64_t start = 100) {
  TraceAnalysis trace;
  trace.path = path;
  trace.header.base_time_ns = 1'700'000'000'000'000'000;
  trace.facts.rank = rank;
  trace.span = {{start}, {start + 900}};
  trace.counts.total = 7;
  DeviceTime& device = trace.devices.emplace_back();
  device.device = "0";
  device.window = {{start + 10}, {start + 800}};
  device.kernel_sum = DurationNs{500};
  return trace;
}

std::vector<std::string> KeptPaths(const RunAnalysis& run) {
  std::vector<std::string> paths;
  for (const TraceAnalysis& trace : run.traces) paths.push_back(trace.path);
  return paths;
}

TEST(LeaveOutCopies, KeepsTheFirstOfEachTrace) {
  RunAnalysis run;
  run.traces = {OfRank(0, "a"), OfRank(0, "b"), OfRank(1, "c"), OfRank(0, "d"), OfRank(1, "e")};
  LeaveOutCopies(run);
  EXPECT_THAT(KeptPaths(run), ElementsAre("a", "c"));
  EXPECT_THAT(run.skipped, ElementsAre("b: a copy of a", "d: a copy of a", "e: a copy of c"));
}

// Ranks of one host may have everything in common but their numbers; a part of a trace has fewer
// events, and two recordings of one rank differ in time.
TEST(LeaveOutCopies, KeepsWhatOnlyLooksAlike) {
  RunAnalysis run;
  run.traces = {OfRank(0, "a"), OfRank(1, "b"), OfRank(0, "c", 101), OfRank(0, "d"), OfRank(0, "e"),
                OfRank(0, "f"), OfRank(0, "g"), OfRank(0, "h"),      OfRank(0, "i")};
  run.traces[3].counts.total = 6;
  run.traces[4].facts.pids = {7};
  run.traces[5].devices[0].device = "1";
  run.traces[6].devices[0].kernel_sum = DurationNs{501};
  run.traces[7].header.base_time_ns = 1'600'000'000'000'000'000;
  run.traces[8].header.devices.emplace_back().name = "NVIDIA B200";
  LeaveOutCopies(run);
  EXPECT_THAT(KeptPaths(run), ElementsAre("a", "b", "c", "d", "e", "f", "g", "h", "i"));
  EXPECT_THAT(run.skipped, IsEmpty());
}

TEST(LeaveOutCopies, KeepsTheReplicasOfARecording) {
  RunAnalysis run;
  run.traces = {OfRank(0, "a.json"), OfRank(0, "run/traces/w0/a.json"),
                OfRank(0, "run/traces/w1/a.json"), OfRank(0, "run/traces/w1/b.json")};
  LeaveOutCopies(run);
  EXPECT_THAT(KeptPaths(run), ElementsAre("run/traces/w0/a.json", "run/traces/w1/a.json"));
  run.traces = {OfRank(0, "traces/a.json"), OfRank(0, "traces/b.json"),
                OfRank(0, "traces/x/a.json"), OfRank(0, "traces/y/a.json")};
  LeaveOutCopies(run);
  EXPECT_THAT(KeptPaths(run), ElementsAre("traces/a.json")) << "no folder of a worker";
}

TEST(LeaveOutCopies, KeepsTheWholeRatherThanAPartOrAPiece) {
  RunAnalysis run;
  run.traces = {OfRank(0, "a"), OfRank(0, "b"), OfRank(0, "c"), OfRank(0, "d")};
  run.traces[0].scope.window = Interval{{100}, {500}};
  run.traces[1].notes.Add(NoteId::kTruncatedJson, "");
  run.traces[1].counts.total = 3;
  run.traces[1].span.end = {300};
  run.traces[1].devices.clear();
  run.traces[2].results = "results.json";
  for (TraceAnalysis& trace : run.traces) trace.header.trace_id = "C3AB";
  LeaveOutCopies(run);
  EXPECT_THAT(KeptPaths(run), ElementsAre("d"));
  EXPECT_THAT(run.skipped,
              ElementsAre("a: a part of d", "b: a truncated copy of d", "c: a copy of d"));
}

TEST(LeaveOutCopies, TracesWithoutAnEventAreNoCopies) {
  RunAnalysis run;
  run.traces.resize(2);
  LeaveOutCopies(run);
  EXPECT_EQ(run.traces.size(), 2u);
}

}  // namespace
}  // namespace tacho
