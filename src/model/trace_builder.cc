#include "model/trace_builder.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/parse_number.h"

namespace tacho {
namespace {

void AddCommon(SliceTable& table, const Event& event, ArgsRef args) {
  table.start.push_back(event.start);
  table.duration.push_back(event.duration.ns);
  table.name.push_back(event.name);
  table.track.push_back(event.track);
  table.args.push_back(args);
}

// The number in a JSON text, quoted or not; nullopt if it is not a number.
std::optional<CounterValue> CounterValueOf(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') {
    json = json.substr(1, json.size() - 2);
  }
  if (const auto integer = ParseWhole<int64_t>(json)) return *integer;
  if (const auto decimal = ParseWhole<double>(json)) return *decimal;
  return std::nullopt;
}

}  // namespace

void TraceBuilder::OnEvent(const Event& event) {
  EventCounts& counts = trace_.counts;
  ++counts.total;
  switch (event.type) {
    case EventType::kSlice:
      if (event.has_category) ++counts.complete_by_category[Index(event.category)];
      if (event.has_start) AddSlice(event, StoreArgs(event));
      break;
    case EventType::kSliceBegin:
      open_.Begin(event, StoreArgs(event));
      break;
    case EventType::kSliceEnd:
      if (const auto ended = open_.End(event, trace_.notes)) AddSlice(ended->event, ended->args);
      break;
    case EventType::kFlowStart:
    case EventType::kFlowStep:
    case EventType::kFlowEnd:
      AddFlow(event);
      break;
    case EventType::kMetadata:
      break;
    case EventType::kInstant:
      if (event.has_start) AddInstant(event);
      break;
    case EventType::kCounter:
      if (event.has_start) AddCounters(event);
      break;
    case EventType::kRangeBegin:
      open_ranges_.Begin(event, trace_.words[event.track].process,
                         static_cast<uint32_t>(trace_.ranges.size()));
      if (event.has_start) AddRange(event, NarrowColumn::kNone);
      break;
    case EventType::kRange:
      if (event.has_start) AddRange(event, event.duration.ns);
      break;
    case EventType::kRangeEnd:
      if (const auto ended =
              open_ranges_.End(event, trace_.words[event.track].process, trace_.notes)) {
        trace_.ranges.duration.Fill(ended->row, ended->duration.ns);
      }
  }
}

void TraceBuilder::AddSlice(const Event& event, ArgsRef args) {
  const Interval when{event.start, event.start + event.duration};
  const bool is_window = event.has_category && trace_.words[event.category].is_window;
  Interval& extent = is_window ? trace_.profiled : trace_.span;
  bool& any = is_window ? any_window_ : any_slice_;
  extent =
      any ? Interval{std::min(extent.start, when.start), std::max(extent.end, when.end)} : when;
  any = true;
  last_correlation_ = event.correlation;
  last_track_ = event.track;
  last_start_ = event.start;

  switch (event.kind) {
    case SliceKind::kKernel:
    case SliceKind::kMemcpy:
    case SliceKind::kMemset:
      AddLaunch(event);
      AddCommon(trace_.gpu, event, args);
      trace_.gpu.kind.push_back(event.kind);
      trace_.gpu.stream.push_back(trace_.words.StreamOfRank(event.stream, event.track));
      trace_.gpu.correlation.push_back(event.correlation);
      trace_.gpu.external_id.push_back(event.external_id);
      break;
    case SliceKind::kHostOp:
      AddCommon(trace_.host_ops, event, args);
      trace_.host_ops.external_id.push_back(event.external_id);
      break;
    case SliceKind::kHostCall:
      AddCommon(trace_.host_calls, event, args);
      trace_.host_calls.category.push_back(event.category);
      trace_.host_calls.correlation.push_back(event.correlation);
      break;
    case SliceKind::kAnnotation:
      AddCommon(trace_.annotations, event, args);
      break;
    case SliceKind::kGpuAnnotation:
      AddCommon(trace_.gpu_annotations, event, args);
      break;
    case SliceKind::kPythonFrame:
      AddCommon(trace_.python_frames, event, args);
      break;
    case SliceKind::kOther:
      if (trace_.header.format == TraceFormat::kKineto && IsWaiting(event, trace_.words)) {
        waiting_.push_back({static_cast<uint32_t>(trace_.others.size()), WaitingOf(event),
                            event.row_type, event.correlation, event.graph, event.graph_node,
                            event.launch});
      }
      AddCommon(trace_.others, event, args);
      trace_.others.category.push_back(CategoryOf(event));
      break;
  }
}

// Sets those columns of the next GPU row that are empty in most traces.
template <typename Work>
void TraceBuilder::AddLaunch(const Work& work) {
  const size_t row = trace_.gpu.size();
  if (work.graph != 0) trace_.gpu.graph.Set(row, work.graph);
  if (work.graph_node != 0) trace_.gpu.graph_node.Set(row, work.graph_node);
  if (work.launch != LaunchId::kNone) trace_.gpu.launch.Set(row, work.launch);
}

CategoryId TraceBuilder::CategoryOf(const Event& event) {
  return event.has_category ? event.category : trace_.words.InternCategory("");
}

void TraceBuilder::AddInstant(const Event& event) {
  trace_.instants.at.push_back(event.start);
  trace_.instants.name.push_back(event.name);
  trace_.instants.track.push_back(event.track);
  trace_.instants.args.push_back(StoreArgs(event));
}

void TraceBuilder::AddRange(const Event& event, int64_t duration) {
  RangeTable& ranges = trace_.ranges;
  ranges.start.push_back(event.start);
  ranges.duration.push_back(duration);
  ranges.name.push_back(event.name);
  ranges.category.push_back(CategoryOf(event));
  ranges.track.push_back(event.track);
  ranges.args.push_back(StoreArgs(event));
}

// Each argument that is a number becomes a value of its own series. If the event has no arguments,
// or one that is not a number, it is also stored as an instant.
void TraceBuilder::AddCounters(const Event& event) {
  const ArgsShape& shape = trace_.words[event.args];
  const ProcessId owner = trace_.words[event.track].process;
  bool all = !shape.entries.empty();
  for (const ArgsShape::Entry& entry : shape.entries) {
    const auto slot = static_cast<size_t>(entry.slot);
    const bool is_integer = entry.slot >= 0 && shape.slots[slot].home == SlotHome::kInteger;
    const StringId text =
        entry.slot < 0 ? entry.constant : static_cast<StringId>(event.arg_values[slot]);
    const std::optional<CounterValue> value =
        is_integer ? CounterValue(event.arg_values[slot]) : CounterValueOf(trace_.Text(text));
    all = all && value;
    if (!value) continue;
    trace_.counters.metric.push_back(trace_.words.InternMetric({owner, event.name, entry.key}));
    trace_.counters.at.push_back(event.start);
    trace_.counters.value.push_back(*value);
  }
  if (!all) AddInstant(event);
}

void TraceBuilder::AddFlow(const Event& event) {
  if (!event.has_start) return;
  if (event.id == last_correlation_ && event.track == last_track_ && event.start == last_start_) {
    return;  // only repeats the slice before it
  }
  trace_.flows.type.push_back(event.type);
  trace_.flows.id.push_back(event.id);
  trace_.flows.at.push_back(event.start);
  trace_.flows.track.push_back(event.track);
}

ArgsRef TraceBuilder::StoreArgs(const Event& event) {
  if (event.args == ArgsShapeId::kNone) return {};
  Column<uint8_t>& stream = trace_.arg_values;
  if (stream.size() > UINT32_MAX) {
    throw std::length_error("more than 4 GiB of argument values in one trace");
  }
  const ArgsRef ref{event.args, static_cast<uint32_t>(stream.size())};
  const std::vector<ArgsShape::Slot>& slots = trace_.words[event.args].slots;
  uint8_t* const begin = stream.Reserve(slots.size() * kMaxVarint);
  uint8_t* to = begin;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (IsInStream(slots[i].home)) to = WriteVarint(to, event.arg_values[i]);
  }
  stream.Advance(static_cast<size_t>(to - begin));
  return ref;
}

// Moves rows of device work, and of the calls that launched it, from `others` to their own tables.
void TraceBuilder::SortWaiting() {
  if (waiting_.empty()) return;
  const WaitingRows sorted(trace_.words);
  const OtherSliceTable& others = trace_.others;
  std::vector<uint32_t> moved;
  const auto add = [&](SliceTable& table, const Waiting& row) {
    moved.push_back(row.row);
    table.start.push_back(others.start[row.row]);
    table.duration.push_back(others.duration[row.row]);
    table.name.push_back(others.name[row.row]);
    table.track.push_back(others.track[row.row]);
    table.args.push_back(others.args[row.row]);
  };
  for (const Waiting& row : waiting_) {
    const TrackRows rows = sorted.Of(row.of);
    if (rows == TrackRows::kUnread) {
      trace_.notes.Add(NoteId::kDeviceRowsNotRead, sorted.NameOf(row.of));
    } else if (rows == TrackRows::kCalls) {
      add(trace_.host_calls, row);
      trace_.host_calls.category.push_back(others.category[row.row]);
      trace_.host_calls.correlation.push_back(row.correlation);
    } else if (rows == TrackRows::kWork) {
      const SliceKind kind =
          KindOfDeviceRow(trace_.Text(row.type), trace_.Text(others.name[row.row]));
      if (!IsGpuWork(kind)) continue;
      AddLaunch(row);
      add(trace_.gpu, row);
      trace_.gpu.kind.push_back(kind);
      trace_.gpu.stream.push_back(WaitingRows::StreamOf(row.of.track, trace_.words));
      trace_.gpu.correlation.push_back(row.correlation);
      trace_.gpu.external_id.push_back(-1);
    }
  }
  if (moved.empty()) return;
  OtherSliceTable left;
  auto next = moved.begin();
  for (uint32_t row = 0; row < others.size(); ++row) {
    if (next != moved.end() && *next == row) {
      ++next;
      continue;
    }
    left.start.push_back(others.start[row]);
    left.duration.push_back(others.duration[row]);
    left.name.push_back(others.name[row]);
    left.track.push_back(others.track[row]);
    left.args.push_back(others.args[row]);
    left.category.push_back(others.category[row]);
  }
  trace_.others = std::move(left);
}

Trace TraceBuilder::Finish() && {
  open_.Finish(trace_.notes);
  open_ranges_.Finish(trace_.notes);
  SortWaiting();
  if (trace_.words.has_shared_category()) trace_.notes.Add(NoteId::kManyCategories, "");
  return std::move(trace_);
}

template <typename At>
Event TraceBuilder::EventOf(std::string_view category, std::string_view name, const At& at) {
  Event event;
  event.category = trace_.words.InternCategory(category);
  event.has_category = event.has_start = true;
  event.kind = trace_.words[event.category].kind;
  event.name = trace_.words.strings.Intern(name);
  event.start = {at.start};
  event.duration = {at.duration};
  event.correlation = at.correlation;
  event.external_id = at.external_id;
  return event;
}

void TraceBuilder::Gpu(std::string_view category, std::string_view name, const OnGpu& at) {
  Vocabulary& words = trace_.words;
  Event event = EventOf(category, name, at);
  const StringId device = words.strings.Intern(at.device), stream = words.strings.Intern(at.stream);
  event.track = TrackOf(at.rank, at.pid.empty() ? at.device : at.pid, at.stream);
  event.stream = words.InternStream(device, stream);
  event.args = ShapeOf(at.args);
  LaunchSizes sizes;
  for (const auto& [key, json] : at.args) {
    const GpuArg arg = GpuArgOf(key);
    if (arg == GpuArg::kGraph) event.graph = JsonInteger(json).value_or(0);
    if (arg == GpuArg::kGraphNode) event.graph_node = JsonInteger(json).value_or(0);
    SetLaunchSize(arg, json, sizes);
  }
  event.launch = words.InternLaunch(sizes);
  OnEvent(event);
}

void TraceBuilder::Host(std::string_view category, std::string_view name, const OnHost& at) {
  Event event = EventOf(category, name, at);
  event.track = TrackOf(at.rank, at.pid, at.tid);
  event.args = ShapeOf(at.args);
  OnEvent(event);
}

void TraceBuilder::NameProcess(std::string_view pid, std::string_view name) {
  Vocabulary& words = trace_.words;
  words[words[TrackOf({}, pid, "0")].process].name = words.strings.Intern(name);
}

void TraceBuilder::Instant(std::string_view name, int64_t at, const Arguments& args,
                           std::string_view tid) {
  Event event;
  event.type = EventType::kInstant;
  event.has_start = true;
  event.name = trace_.words.strings.Intern(name);
  if (!tid.empty()) event.track = TrackOf({}, "1", tid);
  event.start = {at};
  event.args = ShapeOf(args);
  OnEvent(event);
}

TrackId TraceBuilder::TrackOf(std::string_view rank, std::string_view pid, std::string_view tid) {
  Vocabulary& words = trace_.words;
  const ProcessId process =
      words.InternProcess(words.strings.Intern(std::string(rank) + std::string(pid)));
  if (!rank.empty()) words[process].rank = words.strings.Intern(rank);
  return words.InternTrack(process, words.strings.Intern(tid));
}

ArgsShapeId TraceBuilder::ShapeOf(const Arguments& arguments) {
  if (arguments.empty()) return ArgsShapeId::kNone;
  ArgsShape shape{.text = "{"};
  for (const auto& [key, value] : arguments) {
    if (shape.text.size() > 1) shape.text += ", ";
    shape.text += '"' + std::string(key) + "\": " + std::string(value);
    shape.AddConstant(trace_.words.strings.Intern(key), trace_.words.strings.Intern(value));
  }
  shape.text += '}';
  return trace_.words.AddArgsShape(std::move(shape));
}

}  // namespace tacho
