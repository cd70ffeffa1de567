#include "run/run_in_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;

TEST(FindInFlight, BesideTheTracesOfARunFolder) {
  const FolderForTest folder;
  const std::string told = folder.Write(
      "run/run.json",
      R"({"workers": [{"name": "w0"}, {"name": "w1", "in_flight": {"uncertainty_ns": 5, "unix_ns": [[100, 200]]}}]})");
  const std::vector<TraceSource> traces = {
      {.path = folder.Write("run/traces/w0/a.json", "{}"), .member = ""},
      {.path = folder.Write("run/traces/w1/stage/b.json", "{}"), .member = ""},
      {.path = folder.Write("run/traces/w2/c.json", "{}"), .member = ""},
      {.path = folder.Write("elsewhere/w1/d.json", "{}"), .member = ""},
      {.path = folder.Write("none/traces/w1/e.json", "{}"), .member = ""}};
  const auto found = FindInFlight(traces, std::nullopt);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->first, traces[1].path);
  EXPECT_EQ(found.begin()->second.uncertainty.ns, 5);

  RunInFlight given;
  given["w0"] = WorkerInFlight{IntervalSet({{{1}, {2}}, {{3}, {4}}}), {7}};
  const auto from_record = FindInFlight({traces[0], traces[1]}, given);
  ASSERT_EQ(from_record.size(), 1u);
  EXPECT_EQ(from_record.begin()->second.uncertainty.ns, 7);
}

TEST(InFlightOfRunJson, DamageTellsNothing) {
  for (const char* text : {"", "[]", "{", R"({"workers": 1})", R"({"workers": []})"}) {
    EXPECT_TRUE(InFlightOfRunJson(text).empty()) << text;
  }
  const auto of_worker = [](const std::string& in_flight, const std::string& name = R"("w0")") {
    return InFlightOfRunJson(R"({"workers": [1, {"name": )" + name + R"(, "in_flight": )" +
                             in_flight + "}]}");
  };
  const std::string good = R"({"uncertainty_ns": 1, "unix_ns": [[1, 2]]})";
  EXPECT_EQ(of_worker(good).size(), 1u);
  EXPECT_TRUE(of_worker(good, "1").empty());
  for (const char* damaged :
       {"1", R"({"uncertainty_ns": -1, "unix_ns": []})", R"({"uncertainty_ns": 1})",
        R"({"uncertainty_ns": 18446744073709551615, "unix_ns": []})",
        R"({"uncertainty_ns": 1, "unix_ns": [1]})",
        R"({"uncertainty_ns": 1, "unix_ns": [[1, 2, 3]]})",
        R"({"uncertainty_ns": 1, "unix_ns": [[1, "2"]]})",
        R"({"uncertainty_ns": 1, "unix_ns": [[2, 1]]})",
        R"({"uncertainty_ns": 1, "unix_ns": [[-9223372036854775808, 1]]})"}) {
    EXPECT_TRUE(of_worker(damaged).empty()) << damaged;
  }
}

TEST(OnClockOf, IsWiderByTheUncertainty) {
  TraceBuilder builder;
  builder.Kernel("k", {.start = 0, .duration = 1000});
  builder.header().base_time_ns = 5000;
  WorkerInFlight worker{IntervalSet({{{5100}, {5200}}, {{5900}, {INT64_MAX}}}), {10}};
  Trace trace = std::move(builder).Finish();
  const auto in_flight = OnClockOf(trace, worker);
  EXPECT_THAT(in_flight->when.intervals(),
              ElementsAre(Interval{{90}, {210}}, Interval{{890}, {1000}}));
  EXPECT_EQ(in_flight->uncertainty.ns, 10);
  trace.header.base_time_ns = -1;
  EXPECT_FALSE(OnClockOf(trace, worker));
}

}  // namespace
}  // namespace tacho
