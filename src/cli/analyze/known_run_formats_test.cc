// One simulated run, written as Kineto's JSON and as an export of Nsight Systems, gives the same
// results, field by field. The test is here because it needs the simulator, the readers and the
// reports.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "cli/analyze/known_run_for_test.h"
#include "report/json/analyze_json.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

// What only one of the formats says, or says in its own words.
struct FormatDifference {
  const char* field;  // an expression for fields of the results; # is any index
  const char* reason;
};
constexpr FormatDifference kFormatDifferences[] = {
    {"/traces/#/format", "that is the difference"},
    {"/traces/#/base_time_ns", "Kineto counts from a quarter of a year, nsys from its start"},
    {"/traces/#/events/(total|by_phase/.*)",
     "Kineto has flows and metadata as events, nsys has tables"},
    {"/traces/#/events/by_category/gpu_user_annotation",
     "Kineto draws annotations on the device, nsys does not"},
    {"/traces/#/events/by_category/cuda_sync", "nsys records waits also as work of the device"},
    {"/traces/#/facts/(backend|nccl_version|process_groups|cuda_runtime_version)",
     "torch writes its distributedInfo, and the versions, into Kineto's header"},
    {"(/traces/#|/ranks)/world_size", "of the same"},
    {"/traces/#/rank", "of the same; with TP ranks their processes' names tell it too"},
    {"/ranks/(in_all|with_trace)", "how many ranks there are is unknown with the world size"},
    {"/traces/#/engine_version", "vLLM stamps it into the files of its profiler"},
    {"/traces/#/trace_id", "torch writes it"},
    {"/traces/#/facts/cannot_tell/#", "stacks: Kineto says that they were off, nsys never has any"},
};

bool IsTime(const std::string& field) {
  return field.ends_with("start_ns") || field.ends_with("/first_ns") || field.ends_with("/last_ns");
}

// Which trace counts the time of `field`; none if the field is no time.
std::optional<size_t> TraceOfTime(const Json& results, const std::string& field) {
  if (!IsTime(field)) return std::nullopt;
  if (field.starts_with("/traces/")) return std::stoul(field.substr(8));
  if (!field.starts_with("/findings/")) return std::nullopt;
  const Json& path = results.at(Json::json_pointer(field).parent_pointer() / "path");
  size_t trace = 0;
  while (results["traces"].at(trace)["path"] != path) ++trace;
  return trace;
}

// The results of a run: every figure by its path. Times count from the Unix epoch.
Json FiguresOf(const RunAnalysis& run) {
  const Json results = Json::parse(AnalyzeJson(run, "1"));
  Json figures = results.flatten();
  for (const auto& [field, value] : figures.items()) {
    if (const auto trace = TraceOfTime(results, field))
      value = value.get<int64_t>() + results["traces"][*trace]["base_time_ns"].get<int64_t>();
  }
  return figures;
}

class KnownRunFormats : public ::testing::Test {
 protected:
  void ExpectSameResults(const simulate::KnownRun& run) {
    const Json kineto = FiguresOf(AnalyzeKnownRun(run));
    const Json nsys = FiguresOf(AnalyzeKnownTraces(ReadKnownExport(run)));
    EXPECT_GT(nsys.size(), 1'000U);
    for (const auto& [field, value] : kineto.items()) {
      const auto other = nsys.find(field);
      if (other == nsys.end() || *other != value)
        ExpectReason(field, value.dump(), other == nsys.end() ? "absent" : other->dump());
    }
    for (const auto& [field, value] : nsys.items()) {
      if (!kineto.contains(field)) ExpectReason(field, "absent", value.dump());
    }
  }

  void ExpectReason(const std::string& field, const std::string& kineto, const std::string& nsys) {
    const std::string general = std::regex_replace(field, std::regex("/[0-9]+(?=/|$)"), "/#");
    for (const FormatDifference& difference : kFormatDifferences) {
      if (!std::regex_match(general, std::regex(difference.field))) continue;
      seen_.insert(difference.field);
      return;
    }
    ADD_FAILURE() << field << " is " << kineto << " by Kineto, " << nsys << " by nsys";
  }

  std::set<std::string> seen_;  // the differences that were found
};

TEST_F(KnownRunFormats, GiveTheSameResults) {
  struct Case {
    const char* change;
    int64_t ranks;
    simulate::SimulatedEngine engine;
  };
  for (const Case& known : {Case{"", 2, simulate::SimulatedEngine::kVllm},
                            Case{"eager", 1, simulate::SimulatedEngine::kVllm},
                            Case{"late-rank@1:300us", 2, simulate::SimulatedEngine::kSglang},
                            Case{"fused@rope", 1, simulate::SimulatedEngine::kSglang}}) {
    SCOPED_TRACE(std::string(NameOf(known.engine)) + " " + known.change);
    simulate::KnownRunOptions options;
    options.engine = known.engine;
    options.ranks = known.ranks;
    options.steps = 40;
    if (*known.change != 0) options.changes = {*simulate::ParseChange(known.change)};
    ExpectSameResults(*MakeKnownRun(options));
  }
  for (const FormatDifference& difference : kFormatDifferences) {
    EXPECT_TRUE(seen_.contains(difference.field))
        << difference.field << " is no difference: " << difference.reason;
  }
}

}  // namespace
}  // namespace tacho
