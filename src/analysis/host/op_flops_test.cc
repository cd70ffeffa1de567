#include "analysis/host/op_flops.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/trace_builder.h"

namespace tacho {
namespace {

struct OpCall {
  std::string name, dims, inputs = {};
};

OpTable Tabulated(const std::vector<OpCall>& calls) {
  TraceBuilder b;
  int64_t start = 0;
  for (const OpCall& call : calls) {
    TraceBuilder::Arguments args;
    if (!call.dims.empty()) args.emplace_back("Input Dims", call.dims);
    if (!call.inputs.empty()) args.emplace_back("Concrete Inputs", call.inputs);
    b.Host("cpu_op", call.name, {.start = start += 20, .duration = 10, .args = args});
  }
  const Trace trace = std::move(b).Finish();
  const LaunchLinks links = LinkLaunches(trace);
  OpTable table = TabulateOps(TrackIndex(trace), links);
  table.key_averages = AverageByKey(TrackIndex(trace), links);
  return table;
}

std::optional<int64_t> FlopsOf(const std::vector<OpCall>& calls) {
  const OpTable table = Tabulated(calls);
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].flops, table.key_averages.rows[0].flops);
  return table.rows[0].flops;
}

TEST(OpFlops, FollowPyTorchsFormulas) {
  EXPECT_EQ(FlopsOf({{"aten::mm", "[[6, 4], [4, 9]]"}}), 2 * 6 * 4 * 9);
  EXPECT_EQ(FlopsOf({{"aten::addmm", "[[9], [6, 4], [4, 9], [], []]"}}), 2 * 6 * 4 * 9);
  EXPECT_EQ(FlopsOf({{"aten::bmm", "[[3, 6, 4], [3, 4, 9]]"}}), 3 * 2 * 6 * 4 * 9);
  EXPECT_EQ(FlopsOf({{"aten::baddbmm", "[[3,6,9],[3,6,4],[3,4,9],[],[]]"}}), 3 * 2 * 6 * 4 * 9);
  EXPECT_EQ(FlopsOf({{"aten::mul", "[[6, 4], []]"}}), 24);
  EXPECT_EQ(FlopsOf({{"aten::mul", "[[], [6, 4]]"}}), 1);
  EXPECT_EQ(FlopsOf({{"aten::add", "[[1, 4], [6, 4], []]"}}), 4);
  EXPECT_EQ(FlopsOf({{"aten::mm", "[[3, 0], [0, 2]]"}}), 0);
  // Stride 2 x 1, padding 1 x 2 and two groups.
  EXPECT_EQ(FlopsOf({{"aten::conv2d", "[[2, 6, 17, 13], [8, 3, 3, 5], [], [], [], [], []]",
                      R"(["", "", "", "[2, 1]", "[1, 2]", "[1, 1]", "2"])"}}),
            2 * 2 * 9 * 13 * 3 * 5 * 6 * 8 / 2);
}

TEST(OpFlops, AddUpByNameAndByShape) {
  const OpTable table = Tabulated({{"aten::mm", "[[6, 4], [4, 9]]"},
                                   {"aten::mm", "[[6, 4], [4, 9]]"},
                                   {"aten::mm", "[[2, 2], [2, 2]]"},
                                   {"aten::relu", "[[2, 2]]"}});
  EXPECT_EQ(table.rows[0].flops, 2 * 432 + 16);
  EXPECT_EQ(table.rows[1].flops, std::nullopt);
  ASSERT_EQ(table.by_shape.size(), 3u);
  EXPECT_EQ(table.by_shape[0].flops, 2 * 432);
}

TEST(OpFlops, AreAbsentWhereACallDoesNotTellWhatTheyNeed) {
  EXPECT_EQ(FlopsOf({{"aten::mm", ""}}), std::nullopt);
  EXPECT_EQ(FlopsOf({{"aten::mm", "[[6, 4], [4, 9]]"}, {"aten::mm", ""}}), std::nullopt);
  EXPECT_EQ(FlopsOf({{"aten::mm", ""}, {"aten::mm", "[[6, 4], [4, 9]]"}}), std::nullopt);
  EXPECT_EQ(FlopsOf({{"aten::conv2d", "[[2, 6, 17, 13], [8, 3, 3, 5]]"}}), std::nullopt);
  EXPECT_EQ(FlopsOf({{"aten::conv2d", "[[2, 6, 17, 13], [8, 3, 3, 5]]",
                      R"(["", "", "", "[0, 1]", "[1, 2]", "[1, 1]", "2"])"}}),
            std::nullopt);
  EXPECT_EQ(FlopsOf({{"aten::conv2d", "[[2, 6, 1, 1], [8, 3, 3, 5]]",
                      R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"])"}}),
            std::nullopt);
}

TEST(OpFlops, HostileShapesHaveNone) {
  for (const std::string_view dims :
       {"[[9223372036854775807, 2], [2, 9223372036854775807]]", "[[-6, 4], [4, 9]]", "[", "[[",
        "[[[2, 2]], [[2, 2]]]", "7", "[[2, 2]", "[[99999999999999999999, 1], [1, 1]]",
        "[[2.5, 1], [1, 1]]"}) {
    EXPECT_EQ(FlopsOf({{"aten::mm", std::string(dims)}}), std::nullopt) << dims;
  }
  for (const std::string_view inputs :
       {"[", "\"", "[\"\", \"\", \"\", \"[1, 1]", "[\"\",\"\",\"\",\"]\",\"[\",\"\",\"\"]",
        "[\"\",\"\",\"\",\"[1,1]\",\"[9223372036854775807,0]\",\"[1,1]\",\"1\"]"}) {
    EXPECT_EQ(FlopsOf({{"aten::conv2d", "[[2, 6, 17, 13], [8, 3, 3, 5]]", std::string(inputs)}}),
              std::nullopt)
        << inputs;
  }
}

TEST(KeyAverages, MemoryIsThatOfTheTimeOfACallOnAnyThread) {
  TraceBuilder b;
  const auto allocate = [&](int64_t at, const char* bytes, const char* device) {
    b.Instant("[memory]", at, {{"Bytes", bytes}, {"Device Type", device}});
  };
  b.Host("cpu_op", "outer", {.start = 0, .duration = 100});
  b.Host("cpu_op", "inner", {.start = 20, .duration = 30});
  allocate(20, "1000", "0");  // at the start of `inner`: both ends count
  allocate(50, "-400", "0");
  allocate(60, "8", "0");
  allocate(70, "5000", "1");
  allocate(200, "-600", "0");
  const Trace trace = std::move(b).Finish();
  const KeyAverages averages = AverageByKey(TrackIndex(trace), LinkLaunches(trace));
  const auto memory = [&](std::string_view name) {
    const auto row = std::ranges::find(averages.rows, name, &OpRow::name);
    EXPECT_TRUE(row != averages.rows.end() && row->memory) << name;
    return row->memory.value_or(MemoryUse{});
  };
  EXPECT_EQ(memory("outer").cpu_total, 608);
  EXPECT_EQ(memory("outer").cpu_self, 8);
  EXPECT_EQ(memory("outer").device_total, 5000);
  EXPECT_EQ(memory("inner").cpu_self, 600);
  EXPECT_EQ(memory("inner").device_self, 0);
  EXPECT_EQ(memory("[memory]").cpu_total, -600);
}

}  // namespace
}  // namespace tacho
