#include "analysis/device/profiler_overhead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/trace_builder.h"

namespace tacho {
namespace {

using testing::ElementsAre;

struct OnThread {
  std::string_view pid = "5", tid = "6", rank = "";
  int64_t start = 0, end = 0;
};

void AddAt(TraceBuilder& builder, std::string_view category, std::string_view name,
           const OnThread& at) {
  builder.Host(category, name,
               {.pid = at.pid,
                .tid = at.tid,
                .start = at.start,
                .duration = at.end - at.start,
                .rank = at.rank});
}
void CallAt(TraceBuilder& builder, const OnThread& at) {
  AddAt(builder, "cuda_runtime", "cudaLaunchKernel", at);
}

// The time that a thread spent in overhead.
int64_t OverheadOn(const Trace& trace, std::string_view tid) {
  const ProfilerOverhead overhead(trace);
  EXPECT_TRUE(overhead.is_recorded());
  int64_t ns = 0;
  for (uint32_t i = 0; i < trace.words.tracks().size(); ++i) {
    if (trace.Text(trace.words.tracks()[i].tid) != tid) continue;
    for (const Interval& when : overhead.On(TrackId{i}).intervals()) ns += when.length().ns;
  }
  return ns;
}

constexpr int64_t kMicro = 1000;

TEST(ProfilerOverhead, WithoutAThreadItIsOfTheOnlyOneThatCalls) {
  TraceBuilder builder;
  CallAt(builder, {.start = 0, .end = 50 * kMicro});
  AddAt(builder, "cpu_op", "aten::mm", {.tid = "7", .start = 0, .end = 900 * kMicro});
  AddAt(builder, "overhead", "Lazy Function Loading",
        {.pid = "-1", .tid = "0", .start = 100 * kMicro, .end = 120 * kMicro});
  EXPECT_EQ(OverheadOn(std::move(builder).Finish(), "6"), 20 * kMicro);
}

TEST(ProfilerOverhead, OfSeveralThreadsItIsOfTheOneInWhoseCallItLies) {
  TraceBuilder builder;
  CallAt(builder, {.start = 0, .end = 50 * kMicro});
  CallAt(builder, {.tid = "7", .start = 40 * kMicro, .end = 90 * kMicro});
  const auto add = [&](int64_t start, int64_t end) {
    AddAt(builder, "overhead", "Activity Buffer Request",
          {.pid = "-1", .tid = "0", .start = start * kMicro, .end = end * kMicro});
  };
  add(42, 80);    // inside the call of thread 7
  add(10, 20);    // inside the call of thread 6
  add(43, 48);    // inside both calls
  add(200, 210);  // inside neither
  const Trace trace = std::move(builder).Finish();
  EXPECT_EQ(OverheadOn(trace, "6"), 10 * kMicro);
  EXPECT_EQ(OverheadOn(trace, "7"), 38 * kMicro);
}

TEST(ProfilerOverhead, ANamedThreadIsTaken) {
  TraceBuilder builder;
  CallAt(builder, {.start = 0, .end = 50 * kMicro});
  AddAt(builder, "overhead", "CUPTI Buffer flush", {.start = 10 * kMicro, .end = 20 * kMicro});
  AddAt(builder, "overhead", "CUPTI Buffer flush",
        {.tid = "9", .start = 30 * kMicro, .end = 40 * kMicro});
  EXPECT_EQ(OverheadOn(std::move(builder).Finish(), "6"), 10 * kMicro);
}

TEST(ProfilerOverhead, AFlushOfNoThreadHoldsUpNone) {
  TraceBuilder builder;
  CallAt(builder, {.start = 0, .end = 50 * kMicro});
  AddAt(builder, "overhead", "Buffer Flush",
        {.pid = "-1", .tid = "0", .start = 0, .end = 40 * kMicro});
  EXPECT_EQ(OverheadOn(std::move(builder).Finish(), "6"), 0);
}

TEST(ProfilerOverhead, RanksOfAMergedFileKeepTheirOwn) {
  TraceBuilder builder;
  CallAt(builder, {.tid = "6", .rank = "[TP00] ", .start = 0, .end = 50 * kMicro});
  CallAt(builder, {.tid = "8", .rank = "[TP01] ", .start = 0, .end = 50 * kMicro});
  AddAt(builder, "overhead", "Resource",
        {.pid = "-1", .tid = "0", .rank = "[TP01] ", .start = 10 * kMicro, .end = 40 * kMicro});
  const Trace trace = std::move(builder).Finish();
  EXPECT_EQ(OverheadOn(trace, "6"), 0);
  EXPECT_EQ(OverheadOn(trace, "8"), 30 * kMicro);
}

TEST(ProfilerOverhead, OverlapsAreVisitedByRow) {
  TraceBuilder builder;
  CallAt(builder, {.start = 0, .end = 1});
  for (const auto& [name, start, end] :
       {std::tuple("long", 0, 100), {"short", 10, 20}, {"late", 90, 120}})
    AddAt(builder, "overhead", name, {.start = start, .end = end});
  const Trace trace = std::move(builder).Finish();
  const ProfilerOverhead overhead(trace);
  std::vector<std::string> parts;
  overhead.ForEachIn(
      trace.host_calls.track[0], {TimeNs{15}, TimeNs{95}},
      [&](const ProfilerOverhead::Row& row, Interval part) {
        parts.push_back(std::string(trace.Text(row.name)) + ' ' + std::to_string(part.length().ns));
      });
  EXPECT_THAT(parts, ElementsAre("long 80", "short 5", "late 5"));
}

TEST(ProfilerOverhead, OwnersAreThoseThatNsysNames) {
  const auto owner = [](std::string_view name) {
    return OverheadOwnerName(KindOfOverhead(name).owner);
  };
  EXPECT_EQ(owner("Activity Buffer Request"), "profiler");
  EXPECT_EQ(owner("Instrumentation"), "profiler");
  EXPECT_EQ(owner("CUPTI: Resource Management"), "profiler");
  EXPECT_EQ(owner("Command Buffer Full"), "cuda");
  EXPECT_EQ(owner("Runtime Triggered Module Loading"), "cuda");
  EXPECT_EQ(owner("Driver Compiler"), "cuda");
  EXPECT_EQ(owner("TLS allocation"), "");
}

}  // namespace
}  // namespace tacho
