#include "text/table_pick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Table Kernels() {
  Table table{"kernels",
              {TableColumn{"name", "KERNELS"}, TableColumn{"category", "category"},
               TableColumn{"total_ns", "total", Unit::kDuration},
               TableColumn{"share", "share", Unit::kShare}, TableColumn{"", "", Unit::kBar},
               TableColumn{"bytes", "bytes", Unit::kBytes}},
              {}};
  table.Add({"a_GEMM", "gemm.dense", int64_t{2'000}, 0.5, 0.5, Cell()});
  table.Add({"norm", "norm", int64_t{30'000}, 0.4, 0.4, int64_t{2'000'000}});
  table.Add({"b_gemm", "gemm.dense", int64_t{500}, 0.1, 0.1, int64_t{10}});
  return table;
}

std::vector<std::string> NamesOf(const Table& table) {
  std::vector<std::string> names;
  for (const TableRow& row : table.rows) names.push_back(std::get<std::string>(row.cells[0]));
  return names;
}

std::vector<std::string> Picked(const std::optional<std::string>& sort,
                                const std::optional<std::string>& filter) {
  Table table = Kernels();
  const auto pick = ParseTablePick(sort, filter, {table});
  if (!pick) return {pick.error().message};
  const auto rows = PickRows(table, *pick);
  EXPECT_EQ(rows.has_value(), filter.has_value());
  if (rows) {
    EXPECT_EQ(rows->shown, table.rows.size());
    EXPECT_EQ(rows->of, 3u);
  }
  return NamesOf(table);
}

TEST(PickRows, SortsByAColumnsOwnSenseOrAsAsked) {
  EXPECT_THAT(Picked({}, {}), ElementsAre("a_GEMM", "norm", "b_gemm"));
  EXPECT_THAT(Picked("total_ns", {}), ElementsAre("norm", "a_GEMM", "b_gemm"));
  EXPECT_THAT(Picked("total_ns:asc", {}), ElementsAre("b_gemm", "a_GEMM", "norm"));
  EXPECT_THAT(Picked("name", {}), ElementsAre("a_GEMM", "b_gemm", "norm"));
  EXPECT_THAT(Picked("name:desc", {}), ElementsAre("norm", "b_gemm", "a_GEMM"));
  // Rows with equal values stay in order, and rows without a value are last either way.
  EXPECT_THAT(Picked("category", {}), ElementsAre("a_GEMM", "b_gemm", "norm"));
  EXPECT_THAT(Picked("bytes", {}), ElementsAre("norm", "b_gemm", "a_GEMM"));
  EXPECT_THAT(Picked("bytes:asc", {}), ElementsAre("b_gemm", "norm", "a_GEMM"));
}

TEST(PickRows, FiltersByTextAndByValue) {
  EXPECT_THAT(Picked({}, "gemm"), ElementsAre("a_GEMM", "b_gemm"));
  EXPECT_THAT(Picked({}, "A_g"), ElementsAre("a_GEMM"));
  EXPECT_THAT(Picked({}, "nothing"), ElementsAre());
  EXPECT_THAT(Picked({}, "gemm<128, 4>"), ElementsAre());
  EXPECT_THAT(Picked({}, "gemm<float>"), ElementsAre());
  EXPECT_THAT(Picked({}, "\"gemm<128\""), ElementsAre());
  EXPECT_THAT(Picked({}, "\"total_ns>1\""), ElementsAre());
  EXPECT_THAT(Picked({}, "\"norm\""), ElementsAre("norm"));
  EXPECT_THAT(Picked({}, "total_ns>=2us"), ElementsAre("a_GEMM", "norm"));
  EXPECT_THAT(Picked({}, "total_ns > 2000"), ElementsAre("norm"));
  EXPECT_THAT(Picked({}, "total_ns!=500"), ElementsAre("a_GEMM", "norm"));
  EXPECT_THAT(Picked({}, "share<=40%"), ElementsAre("norm", "b_gemm"));
  EXPECT_THAT(Picked({}, "share <= 40 %"), ElementsAre("norm", "b_gemm"));
  EXPECT_THAT(Picked({}, "share<0.2"), ElementsAre("b_gemm"));
  EXPECT_THAT(Picked({}, "category=norm"), ElementsAre("norm"));
  EXPECT_THAT(Picked({}, "category!=norm"), ElementsAre("a_GEMM", "b_gemm"));
  EXPECT_THAT(Picked({}, "bytes<1MB"), ElementsAre("b_gemm"));  // no value is not a small one
  EXPECT_THAT(Picked("total_ns:asc", "gemm"), ElementsAre("b_gemm", "a_GEMM"));
}

TEST(PickRows, RefusesWhatItCannotTell) {
  const auto message = [](const std::optional<std::string>& sort,
                          const std::optional<std::string>& filter) {
    const auto pick = ParseTablePick(sort, filter, {Kernels()});
    EXPECT_FALSE(pick) << sort.value_or("") << filter.value_or("");
    return pick ? "" : pick.error().message;
  };
  EXPECT_EQ(message("totl_ns", {}),
            "--sort: no column 'totl_ns' here, did you mean 'total_ns'?; the columns are: name, "
            "category, total_ns, share, bytes");
  EXPECT_THAT(message("x\x1b[31m", {}), HasSubstr("no column 'x\\x1b[31m' here; the columns"));
  EXPECT_THAT(message("total_ns:up", {}), HasSubstr("'up' is not a direction"));
  EXPECT_THAT(message("", {}), HasSubstr("no column ''"));
  EXPECT_THAT(message({}, ""), HasSubstr("needs a text"));
  EXPECT_THAT(message({}, "totl_ns>3"), HasSubstr("did you mean 'total_ns'"));
  EXPECT_THAT(message({}, "totl_ns > 1ms"), HasSubstr("did you mean 'total_ns'"));
  EXPECT_THAT(message({}, "gemm<128"), HasSubstr("no column 'gemm' here; the columns are"));
  EXPECT_THAT(message({}, "calls=50%"), HasSubstr("no column 'calls'"));
  EXPECT_EQ(message({}, "totl_ns>3kB"),
            "--filter: no column 'totl_ns' here, did you mean 'total_ns'?; the columns are: name, "
            "category, total_ns, share, bytes; a text with a comparison goes in double quotes");
  EXPECT_THAT(message({}, "total_ns>3x"), HasSubstr("write 10us"));
  EXPECT_THAT(message({}, "total_ns>"), HasSubstr("'' is not a value"));
  EXPECT_THAT(message({}, "total_ns>inf"), HasSubstr("is not a value"));
  EXPECT_THAT(message({}, "share>5us"), HasSubstr("write 5%"));
  EXPECT_THAT(message({}, "category>a"), HasSubstr("holds texts"));
}

TEST(PickRows, ATableWithoutTheColumnStaysAsItIs) {
  Table other{"other", {TableColumn{"depth", "depth", Unit::kCount}}, {}};
  other.Add({int64_t{1}});
  other.Add({int64_t{2}});
  const auto pick = ParseTablePick("total_ns", "total_ns>1", {Kernels(), other});
  ASSERT_TRUE(pick);
  EXPECT_FALSE(PickRows(other, *pick));
  EXPECT_EQ(other.rows.size(), 2u);
}

}  // namespace
}  // namespace tacho
