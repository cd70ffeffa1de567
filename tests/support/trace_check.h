#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/parse_number.h"
#include "ingest/kineto_json/lenient_json.h"
#include "model/trace_builder.h"
#include "support/event_dump.h"

namespace tacho {

// A sink that builds a Trace and beside it, from the same events, the rows that the Trace's tables
// must have.
class TraceCheck : public EventSink {
 public:
  TraceBasics& basics() override { return builder_.basics(); }
  [[nodiscard]] bool wants_args() const override { return builder_.wants_args(); }

  void OnEvent(const Event& e) override {
    Expect(e);
    builder_.OnEvent(e);
  }

  // Builds the Trace and tells the first row that differs; empty when all is as it must be. Once.
  std::string FirstDifference() {
    const Trace trace = std::move(builder_).Finish();
    Tables rows;
    for (size_t i = 0; i < trace.gpu.size(); ++i) {
      rows["gpu"].push_back(
          Slice(trace, trace.gpu, i, GpuArgs(trace, i)) +
          Gpu(trace.words, trace.gpu.kind[i], trace.gpu.stream[i], trace.gpu.correlation[i],
              trace.gpu.external_id[i]) +
          Launch(trace.words, trace.gpu.graph[i], trace.gpu.graph_node[i], trace.gpu.launch[i]));
    }
    for (size_t i = 0; i < trace.host_ops.size(); ++i) {
      rows["ops"].push_back(Slice(trace, trace.host_ops, i, HostOpArgs(trace, i)) +
                            std::to_string(trace.host_ops.external_id[i]));
    }
    for (size_t i = 0; i < trace.host_calls.size(); ++i) {
      rows["calls"].push_back(Slice(trace, trace.host_calls, i, HostCallArgs(trace, i)) +
                              CategoryName(trace.words, trace.host_calls.category[i]) +
                              std::to_string(trace.host_calls.correlation[i]));
    }
    for (size_t i = 0; i < trace.others.size(); ++i) {
      rows["others"].push_back(Slice(trace, trace.others, i, {trace.others.args[i]}) +
                               CategoryName(trace.words, trace.others.category[i]));
    }
    const auto plain = [&](const std::string& name, const SliceTable& table) {
      for (size_t i = 0; i < table.size(); ++i)
        rows[name].push_back(Slice(trace, table, i, {table.args[i]}));
    };
    plain("annotations", trace.annotations);
    plain("gpu annotations", trace.gpu_annotations);
    plain("python", trace.python_frames);
    for (size_t i = 0; i < trace.instants.size(); ++i) {
      const InstantTable& table = trace.instants;
      rows["instants"].push_back(Row(trace.words, table.name[i], table.track[i], table.at[i], {},
                                     ArgsText(trace, {table.args[i]})));
    }
    for (size_t i = 0; i < trace.counters.size(); ++i) {
      const Metric& metric = trace.words.metrics()[Index(trace.counters.metric[i])];
      rows["counters"].push_back(
          Counter(trace.words, metric, trace.counters.at[i], trace.counters.value[i]));
    }
    for (size_t i = 0; i < trace.ranges.size(); ++i) {
      const RangeTable& table = trace.ranges;
      rows["ranges"].push_back(Row(trace.words, table.name[i], table.track[i], table.start[i],
                                   DurationNs{table.duration[i]},
                                   ArgsText(trace, {table.args[i]})) +
                               CategoryName(trace.words, table.category[i]));
    }
    for (const ExpectedRange& range : ranges_) {
      const Event& e = range.begin;
      if (!e.has_start) continue;
      expected_["ranges"].push_back(
          Row(trace.words, e.name, e.track, e.start, range.duration, range.args) +
          (e.has_category ? CategoryName(trace.words, e.category) : " "));
    }
    for (size_t i = 0; i < trace.flows.size(); ++i) {
      rows["flows"].push_back(Flow(trace.words, trace.flows.type[i], trace.flows.id[i],
                                   trace.flows.at[i], trace.flows.track[i]));
    }
    for (const auto& [name, expected] : expected_) {
      const std::vector<std::string>& have = rows[name];
      for (size_t i = 0; i < std::max(expected.size(), have.size()); ++i) {
        const std::string none = "(none)";
        const std::string& a = i < expected.size() ? expected[i] : none;
        const std::string& b = i < have.size() ? have[i] : none;
        if (a != b) return name + " row " + std::to_string(i) + ":\n" + a + '\n' + b;
      }
    }
    for (const auto& [name, have] : rows) {
      if (have.size() != expected_[name].size()) return name + ": more rows than events";
    }
    if (trace.counts.total != events_) return "another count of events";
    if (trace.span != span_) return "another span";
    return BadArgument(trace);
  }

 private:
  using Tables = std::map<std::string, std::vector<std::string>>;

  static std::string Row(const Vocabulary& words, StringId name, TrackId track, TimeNs start,
                         DurationNs duration, std::string_view args) {
    std::string row;
    TellText(row, "name=", words[name]);
    TellText(row, "pid=", words[words[words[track].process].id]);
    TellText(row, "tid=", words[words[track].tid]);
    TellNumber(row, "ts=", start.ns);
    TellNumber(row, "dur=", duration.ns);
    TellText(row, "args=", args);
    return row += ' ';
  }
  static std::string Slice(const Trace& trace, const SliceTable& table, size_t i,
                           const ArgsOf& args) {
    return Row(trace.words, table.name[i], table.track[i], table.start[i],
               DurationNs{table.duration[i]}, ArgsText(trace, args));
  }
  static std::string Gpu(const Vocabulary& words, SliceKind kind, StreamId stream,
                         int64_t correlation, int64_t external_id) {
    std::string row = std::to_string(static_cast<int>(kind));
    TellText(row, "device=", words[words[stream].device]);
    TellText(row, "stream=", words[words[stream].stream]);
    TellNumber(row, "correlation=", correlation);
    TellNumber(row, "external=", external_id);
    return row;
  }
  static std::string Launch(const Vocabulary& words, int64_t graph, int64_t node, LaunchId launch) {
    std::string row;
    TellNumber(row, "graph=", graph);
    TellNumber(row, "node=", node);
    TellText(row, "launch=", LaunchText(words[launch]));
    return row;
  }
  static std::string Flow(const Vocabulary& words, EventType type, int64_t id, TimeNs at,
                          TrackId track) {
    std::string row(1, LetterOf(type));
    TellNumber(row, "id=", id);
    return row + Row(words, StringId::kEmpty, track, at, {}, {});
  }
  static std::string CategoryName(const Vocabulary& words, CategoryId category) {
    return std::string(words[words[category].name]) + ' ';
  }

  static std::string Counter(const Vocabulary& words, const Metric& metric, TimeNs at,
                             const CounterValue& value) {
    std::string row;
    if (const auto* const integer = std::get_if<int64_t>(&value))
      TellNumber(row, "integer=", *integer);
    else
      TellNumber(row, "bits=", std::bit_cast<int64_t>(std::get<double>(value)));
    TellText(row, "owner=", words[words[metric.owner].id]);
    TellText(row, "name=", words[metric.name]);
    TellText(row, "series=", words[metric.series]);
    TellNumber(row, "ts=", at.ns);
    return row;
  }

  void ExpectInstant(const Event& e) {
    const Vocabulary& words = vocabulary();
    expected_["instants"].push_back(Row(words, e.name, e.track, e.start, {}, ArgsTextOf(words, e)));
  }
  void ExpectCounters(const Event& e) {
    const Vocabulary& words = vocabulary();
    const ArgsShape& shape = words[e.args];
    bool whole = shape.entries.empty();
    for (const ArgsShape::Entry& entry : shape.entries) {
      std::string text(words[entry.constant]);
      if (entry.slot >= 0) {
        const auto slot = static_cast<size_t>(entry.slot);
        const int64_t value = e.arg_values[slot];
        text = shape.slots[slot].home == SlotHome::kText ? words[static_cast<StringId>(value)]
                                                         : std::to_string(value);
      }
      if (text.size() > 1 && text.starts_with('"') && text.ends_with('"'))
        text = text.substr(1, text.size() - 2);
      const auto integer = ParseWhole<int64_t>(text);
      const auto decimal = ParseWhole<double>(text);
      whole = whole || !decimal;
      if (!decimal) continue;
      expected_["counters"].push_back(
          Counter(words, {words[e.track].process, e.name, entry.key}, e.start,
                  integer ? CounterValue(*integer) : CounterValue(*decimal)));
    }
    if (whole) ExpectInstant(e);
  }

  struct ExpectedRange {
    Event begin;
    std::string args;
    DurationNs duration{-1};
    bool open = true;
  };
  [[nodiscard]] bool IsOf(const ExpectedRange& range, const Event& end) {
    const Event& begin = range.begin;
    const Vocabulary& words = vocabulary();
    return words[begin.track].process == words[end.track].process && begin.id == end.id &&
           begin.has_category == end.has_category && begin.category == end.category &&
           (end.name == StringId::kEmpty || end.name == begin.name);
  }

  void Expect(const Event& e) {
    ++events_;
    const Vocabulary& words = vocabulary();
    switch (e.type) {
      case EventType::kMetadata:
        break;
      case EventType::kSlice:
        if (e.has_start) ExpectSlice(e, ArgsTextOf(words, e));
        break;
      case EventType::kSliceBegin:
        open_[e.track].emplace_back(e, ArgsTextOf(words, e));
        break;
      case EventType::kSliceEnd: {
        auto& open = open_[e.track];
        if (open.empty()) break;
        auto [slice, args] = std::move(open.back());
        open.pop_back();
        if (!slice.has_start || !e.has_start) break;
        slice.duration = std::max(e.start - slice.start, DurationNs{});
        ExpectSlice(slice, args);
        break;
      }
      case EventType::kFlowStart:
      case EventType::kFlowStep:
      case EventType::kFlowEnd:
        if (!e.has_start ||
            (e.id == last_.correlation && e.track == last_.track && e.start == last_.start))
          break;
        expected_["flows"].push_back(Flow(words, e.type, e.id, e.start, e.track));
        break;
      case EventType::kInstant:
        if (e.has_start) ExpectInstant(e);
        break;
      case EventType::kCounter:
        if (e.has_start) ExpectCounters(e);
        break;
      case EventType::kRangeBegin:
        ranges_.push_back({e, ArgsTextOf(words, e)});
        break;
      case EventType::kRange:
        if (e.has_start) ranges_.push_back({e, ArgsTextOf(words, e), e.duration, false});
        break;
      case EventType::kRangeEnd:
        for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
          if (!range->open || !IsOf(*range, e)) continue;
          range->open = false;
          if (e.has_start) range->duration = std::max(e.start - range->begin.start, DurationNs{});
          break;
        }
    }
  }

  void ExpectSlice(const Event& e, std::string_view args) {
    const Vocabulary& words = vocabulary();
    last_ = e;
    if (!e.has_category || words[words[e.category].name] != "Trace") {
      const Interval when{e.start, e.start + e.duration};
      span_ =
          any_ ? Interval{std::min(span_.start, when.start), std::max(span_.end, when.end)} : when;
      any_ = true;
    }
    const std::string row = Row(words, e.name, e.track, e.start, e.duration, args);
    const std::string category =
        e.has_category ? CategoryName(words, e.category) : std::string(" ");
    switch (e.kind) {
      case SliceKind::kKernel:
      case SliceKind::kMemcpy:
      case SliceKind::kMemset:
        expected_["gpu"].push_back(row +
                                   Gpu(words, e.kind, e.stream, e.correlation, e.external_id) +
                                   Launch(words, e.graph, e.graph_node, e.launch));
        break;
      case SliceKind::kHostOp:
        expected_["ops"].push_back(row + std::to_string(e.external_id));
        break;
      case SliceKind::kHostCall:
        expected_["calls"].push_back(row + category + std::to_string(e.correlation));
        break;
      case SliceKind::kAnnotation:
        expected_["annotations"].push_back(row);
        break;
      case SliceKind::kGpuAnnotation:
        expected_["gpu annotations"].push_back(row);
        break;
      case SliceKind::kPythonFrame:
        expected_["python"].push_back(row);
        break;
      case SliceKind::kOther:
        expected_["others"].push_back(row + category);
        break;
    }
  }

  // Each argument by its key, against a walk over the arguments' text.
  static std::string BadArgument(const Trace& trace) {
    for (size_t row = 0; row < trace.gpu.size(); ++row) {
      const ArgsOf args = GpuArgs(trace, row);
      const std::string text = ArgsText(trace, args);
      std::map<std::string, std::string> members;
      size_t count = 0;
      kineto::ForEachMember(text, [&](std::string_view key, std::string_view value) {
        members[UnescapeJson(key)] = value;
        ++count;
      });
      if (count != trace.words[args.ref.shape].entries.size()) continue;  // `"key": ,`
      for (const auto& [key, value] : members) {
        if (!key.empty() && ArgText(trace, args, key) != value)
          return "argument " + key + " of " + text;
      }
    }
    return {};
  }

  TraceBuilder builder_;
  Tables expected_;
  std::vector<ExpectedRange> ranges_;
  std::map<TrackId, std::vector<std::pair<Event, std::string>>> open_;
  Event last_;
  uint64_t events_ = 0;
  Interval span_;
  bool any_ = false;
};

}  // namespace tacho
