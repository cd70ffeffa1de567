#include "query/query_output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "query/query_for_test.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

std::string Written(const QueriedRun& run, const std::string& sql, QueryForm form, size_t top = 9) {
  QuerySession session = *QuerySession::Open(run);
  std::string_view text = sql;
  std::string out;
  auto statement = session.Next(text);
  if (!statement) return statement.error().message;
  const auto more = WriteRows(*std::move(*statement), {.form = form,
                                                       .style = {.width = 60},
                                                       .top = top,
                                                       .version = "1",
                                                       .write = [&](std::string_view part) {
                                                         out += part;
                                                         return Result<bool>(true);
                                                       }});
  if (!more) return more.error().message + out;
  return (*more == RowsWritten::kTop ? "more: " : "") + out;
}

TEST(Query, Output) {
  const auto run = RunOfTraces({});
  const std::string sql =
      "SELECT 1234567 AS n, 0.1 AS x, 'a,\x1b[31m' AS t, NULL AS e, x'00ff' AS b, 'z' AS n";
  EXPECT_EQ(Written(*run, sql, QueryForm::kText),
            "       n    x  t           e  b     n_2\n"
            " 1234567  0.1  a,\\x1b[31m     00ff  z\n");
  EXPECT_EQ(Written(*run, sql, QueryForm::kCsv),
            "n,x,t,e,b,n_2\n1234567,0.1,\"a,\x1b[31m\",,00ff,z\n");
  EXPECT_THAT(Written(*run, sql, QueryForm::kJson),
              HasSubstr("{\"n\": 1234567, \"x\": 0.1, \"t\": \"a,\\u001b[31m\", \"b\": \"00ff\", "
                        "\"n_2\": \"z\"}"));
  EXPECT_THAT(Written(*run, sql, QueryForm::kMarkdown), HasSubstr("| 1234567 | 0.1 |"));
  EXPECT_EQ(Written(*run, "SELECT value AS v FROM json_each('[1,2,3]')", QueryForm::kText, 2),
            "more:  v\n 1\n 2\n");
  EXPECT_EQ(Written(*run, "SELECT value AS v FROM json_each('[1,2,\"x\"]')", QueryForm::kText, 3),
            " v\n 1\n 2\n x\n");
  const std::string many =
      Written(*run,
              "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2500) "
              "SELECT x FROM c",
              QueryForm::kCsv);
  EXPECT_EQ(std::ranges::count(many, '\n'), 2501);
  const std::string cut =
      Written(*run, "SELECT '" + std::string(100, 'a') + "' AS a, 5 AS b", QueryForm::kText);
  EXPECT_THAT(cut, HasSubstr("…"));
  EXPECT_THAT(cut, HasSubstr("  5\n"));
  EXPECT_THAT(Written(*run, "SELECT 9e999 AS a, -9e999 AS b, 9e999 - 9e999 AS c", QueryForm::kJson),
              HasSubstr("{\"a\": 9.0e+999, \"b\": -9.0e+999}"));
}

// Numbers have at least six digits and three decimals, with the same places in all rows.
TEST(Query, NumbersOfTablesAreShort) {
  const auto run = RunOfTraces({});
  const auto shown = [&](const std::string& values) {
    const std::string text =
        Written(*run, "SELECT column1 AS x FROM (VALUES " + values + ")", QueryForm::kText);
    std::string cells;
    for (const char c : text.substr(text.find('\n') + 1))
      if (c != ' ') cells += c == '\n' ? ' ' : c;
    return cells;
  };
  EXPECT_EQ(shown("(3994781.3333333335), (4474967.0)"), "3994781.333 4474967.000 ");
  EXPECT_EQ(shown("(6255.397260273972)"), "6255.397 ");
  EXPECT_EQ(shown("(0.1), (2.0), (NULL)"), "0.1 2.0  ");
  EXPECT_EQ(shown("(0.000123456789)"), "0.000123457 ");
  EXPECT_EQ(shown("(2.0), (-3.0), (0.0)"), "2 -3 0 ");
  EXPECT_EQ(shown("(1e300), (1.5)"), "1e+300 1.5 ");
  EXPECT_EQ(shown("(1e-30), (9e999)"), "1e-30 inf ");
  EXPECT_EQ(shown("(1.0 / 3), ('t')"), "0.333333 t ");
  EXPECT_THAT(Written(*run, "SELECT 1.0 / 3 AS x", QueryForm::kCsv), HasSubstr("0.33333333333333"));
}

// On a terminal a line is never wrapped.
TEST(Query, ATerminalIsNeverTooNarrow) {
  const auto run = RunOfTraces({});
  QuerySession session = *QuerySession::Open(*run);
  std::string sql = "SELECT '" + std::string(90, 't') + "' AS a", out;
  for (int i = 0; i < 12; ++i) sql += fmt::format(", 1234567890 AS n{}", i);
  std::string_view text = sql;
  ASSERT_TRUE(WriteRows(**session.Next(text), {.style = {.width = 80, .wide_option = "--wide"},
                                               .fits = true,
                                               .version = "1",
                                               .write = [&](std::string_view part) {
                                                 out += part;
                                                 return Result<bool>(true);
                                               }}));
  for (size_t at = 0, end = 0; (end = out.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(end - at, 82u) << out;  // the mark of what is cut takes three bytes
  EXPECT_THAT(out, HasSubstr("left out: n"));
  EXPECT_THAT(out, HasSubstr(", n11 (--wide)\n"));
}

// A kernel's short name and category give way beside its name, but never where they stand for it.
TEST(Query, ATerminalKeepsTimesRatherThanOtherNames) {
  const auto run = RunOfTraces({});
  const auto shown = [&](std::string_view columns) {
    const std::string sql = fmt::format(
        "WITH k(id, name, short_name, category, start_ns, dur_ns) AS (VALUES (1, '{0}', '{0}', "
        "'gemm', 1234567890123456, 1234)) SELECT {1} FROM k",
        std::string(40, 'k'), columns);
    QuerySession session = *QuerySession::Open(*run);
    std::string_view text = sql;
    std::string out;
    EXPECT_TRUE(WriteRows(**session.Next(text), {.style = {.width = 60, .wide_option = "--wide"},
                                                 .fits = true,
                                                 .version = "1",
                                                 .write = [&](std::string_view part) {
                                                   out += part;
                                                   return Result<bool>(true);
                                                 }}));
    return out;
  };
  EXPECT_THAT(shown("*"), HasSubstr("left out: short_name (--wide)\n"));
  EXPECT_THAT(shown("*, 1234567890 AS more"),
              HasSubstr("left out: short_name, category (--wide)\n"));
  EXPECT_THAT(shown("id, short_name, start_ns, dur_ns, start_ns AS again"),
              HasSubstr("left out: again (--wide)\n"));
}

// The sizes of the parts that are written; ends after `parts` of them.
std::pair<std::optional<RowsWritten>, std::vector<size_t>> PartsOf(const QueriedRun& run,
                                                                   std::string_view sql,
                                                                   QueryForm form, size_t parts) {
  QuerySession session = *QuerySession::Open(run);
  std::vector<size_t> sizes;
  const auto written = WriteRows(**session.Next(sql), {.form = form,
                                                       .style = {.whole_names = true},
                                                       .version = "1",
                                                       .write = [&](std::string_view part) {
                                                         sizes.push_back(part.size());
                                                         return Result<bool>(sizes.size() < parts);
                                                       }});
  return {written ? std::optional(*written) : std::nullopt, sizes};
}

TEST(Query, EndsWhenNobodyReads) {
  const auto run = RunOfTraces({});
  const std::string endless =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
  for (const QueryForm form : {QueryForm::kCsv, QueryForm::kJson, QueryForm::kText}) {
    const auto [written, sizes] = PartsOf(*run, endless, form, form == QueryForm::kText ? 1 : 3);
    EXPECT_EQ(written, RowsWritten::kNobodyReads);
    EXPECT_EQ(sizes.size(), form == QueryForm::kText ? 1u : 3u);
  }
}

TEST(Query, FewLongTextsAreKeptAtOnce) {
  const auto run = RunOfTraces({});
  for (const QueryForm form : {QueryForm::kCsv, QueryForm::kJson}) {
    const auto [written, sizes] = PartsOf(
        *run,
        "SELECT hex(zeroblob(500000)) FROM json_each('[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]')",
        form, 100);
    EXPECT_EQ(written, RowsWritten::kAll);
    EXPECT_LT(std::ranges::max(sizes), 18'000'000u);
  }
  // Whole, each line would have 2 MB.
  const auto [written, sizes] =
      PartsOf(*run,
              "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 400) "
              "SELECT iif(x = 1, hex(zeroblob(1000000)), '') AS a, 1 AS b FROM c",
              QueryForm::kText, 100);
  EXPECT_EQ(written, std::nullopt);
  EXPECT_EQ(sizes.size(), 0u);
}

}  // namespace
}  // namespace tacho
