// What is exported as JSON is read back as the same events. The tests are here because they need
// the reader and the view.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "export/kineto_json.h"
#include "export/text_sink_for_test.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "model/trace_builder.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

Trace ReadTrace(std::string_view json) {
  TraceBuilder builder;
  const auto stream = StreamOfMemory(json);
  EXPECT_TRUE(ReadKinetoJson(*stream, builder));
  return std::move(builder).Finish();
}

// The events that touch the window (on the trace's clock), one a line, sorted.
std::vector<std::string> EventsIn(const Trace& trace, Interval window, const std::string& prefix,
                                  int64_t shift) {
  std::vector<std::string> lines;
  const auto where = [&](TrackId id) {
    const Track& track = trace.words[id];
    return " " + prefix + std::string(trace.Text(trace.words[track.process].id)) + "/" +
           std::string(trace.Text(track.tid)) + "(" +
           std::string(trace.Text(trace.words[track.process].name)) + "," +
           std::string(trace.Text(track.name)) + ")";
  };
  // An exported part has Python frames over the reach of the window and of all other slices that
  // touch it.
  Interval reach = window;
  const auto add = [&](std::string_view kind, const SliceTable& table, const auto& args) {
    for (size_t row = 0; row < table.size(); ++row) {
      Interval when = table.When(row);
      if (when.empty() ? !window.contains(when.start) : when.Clip(window).empty()) continue;
      if (&table == &trace.python_frames) when = when.Clip(reach);
      reach = {std::min(reach.start, when.start), std::max(reach.end, when.end)};
      lines.push_back(std::string(kind) + " " + std::string(trace.Text(table.name[row])) +
                      where(table.track[row]) + " " + std::to_string(when.start.ns + shift) + "+" +
                      std::to_string(when.length().ns) + " " +
                      CompactJson(ArgsText(trace, args(row))));
    }
  };
  add("gpu", trace.gpu, [&](size_t row) { return GpuArgs(trace, row); });
  add("op", trace.host_ops, [&](size_t row) { return HostOpArgs(trace, row); });
  add("call", trace.host_calls, [&](size_t row) { return HostCallArgs(trace, row); });
  const auto plain = [&](std::string_view kind, const SliceTable& table) {
    add(kind, table, [&](size_t row) { return ArgsOf{table.args[row]}; });
  };
  plain("annotation", trace.annotations);
  plain("gpu annotation", trace.gpu_annotations);
  plain("python", trace.python_frames);
  for (size_t i = 0; i < trace.instants.size(); ++i) {
    if (!window.contains(trace.instants.at[i])) continue;
    lines.push_back("instant " + std::string(trace.Text(trace.instants.name[i])) +
                    where(trace.instants.track[i]) + " " +
                    std::to_string(trace.instants.at[i].ns + shift) +
                    CompactJson(ArgsText(trace, {trace.instants.args[i]})));
  }
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const TimeNs start = trace.ranges.start[i];
    if (start >= window.end || (start + DurationNs{trace.ranges.duration[i]}) < window.start)
      continue;
    lines.push_back("range " + std::string(trace.Text(trace.ranges.name[i])) +
                    where(trace.ranges.track[i]) + " " + std::to_string(start.ns + shift) + "+" +
                    std::to_string(trace.ranges.duration[i]));
  }
  for (size_t i = 0; i < trace.counters.size(); ++i) {
    if (!window.contains(trace.counters.at[i])) continue;
    const Metric& metric = trace.words.metrics()[Index(trace.counters.metric[i])];
    const double value =
        std::visit([](auto of) { return static_cast<double>(of); }, trace.counters.value[i]);
    lines.push_back("counter " + prefix + std::string(trace.Text(trace.words[metric.owner].id)) +
                    std::string(trace.Text(metric.name)) + std::string(trace.Text(metric.series)) +
                    std::to_string(trace.counters.at[i].ns + shift) + std::to_string(value));
  }
  std::ranges::sort(lines);
  return lines;
}

// The trace of one rank of a run that begins at `base`: all kinds of events, with odd names.
std::string TraceJson(int rank, int64_t base) {
  return R"({"schemaVersion": 1, "baseTimeNanoseconds": )" + std::to_string(base) +
         R"(, "distributedInfo": {"backend": "nccl", "rank": )" + std::to_string(rank) +
         R"json(, "world_size": 2}, "with_stack": 1, "traceEvents": [
{"ph":"M","name":"process_name","pid":7,"tid":0,"ts":1,"args":{"name":"python"}},
{"ph":"M","name":"thread_name","pid":7,"tid":8,"ts":1,"args":{"name":"main \"loop\""}},
{"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_1(3)","pid":7,"tid":8,"ts":100.001,"dur":80},
{"ph":"X","cat":"cpu_op","name":"op <img onerror=x> \u00e9\n","pid":7,"tid":8,"ts":101,"dur":5.5,"args":{"External id": 3,"Input Dims": [[1, 2]]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":8,"ts":102,"dur":1,"args":{"correlation": 11, "External id": 3}},
{"ph":"X","cat":"python_function","name":"f.py(1): g","pid":7,"tid":"main","ts":-5.25,"dur":500},
{"ph":"X","cat":"kernel","name":"k<int>(int)","pid":0,"tid":9,"ts":110.125,"dur":20,"args":{"device": 0, "stream": 9, "correlation": 11, "grid": [1, 1, 1]}},
{"ph":"X","cat":"kernel","name":"k<int>(int)","pid":0,"tid":9,"ts":125,"dur":20,"args":{"device": 0, "stream": 9, "correlation": 12}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":9,"ts":300,"dur":2,"args":{"device": 0, "stream": 9, "bytes": 64}},
{"ph":"X","cat":"gpu_user_annotation","name":"mark","pid":0,"tid":9,"ts":110,"dur":40},
{"ph":"X","cat":"overhead","name":"flush","pid":-1,"tid":0,"ts":90,"dur":30},
{"ph":"i","name":"instant","pid":7,"tid":8,"ts":130,"s":"t","args":{"a": 1}},
{"ph":"C","name":"memory","pid":7,"ts":131,"args":{"used": 5, "free": 2.5}},
{"ph":"b","cat":"async","id":4,"name":"request","pid":7,"tid":8,"ts":95,"args":{"n": 1}},
{"ph":"e","cat":"async","id":4,"name":"request","pid":7,"tid":8,"ts":140},
{"ph":"X","cat":"cpu_op","name":"later","pid":7,"tid":8,"ts":400,"dur":5}]})json";
}

std::unique_ptr<ViewedRank> Viewed(const std::string& json) {
  return MakeViewedRank("path", ReadTrace(json));
}

std::string Exported(const ReadRanks& ranks) {
  TextSink text;
  const std::vector<ExportedRank> all = {{ranks[0].get(), 0, kAllTime}};
  EXPECT_TRUE(WriteKinetoJson(all, text));
  return text.text;
}

TEST(KinetoExport, ARankIsReadBackAsItIs) {
  ViewedRun run({"a"});
  run.Add(Viewed(TraceJson(1, 1'700'000'000'000'000'000)), 0);
  const ReadRanks ranks = run.ranks();
  for (const Interval window :
       {Interval{{0}, {500'000}}, Interval{{115'000}, {250'000}}, Interval{{136'000}, {136'500}}}) {
    const auto json = ExportWindow(ranks, {window});
    ASSERT_TRUE(json);
    const Trace back = ReadTrace(*json);
    EXPECT_EQ(EventsIn(back, {{-1'000'000'000}, {1'000'000'000}}, "", 0),
              EventsIn(ranks[0]->trace(), ranks[0]->ToTrace(window), "", 0));
    EXPECT_EQ(back.header.rank, 1);
    EXPECT_EQ(back.header.base_time_ns, 1'700'000'000'000'000'000);
    EXPECT_TRUE(back.header.with_stack);
    EXPECT_TRUE(back.notes.list().empty());
    for (const StringId name : back.others.name) {
      static const std::set<std::string_view> kComputed{"decode 3 tokens", "launch-latency",
                                                        "unknown", "flush"};
      EXPECT_TRUE(kComputed.contains(back.Text(name))) << back.Text(name);
    }
    EXPECT_EQ(back.flows.size(), 0u);  // each flow repeats the slice before it, as Kineto's do
  }
}

TEST(KinetoExport, RanksHaveProcessesOfTheirOwn) {
  constexpr int64_t kBase = 1'700'000'000'000'000'000;
  ViewedRun run({"a", "b"});
  run.Add(Viewed(TraceJson(0, kBase)), 0);
  run.Add(Viewed(TraceJson(1, kBase + 40'000)), 1);
  const ReadRanks ranks = run.ranks();
  const Interval window{{100'000}, {260'000}};
  const auto json = ExportWindow(ranks, {window});
  ASSERT_TRUE(json);
  const Trace back = ReadTrace(*json);
  std::vector<std::string> both;
  for (const size_t rank : {0u, 1u}) {
    const auto lines = EventsIn(ranks[rank]->trace(), ranks[rank]->ToTrace(window),
                                rank == 0 ? "[TP00] " : "[TP01] ", rank == 0 ? 0 : 40'000);
    both.insert(both.end(), lines.begin(), lines.end());
  }
  std::ranges::sort(both);
  EXPECT_EQ(EventsIn(back, {{-1'000'000'000}, {1'000'000'000}}, "", 0), both);
  EXPECT_EQ(GatherFacts(back).role, TraceRole::kMerged);
  // Both ranks use the same numbers for correlations and ranges. Perfetto joins what has the same
  // id.
  std::map<std::string, std::set<std::string>> ranks_of_id;
  const auto document = nlohmann::json::parse(*json);
  for (const auto& event : document["traceEvents"]) {
    if (!event.contains("id")) continue;
    ranks_of_id[event["cat"].get<std::string>() + event["id"].dump()].insert(
        event["pid"].get<std::string>().substr(0, 7));
  }
  EXPECT_GE(ranks_of_id.size(), 4u);
  for (const auto& [id, of] : ranks_of_id) EXPECT_EQ(of.size(), 1u) << id;
  EXPECT_EQ(ReadTrace(*ExportWindow(ranks, {window, 1})).words.processes().size(),
            ranks[1]->trace().words.processes().size() + 1);
}

// Prefixes of the processes that a rank has, other than tacho's own.
std::set<std::string> PrefixesOf(const std::string& json) {
  std::set<std::string> prefixes;
  const auto document = nlohmann::json::parse(json);
  for (const auto& event : document["traceEvents"]) {
    const std::string pid = event["pid"].get<std::string>();
    prefixes.insert(pid.substr(0, pid.find("] ") + 2));
  }
  return prefixes;
}

TEST(KinetoExport, ThePrefixIsTheRankAndNotThePlace) {
  const Selection all{{{0}, {500'000}}};
  ViewedRun run({"a", "b", "c"});
  run.Add(Viewed(R"({"traceEvents": [{"ph":"X","cat":"x","name":"front end","pid":1,"tid":1,)"
                 R"("ts":0,"dur":1}]})"),
          0);
  run.Add(Viewed(TraceJson(1, 0)), 1);
  run.Add(Viewed(TraceJson(3, 0)), 2);
  const std::string json = *ExportWindow(run.ranks(), all);
  EXPECT_EQ(PrefixesOf(json), (std::set<std::string>{"[trace 0] ", "[TP01] ", "[TP03] "}));
  const Trace back = ReadTrace(json);
  for (const Process& process : back.words.processes()) EXPECT_NE(process.rank, StringId::kEmpty);
  ViewedRun same({"a", "b"});
  same.Add(Viewed(TraceJson(1, 0)), 0);
  same.Add(Viewed(TraceJson(1, 0)), 1);
  EXPECT_EQ(PrefixesOf(*ExportWindow(same.ranks(), all)),
            (std::set<std::string>{"[trace 0] ", "[trace 1] "}));
}

TEST(KinetoExport, NumbersOfThreadsStayNumbers) {
  TraceBuilder builder;
  for (const std::string_view tid : {"-5", "0", "12", "007", "-0", "main"})
    builder.Host("cpu_op", "op", {.pid = "1", .tid = tid, .start = 0, .duration = 100});
  ViewedRun run({"a"});
  run.Add(MakeViewedRank("a", std::move(builder).Finish()), 0);
  std::set<std::string> tids;
  const auto document = nlohmann::json::parse(Exported(run.ranks()));
  for (const auto& event : document["traceEvents"]) {
    if (event.value("cat", "") == "cpu_op") tids.insert(event["tid"].dump());
  }
  EXPECT_EQ(tids, (std::set<std::string>{"-5", "0", "12", "\"007\"", "\"-0\"", "\"main\""}));
}

TEST(KinetoExport, TooLarge) {
  ViewedRun run({"a"});
  run.Add(Viewed(TraceJson(0, 0)), 0);
  const Interval window{{0}, {500'000}};
  const size_t whole = ExportWindow(run.ranks(), {window})->size();
  EXPECT_TRUE(ExportWindow(run.ranks(), {window}, whole));
  const auto cut = ExportWindow(run.ranks(), {window}, whole / 2);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::kUsage);
}

TEST(KinetoExport, NothingToExport) {
  EXPECT_FALSE(ExportWindow({}, {}));
  EXPECT_FALSE(ExportWindow({nullptr}, {}));
  ViewedRun run({"a"});
  run.Add(Viewed(R"({"traceEvents": []})"), 0);
  const auto json = ExportWindow(run.ranks(), {{{0}, {100}}});
  ASSERT_TRUE(json);
  EXPECT_EQ(ReadTrace(*json).counts.complete_by_category[0], 0u);
}

// tacho's own threads are written anew, not twice.
TEST(KinetoExport, OfAnExportIsTheSame) {
  ViewedRun run({"a"});
  run.Add(Viewed(TraceJson(1, 1'700'000'000'000'000'000)), 0);
  const std::string once = Exported(run.ranks());
  ViewedRun again({"a"});
  again.Add(Viewed(once), 0);
  const auto sorted = [](const std::string& json) {
    std::vector<std::string> events;
    const auto document = nlohmann::json::parse(json);
    for (const auto& event : document["traceEvents"]) events.push_back(event.dump());
    std::ranges::sort(events);
    return events;
  };
  EXPECT_EQ(sorted(Exported(again.ranks())), sorted(once));
}

TEST(KinetoExport, IsValidJsonWhateverTheTraceHolds) {
  const std::string odd = "\xff\x01 \"\\ \xe2\x82;";
  TraceBuilder builder;
  builder.NameProcess("1", odd);
  builder.Kernel(odd, {.start = 5, .duration = 5, .args = {{"a", "NaN"}, {"grid", "[1, 2]"}}});
  builder.Kernel("k", {.start = 6, .duration = 5, .args = {{"b", "\"" + odd + "\""}}});
  builder.Kernel("k", {.start = 7, .duration = 5, .args = {{"grid", "[1, 2]"}, {"n", "1e5"}}});
  builder.Host(odd, odd, {.pid = odd, .tid = "01", .start = 0, .duration = 100});
  builder.header().fields = {{"odd", "inf"}, {odd, "1"}, {"displayTimeUnit", "\"ms\""}};
  ViewedRun run({"a"});
  run.Add(MakeViewedRank("a", std::move(builder).Finish()), 0);
  const auto document = nlohmann::json::parse(Exported(run.ranks()));
  EXPECT_FALSE(document.contains("odd"));
  EXPECT_EQ(document["displayTimeUnit"], "ms");
  std::set<std::string> arguments;
  for (const auto& event : document["traceEvents"]) {
    if (event.value("cat", "") == "kernel") arguments.insert(event["args"].dump());
  }
  EXPECT_EQ(arguments.size(), 3u);
  EXPECT_TRUE(arguments.contains(R"({"grid":[1,2],"n":100000.0})"));
}

TEST(KinetoExport, EndsWhereNothingCanBeWritten) {
  ViewedRun run({"a"});
  run.Add(Viewed(TraceJson(1, 0)), 0);
  const ReadRanks ranks = run.ranks();
  TextSink full;
  full.most = 10;
  EXPECT_FALSE(WriteKinetoJson(std::vector<ExportedRank>{{ranks[0].get(), 0, kAllTime}}, full));
}

}  // namespace
}  // namespace tacho
