#include "analysis/host/gemms.h"

#include <gtest/gtest.h>

#include "analysis/roofline/gemm_roofs.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

// A trace of one call, whose device time is 1 us.
std::vector<GemmRow> RowsOf(std::string_view op, std::string_view dims, std::string_view types) {
  TraceBuilder b;
  b.Host("cpu_op", std::string(op),
         {.start = 0,
          .duration = 10,
          .args = {{"Input Dims", std::string(dims)}, {"Input type", std::string(types)}}});
  const Trace trace = std::move(b).Finish();
  GemmCollector gemms(trace);
  gemms.Add(0, DurationNs{1000});
  gemms.Add(0, DurationNs{});  // its work was lost
  return std::move(gemms).Finish();
}

TEST(Gemms, SizesAndTypesOfBothMatrices) {
  const auto rows = RowsOf("aten::addmm", "[[640], [888, 2880], [2880, 640], [], []]",
                           R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar"])");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].type, "c10::BFloat16");
  EXPECT_EQ(std::tuple(rows[0].batch, rows[0].m, rows[0].n, rows[0].k),
            std::tuple(1, 888, 640, 2880));
  EXPECT_EQ(rows[0].count, 1u);
  EXPECT_EQ(rows[0].device, DurationNs{1000});
  EXPECT_EQ(rows[0].flops, 2.0 * 888 * 640 * 2880);
  EXPECT_EQ(rows[0].bytes, 2.0 * (888 * 2880 + 2880 * 640 + 888 * 640));
}

TEST(Gemms, ABatchAndMixedTypes) {
  const auto batch = RowsOf("aten::bmm", "[[3, 4, 5], [3, 5, 6]]", R"(["float", "float"])");
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].flops, 2.0 * 3 * 4 * 5 * 6);
  EXPECT_EQ(batch[0].bytes, 4.0 * 3 * (4 * 5 + 5 * 6 + 4 * 6));
  const auto mixed = RowsOf("_C::cutlass_scaled_mm", "[[4, 6], [4, 5], [5, 6], [1], [1], []]",
                            R"(["c10::BFloat16", "c10::Float8_e4m3fn", "signed char", "float"])");
  ASSERT_EQ(mixed.size(), 1u);
  EXPECT_EQ(mixed[0].type, "c10::Float8_e4m3fn x signed char");
  EXPECT_EQ(mixed[0].bytes, 4 * 5 + 5 * 6 + 2.0 * 4 * 6) << "the product has 16 bits";
}

TEST(Gemms, WhatIsNoProductOfTwoMatricesIsLeftOut) {
  const std::string_view types = R"(["c10::BFloat16", "c10::BFloat16"])";
  EXPECT_TRUE(RowsOf("aten::mul", "[[4, 5], [5, 6]]", types).empty());
  EXPECT_TRUE(RowsOf("aten::mm", "[[4, 5], [4, 6]]", types).empty());
  EXPECT_TRUE(RowsOf("aten::mm", "[[4, 5]]", types).empty());
  EXPECT_TRUE(RowsOf("aten::bmm", "[[3, 4, 5], [2, 5, 6]]", types).empty());
  EXPECT_TRUE(RowsOf("aten::mm", "[[4, 5], [5, 6]]", R"(["c10::Float4_e2m1fn_x2", "x"])").empty());
  EXPECT_TRUE(RowsOf("aten::mm", "[[[4, 5]], [5, 6]]", types).empty());
}

TEST(GemmRoofs, TheLongerOfFlopsAndBytes) {
  const Accelerator gpu{.id = "", .flops = {1e12, 2e12}, .memory_bytes_s = 1e9};
  const auto with = [&](GemmRow row) {
    std::vector<GemmRow> rows{std::move(row)};
    AddGemmRoofs(gpu, rows);
    return rows[0].roof;
  };
  const GemmRow row{.op = "",
                    .type = "c10::Half",
                    .count = 1,
                    .device = DurationNs{4000},
                    .flops = 2e6,
                    .bytes = 1000};
  const auto roof = with(row);
  ASSERT_TRUE(roof);
  EXPECT_EQ(roof->time, DurationNs{2000});
  EXPECT_DOUBLE_EQ(roof->mfu, 0.5);
  EXPECT_DOUBLE_EQ(roof->mbu, 0.25);
  GemmRow other = row;
  other.type = "c10::Float8_e4m3fn x c10::Float8_e5m2";
  EXPECT_DOUBLE_EQ(with(other)->mfu, 0.25);
  other.type = "c10::Float8_e4m3fn x c10::Half";
  EXPECT_DOUBLE_EQ(with(other)->mfu, 0.5) << "computed in the wider type";
  other.type = "float";
  EXPECT_FALSE(with(other));
  other = row;
  other.device = DurationNs{1000};
  EXPECT_FALSE(with(other)) << "faster than the peak";
}

}  // namespace
}  // namespace tacho
