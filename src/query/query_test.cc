#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "query/query_for_test.h"
#include "query/query_table.h"
#include "query/sql_tables.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// All kinds of slices on few tracks, with few names, which differ from rank to rank.
Trace RandomQueryTrace(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  const std::string names[] = {
      "ampere_sgemm_a", "ncclDevKernel_AllReduce", "Mystery", "vllm::rms_norm_kernel", "",
      "100% _of_[it]"};
  const auto name = [&] { return names[below(6)] + (below(3) == 0 ? std::to_string(seed) : ""); };
  TraceBuilder builder;
  for (int64_t i = 0; i < 60; ++i) {
    const std::string stream = std::to_string(7 + below(3)), grid = std::to_string(below(4));
    const TraceBuilder::OnGpu at{.device = below(2) == 0 ? "0" : "1",
                                 .stream = stream,
                                 .start = below(500),
                                 .duration = below(30),
                                 .correlation = below(40),
                                 .args = {{"grid", grid}}};
    below(5) == 0 ? builder.Memcpy("Memcpy DtoH", at) : builder.Kernel(name(), at);
  }
  for (int64_t i = 0; i < 40; ++i) {
    builder.Host("cuda_runtime", below(3) == 0 ? "cudaGraphLaunch" : "cudaLaunchKernel",
                 {.tid = below(2) == 0 ? "1" : "2",
                  .start = below(500),
                  .duration = below(20),
                  .correlation = i});
  }
  for (int64_t i = 0; i < 60; ++i) {
    builder.Host(below(4) == 0 ? "python_function" : "cpu_op", name(),
                 {.tid = below(2) == 0 ? "1" : "2", .start = below(500), .duration = below(60)});
  }
  for (int64_t at = 0; at < 500; at += 100) {
    builder.Host("user_annotation", "execute_context_0(0)_generation_1(" + std::to_string(at) + ")",
                 {.start = at, .duration = 90});
  }
  builder.header().rank = seed % 2 == 0 ? -1 : static_cast<int64_t>(seed);
  return std::move(builder).Finish();
}

// The tables as plain ones, filled from their descriptions row by row.
SqliteDatabase CopyOf(const QueriedRun& run) {
  SqliteDatabase database = *SqliteDatabase::InMemory();
  for (const QueryTable& table : QueryTables()) {
    std::string columns, marks;
    for (const QueryColumn& column : table.columns) {
      columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, column.type);
      marks += marks.empty() ? "?" : ",?";
    }
    EXPECT_TRUE(database.Run(fmt::format("CREATE TABLE {}({})", table.name, columns)));
    auto insert = *database.Prepare(fmt::format("INSERT INTO {} VALUES({})", table.name, marks));
    for (const auto& trace : run.traces) {
      const uint32_t parts = table.parts == nullptr ? 1 : table.parts(*trace);
      for (uint32_t part = 0; part < parts; ++part) {
        for (uint32_t i = 0; i < table.rows(*trace, part); ++i) {
          const QueryRow row{trace.get(), part, i};
          if (table.has != nullptr && !table.has(row)) continue;
          insert.Reset();
          sqlite3_clear_bindings(insert.handle());
          for (int c = 0; c < static_cast<int>(table.columns.size()); ++c) {
            const QueryValue value = ValueOf(table.columns[static_cast<size_t>(c)], row);
            if (const auto* number = std::get_if<int64_t>(&value)) insert.Bind(c, *number);
            if (const auto* text = std::get_if<std::string_view>(&value))
              insert.Bind(c, text->data() == nullptr ? "" : *text);
            if (const auto* text = std::get_if<std::string>(&value)) insert.Bind(c, *text);
          }
          EXPECT_TRUE(insert.Step());
        }
      }
    }
  }
  return database;
}

class RandomSql {
 public:
  explicit RandomSql(uint32_t seed) : random_(seed) {}

  std::string Next() {
    const QueryTable& table = QueryTables()[Below(QueryTables().size())];
    std::string where = Condition(table);
    for (size_t n = Below(3); n > 0; --n)
      where = fmt::format("({} {} {})", where, Below(3) == 0 ? "OR" : "AND", Condition(table));
    if (Below(5) == 0) where = "NOT " + where;
    const std::string a = Column(table), b = Column(table), c = Column(table);
    switch (Below(6)) {
      case 0:
        return fmt::format(
            "SELECT count(*), count({0}), sum({0}), min({1}), max({1}) FROM {2} "
            "WHERE {3}",
            a, b, table.name, where);
      case 1:
        return fmt::format(
            "SELECT {0}, {1}, count(*), sum({2}) FROM {3} WHERE {4} GROUP BY {0}, "
            "{1} ORDER BY {0} {5}, {1}",
            a, b, c, table.name, where, Below(2) == 0 ? "DESC" : "ASC");
      case 2:
        return fmt::format("SELECT DISTINCT {0} FROM {1} WHERE {2} ORDER BY 1", a, table.name,
                           where);
      case 3:
        return fmt::format("SELECT {0}, {1}, {2} FROM {3} WHERE {4} ORDER BY {0}, {1} DESC, {2}", a,
                           b, c, table.name, where);
      case 4:
        return fmt::format(
            "SELECT k.id, l.name, l.start_ns, k.{0} FROM kernels k JOIN launches l "
            "ON l.id = k.launch_id WHERE k.start_ns < {1} ORDER BY 1",
            Column(QueryTables()[1]), Number());
      default:
        return fmt::format("SELECT {0}, trace, rank FROM {1} WHERE {2} ORDER BY 1, 2, 3", a,
                           table.name, where);
    }
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  std::string Number() { return std::to_string(static_cast<int64_t>(Below(700)) - 50); }
  std::string Column(const QueryTable& table) {
    return std::string(table.columns[Below(table.columns.size())].name);
  }
  std::string Condition(const QueryTable& table) {
    const QueryColumn& column = table.columns[Below(table.columns.size())];
    static constexpr const char* kCompare[] = {"=", "<", "<=", ">", ">=", "<>", "IS"};
    if (Below(12) == 0) return fmt::format("{} IS NULL", column.name);
    if (Below(20) == 0) return fmt::format("{} = NULL", column.name);
    if (column.type == "INTEGER") {
      const size_t small = column.name.ends_with("_ns") ? 0 : Below(4);
      const std::string number = small > 0 ? std::to_string(Below(8)) : Number();
      return fmt::format("{} {} {}{}", column.name, kCompare[Below(7)], number,
                         Below(6) == 0 ? ".5" : "");
    }
    static constexpr const char* kTexts[] = {
        "kernel",    "0",      "7", "1",      "Mystery",    "AMPERE_sgemm_a",
        "host-late", "decode", "",  "cpu_op", "Memcpy DtoH"};
    static constexpr const char* kLikes[] = {"%a%", "%", "mystery%", "100^%", "_", "%[it]%", "7"};
    static constexpr const char* kGlobs[] = {"*a*", "*", "M*", "?", "[0-1]", "100% _of_[[]it]"};
    switch (Below(4)) {
      case 0:
        return fmt::format("{} LIKE '{}'", column.name, kLikes[Below(7)]);
      case 1:
        return fmt::format("{} GLOB '{}'", column.name, kGlobs[Below(6)]);
      case 2:
        return fmt::format("{} {} '{}' COLLATE NOCASE", column.name, kCompare[Below(7)],
                           kTexts[Below(11)]);
      default:
        return fmt::format("{} {} '{}'", column.name, kCompare[Below(7)], kTexts[Below(11)]);
    }
  }

  std::mt19937 random_;
};

TEST(Query, TablesAnswerAsCopiesDo) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    std::vector<Trace> traces;
    for (uint32_t i = 0; i < 1 + seed % 3; ++i) traces.push_back(RandomQueryTrace(seed * 10 + i));
    const auto run = RunOfTraces(std::move(traces));
    QuerySession session = *QuerySession::Open(*run);
    SqliteDatabase copy = CopyOf(*run);
    RandomSql sql(seed);
    size_t with_rows = 0;
    for (int i = 0; i < 400; ++i) {
      const std::string query = sql.Next();
      const std::vector<std::string> rows = RowsOf(session.database(), query);
      ASSERT_EQ(rows, RowsOf(copy, query)) << "seed " << seed << ": " << query;
      with_rows += rows.empty() ? 0 : 1;
    }
    EXPECT_GT(with_rows, 150u);
  }
}

TEST(Query, SumsAreThoseOfTheTrace) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::vector<Trace> traces;
    traces.push_back(RandomQueryTrace(seed));
    const auto run = RunOfTraces(std::move(traces));
    QuerySession session = *QuerySession::Open(*run);
    const QueriedTrace& of = *run->traces[0];
    const Trace& trace = of.trace();
    std::map<std::string, std::pair<int64_t, int64_t>> kernels;  // count, ns
    int64_t all = 0;
    for (size_t i = 0; i < trace.gpu.size(); ++i) {
      all += trace.gpu.duration[i];
      if (trace.gpu.kind[i] != SliceKind::kKernel) continue;
      auto& row = kernels[std::string(trace.Text(trace.gpu.name[i]))];
      ++row.first;
      row.second += trace.gpu.duration[i];
    }
    std::vector<std::string> expected;
    for (const auto& [name, row] : kernels)
      expected.push_back(fmt::format("{}|{}|{}", name, row.first, row.second));
    EXPECT_EQ(
        RowsOf(session.database(), "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY name"),
        expected);
    EXPECT_THAT(RowsOf(session.database(),
                       "SELECT sum(dur_ns) FROM slices WHERE kind IN ('kernel','copy','memset')"),
                ElementsAre(std::to_string(all)));
    EXPECT_THAT(RowsOf(session.database(), "SELECT count(*) FROM slices"),
                ElementsAre(std::to_string(trace.gpu.size() + trace.host_ops.size() +
                                           trace.host_calls.size() + trace.annotations.size() +
                                           trace.python_frames.size() + trace.others.size() +
                                           trace.gpu_annotations.size())));
    // The analyses' own tables.
    std::vector<std::string> idle, ops;
    for (const IdleCauseRow& row : of.analysis().idle.causes)
      idle.push_back(fmt::format("{}|{}|{}", IdleCauseId(row.cause), row.total.ns, row.count));
    std::ranges::sort(idle);
    EXPECT_EQ(RowsOf(session.database(),
                     "SELECT cause, sum(dur_ns), count(DISTINCT gap) FROM gaps GROUP BY cause"),
              idle);
    for (const OpRow& row : of.analysis().ops.rows)
      ops.push_back(fmt::format("{}|{}|{}|{}|{}|{}", row.name, row.count, row.cpu_total.ns,
                                row.cpu_self.ns, row.device_self.ns, row.device_total.ns));
    std::ranges::sort(ops);
    auto rows = RowsOf(session.database(),
                       "SELECT name, count(*), sum(dur_ns), sum(self_ns), sum(device_self_ns), "
                       "sum(device_ns) FROM operators GROUP BY name");
    std::ranges::sort(rows);
    EXPECT_EQ(rows, ops);
    EXPECT_THAT(RowsOf(session.database(), "SELECT sum(pieces), count(*) FROM launches"),
                ElementsAre(HasSubstr(std::to_string(of.analysis().launches.with_launch) + "|")));
    EXPECT_THAT(RowsOf(session.database(),
                       "SELECT count(*) FROM kernels k JOIN launches l ON l.id = "
                       "k.launch_id JOIN operators o ON o.id = l.operator_id WHERE "
                       "k.operator_id <> o.id"),
                ElementsAre("0"));
  }
}

std::string ErrorOf(QuerySession& session, std::string_view sql) {
  auto statement = session.Next(sql);
  if (!statement) return statement.error().message;
  if (!*statement) return "no statement";
  const auto stepped = StepWithin(**statement);
  return stepped ? "" : stepped.error().message;
}

// The work starts before its launch: how long it waited cannot be told, and 0 is no answer.
TEST(Query, WithoutACommonClockALaunchHasNoDelay) {
  std::vector<Trace> traces;
  for (const int64_t delay : {-5'000, 20}) {
    TraceBuilder builder;
    for (int64_t i = 0; i < 20; ++i) {
      builder.Host("cuda_runtime", "cudaLaunchKernel",
                   {.start = 100 * i, .duration = 5, .correlation = i});
      builder.Kernel("k", {.start = 100 * i + delay, .duration = 10, .correlation = i});
    }
    traces.push_back(std::move(builder).Finish());
  }
  const auto run = RunOfTraces(std::move(traces));
  auto session = *QuerySession::Open(*run);
  EXPECT_EQ(RowsOf(session.database(),
                   "SELECT trace, min(delay_ns), count(*) FROM launches GROUP BY trace"),
            (std::vector<std::string>{"0|-|20", "1|15|20"}));
}

TEST(Query, WorkersWithTheSameRanks) {
  std::vector<Trace> traces;
  for (const int64_t duration : {5, 7}) {
    TraceBuilder builder;
    builder.Kernel("k", {.start = 0, .duration = duration});
    traces.push_back(std::move(builder).Finish());
  }
  const auto run = RunOfTraces(std::move(traces));
  for (size_t i = 0; i < 2; ++i) {
    run->analysis.traces[i].facts.rank = 0;
    run->analysis.traces[i].facts.identity.worker = "w" + std::to_string(i);
  }
  auto session = QuerySession::Open(*run);
  ASSERT_TRUE(session) << session.error().message;
  for (const char* const table : {"kernels", "slices", "devices", "ranks"})
    EXPECT_THAT(RowsOf(session->database(), std::string("SELECT worker, rank, count(*) FROM ") +
                                                table + " GROUP BY worker, rank"),
                ElementsAre("w0|0|1", "w1|0|1"))
        << table;
  EXPECT_THAT(RowsOf(session->database(), "SELECT dur_ns FROM kernels WHERE worker = 'w1'"),
              ElementsAre("7"));
}

// The causes of a gap share its whole time and the work that ends it.
TEST(Query, WholeGaps) {
  TraceBuilder builder;
  builder.Kernel("a", {.start = 0, .duration = 10, .correlation = 1});
  builder.Kernel("b", {.start = 100, .duration = 10, .correlation = 2});
  builder.Host("cuda_runtime", "cudaLaunchKernel", {.start = 40, .duration = 20, .correlation = 2});
  builder.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
               {.start = 35, .duration = 30});
  std::vector<Trace> traces;
  traces.push_back(std::move(builder).Finish());
  const auto run = RunOfTraces(std::move(traces));
  QuerySession session = *QuerySession::Open(*run);
  EXPECT_THAT(
      RowsOf(session.database(),
             "SELECT gap, cause, g.start_ns, g.dur_ns, gap_start_ns, gap_dur_ns, gap_end_ns, "
             "k.name, g.step FROM gaps g JOIN kernels k ON k.id = g.after_id"),
      ElementsAre("1|host-late|10|30|10|90|100|b|1", "1|in-launch-call|40|20|10|90|100|b|1",
                  "1|launch-latency|60|40|10|90|100|b|1"));
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    std::vector<Trace> random;
    for (uint32_t i = 0; i < 2; ++i) random.push_back(RandomQueryTrace(seed * 10 + i));
    const auto of = RunOfTraces(std::move(random));
    QuerySession both = *QuerySession::Open(*of);
    EXPECT_THAT(RowsOf(both.database(),
                       "SELECT count(*) FROM (SELECT 1 FROM gaps GROUP BY trace, gap HAVING "
                       "sum(dur_ns) <> max(gap_dur_ns) OR min(start_ns) <> min(gap_start_ns) OR "
                       "max(end_ns) <> max(gap_end_ns) OR min(gap_dur_ns) <> max(gap_dur_ns))"),
                ElementsAre("0"));
    EXPECT_THAT(
        RowsOf(
            both.database(),
            "SELECT count(*) FROM gaps g LEFT JOIN slices s ON s.id = g.after_id WHERE "
            "(s.id IS NULL AND g.after <> '') OR s.name <> g.after OR s.start_ns <> g.gap_end_ns"),
        ElementsAre("0"));
  }
}

// Percentiles are as in tables of kernels; values that are not integers go by their own order.
TEST(Query, Percentiles) {
  std::vector<Trace> traces;
  traces.push_back(RandomQueryTrace(1));
  const auto run = RunOfTraces(std::move(traces));
  QuerySession session = *QuerySession::Open(*run);
  std::vector<std::string> expected;
  for (const KernelRow& row : run->analysis.traces[0].kernels.rows)
    expected.push_back(fmt::format("{}|{}|{}|{}|{}", row.device, row.name, row.stats.p50.ns,
                                   row.stats.p90.ns, row.stats.p99.ns));
  std::ranges::sort(expected);
  auto rows = RowsOf(session.database(),
                     "SELECT device, name, median(dur_ns), percentile(dur_ns, 90), "
                     "percentile(dur_ns, 99) FROM kernels GROUP BY device, name");
  std::ranges::sort(rows);
  EXPECT_EQ(rows, expected);
  const std::string many =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000) SELECT ";
  EXPECT_THAT(RowsOf(session.database(),
                     many + "percentile(x, 99.9), percentile(x, 0), percentile(x, 100), "
                            "percentile(x, 0.01), percentile(-x / 2.0, 100), median(NULL), "
                            "median(x) FILTER (WHERE x > 1000), percentile('7', 50), "
                            "median(iif(x < 501, 9007199254740993, x)) FROM c"),
              ElementsAre("999|1|1000|1|-0.5|-|-|7|1000"));
  EXPECT_THAT(RowsOf(session.database(), "SELECT median(column1) FROM (VALUES (3), (1.5), (-2))"),
              ElementsAre("1.5"));
  EXPECT_THAT(RowsOf(session.database(), "SELECT median(9007199254740993)"),
              ElementsAre("9007199254740993"));
  for (const char* sql : {"percentile(x, 101)", "percentile(x, -1)", "percentile(x, 'a')",
                          "percentile(x, NULL)", "percentile(x, x)", "median('a')"}) {
    EXPECT_THAT(RowsOf(session.database(), many + sql + " FROM c"),
                ElementsAre(HasSubstr("() takes ")))
        << sql;
  }
  sqlite3_hard_heap_limit64(20'000'000);
  EXPECT_THAT(ErrorOf(session,
                      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT "
                      "4000000) SELECT median(x) FROM c"),
              HasSubstr("2 GB of memory"));
}

TEST(Query, ArgumentsByName) {
  TraceBuilder builder;
  builder.Kernel("k", {.start = 1,
                       .duration = 2,
                       .args = {{"grid", "[1, 2]"},
                                {"occupancy", "12.5"},
                                {"stream", "7"},
                                {"name", "\"a\\\"b\""},
                                {"on", "true"},
                                {"off", "null"}}});
  std::vector<Trace> traces;
  traces.push_back(std::move(builder).Finish());
  const auto run = RunOfTraces(std::move(traces));
  QuerySession session = *QuerySession::Open(*run);
  EXPECT_THAT(RowsOf(session.database(),
                     "SELECT arg(id,'grid'), arg(id,'occupancy'), typeof(arg(id,'stream')), "
                     "arg(id,'name'), arg(id,'on'), arg(id,'off'), arg(id,'none'), arg(99,'grid'), "
                     "arg(NULL,'grid'), arg(id, name) FROM kernels"),
              ElementsAre("[1,2]|12.5|integer|a\"b|1|-|-|-|-|-"));
  EXPECT_THAT(RowsOf(session.database(), "SELECT args ->> '$.grid[1]' FROM slices"),
              ElementsAre("2"));
}

TEST(Query, OnlyReads) {
  std::vector<Trace> traces;
  traces.push_back(RandomQueryTrace(1));
  const auto run = RunOfTraces(std::move(traces));
  QuerySession session = *QuerySession::Open(*run);
  for (const char* sql :
       {"CREATE TABLE x(a)", "CREATE TEMP TABLE x(a)", "CREATE VIEW v AS SELECT 1",
        "ATTACH 'x.db' AS x", "DETACH main", "VACUUM", "VACUUM INTO 'x.db'", "BEGIN", "SAVEPOINT a",
        "PRAGMA journal_mode=WAL", "PRAGMA temp_store_directory='/tmp'", "PRAGMA writable_schema=1",
        "ANALYZE", "CREATE VIRTUAL TABLE x USING slices"}) {
    EXPECT_THAT(ErrorOf(session, sql), HasSubstr("a query only reads")) << sql;
  }
  EXPECT_THAT(ErrorOf(session, "SELECT load_extension('x')"), HasSubstr("not authorized"));
  for (const char* sql : {"INSERT INTO slices(id) VALUES(1)", "DELETE FROM slices",
                          "UPDATE kernels SET name = ''", "DROP TABLE slices"}) {
    EXPECT_NE(ErrorOf(session, sql), "") << sql;
  }
  EXPECT_THAT(ErrorOf(session, "SELECT zeroblob(100000000)"), HasSubstr("64 MB"));
  sqlite3_hard_heap_limit64(20'000'000);
  EXPECT_THAT(ErrorOf(session,
                      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                      "SELECT x FROM c ORDER BY hex(zeroblob(1000))"),
              HasSubstr("2 GB of memory"));
  EXPECT_EQ(ErrorOf(session, "SELECT count(*) FROM slices"), "");  // it goes on
  EXPECT_EQ(ErrorOf(session, " -- nothing\n"), "no statement");
}

TEST(Query, StopsWhenAskedTo) {
  std::vector<Trace> traces;
  traces.push_back(RandomQueryTrace(1));
  const auto run = RunOfTraces(std::move(traces));
  int looks = 0;
  QuerySession session = *QuerySession::Open(*run, [&] { return ++looks == 3; });
  EXPECT_EQ(ErrorOf(session,
                    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
                    "SELECT max(x) FROM c"),
            "interrupted");
}

// SQLite itself asks after 100,000 operations, which this join does not take: no row matches.
TEST(Query, StopsInScansThatFindNothing) {
  std::vector<Trace> traces;
  for (uint32_t seed = 1; seed <= 4; ++seed) traces.push_back(RandomQueryTrace(seed));
  const auto run = RunOfTraces(std::move(traces));
  int looks = 0;
  QuerySession session = *QuerySession::Open(*run, [&] { return ++looks == 2; });
  EXPECT_EQ(ErrorOf(session,
                    "SELECT count(*) FROM slices a CROSS JOIN slices b WHERE b.name = 'nothing'"),
            "interrupted");
  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace tacho
