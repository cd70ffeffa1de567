// Compares the times that tacho stats reads from an export without rows with those of the rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ingest/nsys_sqlite/random_export_for_test.h"
#include "stats/trace_times.h"

namespace tacho {
namespace {

std::string TextOf(const WorkTimes& times) {
  std::map<std::string, std::vector<int64_t>> values;
  const auto add = [&](const std::string& key, const WorkTimes::Lists& lists) {
    for (const auto& list : lists) values[key].insert(values[key].end(), list.begin(), list.end());
  };
  for (const auto& kernel : times.kernels)
    add(kernel.name + ' ' + XyzText(kernel.grid) + ' ' + XyzText(kernel.block), kernel.ns);
  for (const auto& work : times.memory) {
    add(work.name + " ns", work.ns);
    add(work.name + " bytes", work.bytes);
  }
  for (const auto& call : times.calls)
    add("call " + call.name + ' ' + std::to_string(call.version), call.ns);
  for (const auto& call : times.os_calls) add("os " + call.name, call.ns);
  std::string text;
  for (auto& [key, of_key] : values) {
    if (of_key.empty()) continue;
    std::ranges::sort(of_key);
    text += key + ':';
    for (const int64_t value : of_key) text += ' ' + std::to_string(value);
    text += '\n';
  }
  return text;
}

TEST(StatsTimes, AreThoseOfTheRows) {
  constexpr StatsTrace::Needs kAll{
      .gpu = true, .gpu_details = true, .calls = true, .os_calls = true};
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Random random(seed);
    SqliteDatabase database = *SqliteDatabase::OfBytes(nsys::RandomExport(random, 200, 3));
    std::map<std::string, TraceBuilder> builders;
    const auto sink = [&](const std::string& part) -> EventSink& { return builders[part]; };
    ASSERT_TRUE(ReadNsysSqlite(
        database,
        {.next_sink = sink, .parts = {.ranges = false, .rest = false, .unended = false}}));
    WorkTimes of_rows, timed;
    for (auto& [part, builder] : builders) {
      const Trace trace = std::move(builder).Finish();
      AddTimesOf(StatsTrace(trace, {}), kAll, of_rows);
    }
    builders.clear();
    ASSERT_TRUE(ReadNsysSqlite(database, {.next_sink = sink,
                                          .parts = {.gpu = false,
                                                    .gpu_details = false,
                                                    .calls = false,
                                                    .ranges = false,
                                                    .os_calls = false,
                                                    .rest = false},
                                          .timed = {.gpu = true,
                                                    .gpu_details = true,
                                                    .calls = true,
                                                    .os_calls = true,
                                                    .into = &timed,
                                                    .threads = 3,
                                                    .bytes_at_once = 1}}));
    EXPECT_EQ(TextOf(of_rows), TextOf(timed)) << "seed " << seed;
    EXPECT_GT(TextOf(timed).size(), 5000U);
  }
}

}  // namespace
}  // namespace tacho
