#include "analysis/summary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/device/graph_capture.h"
#include "analysis/index/gpu_scope.h"
#include "analysis/names/classifier.h"
#include "analysis/steps/steps.h"
#include "model/producer_line.h"

namespace tacho {
namespace {

void Count(SummarySink::NameTotal& total, DurationNs duration) {
  total.min = total.count == 0 ? duration : std::min(total.min, duration);
  total.max = total.count == 0 ? duration : std::max(total.max, duration);
  ++total.count;
  total.total += duration;
}

void See(std::vector<bool>& seen, size_t which) {
  if (which >= seen.size()) seen.resize(2 * which + 64);
  seen[which] = true;
}

void Add(SummarySink::NameTotal& sum, const SummarySink::NameTotal& more) {
  sum.min = sum.count == 0 ? more.min : std::min(sum.min, more.min);
  sum.max = sum.count == 0 ? more.max : std::max(sum.max, more.max);
  sum.count += more.count;
  sum.total += more.total;
}

void Widen(Interval& whole, bool first, Interval when) {
  whole = first ? when : Interval{std::min(whole.start, when.start), std::max(whole.end, when.end)};
}

std::vector<TraceSummary::NameRow> Rows(
    const Vocabulary& words, const std::unordered_map<StringId, SummarySink::NameTotal>& totals) {
  std::vector<TraceSummary::NameRow> rows;
  for (const auto& [name, total] : totals) {
    rows.push_back({std::string(words[name]), total.count, total.total, total.min, total.max});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  return rows;
}

std::optional<int64_t> Known(int64_t value) {
  return value >= 0 ? std::optional<int64_t>(value) : std::nullopt;
}

// Decides as CollectDeviceWork does: a trace with any operator other than bookkeeping has work.
bool IsHostEngine(const SummarySink& sink) {
  const TraceBasics& basics = sink.basics();
  if (!MayBeHostEngine(sink.work(), basics)) return false;
  const auto classifier = Classifier::Create();
  return classifier &&
         std::any_of(sink.host_ops().begin(), sink.host_ops().end(), [&](const auto& op) {
           const std::string_view name = basics.words[op.first];
           return !IsTrainingStep(name) &&
                  !classifier->categories()[classifier->OfOperator(name)].starts_with(
                      "bookkeeping");
         });
}

// Decides as AnalyzeTrace does. But it returns true only for an engine that writes its version into
// the header, because only such an engine is known to annotate its steps.
bool TookNoStep(const SummarySink& sink) {
  const auto& [header, words, counts, notes] = sink.basics();
  const auto classifier = Classifier::Create();
  if (header.vllm_version.empty() || (header.rank < 0 && header.devices.empty()) || !classifier ||
      sink.work().host_calls > 0 || notes.lost_data()) {
    return false;
  }
  const std::vector<Category>& categories = words.categories();
  for (size_t i = 0; i < categories.size(); ++i) {
    if (counts.complete_by_category[i] > 0 && words[categories[i].name] == "user_annotation") {
      return false;
    }
  }
  return std::ranges::none_of(sink.host_ops(), [&, &names = words](const auto& op) {
    return IsOfAStep(names[op.first], *classifier);
  });
}

}  // namespace

void SummarySink::OnEvent(const Event& event) {
  ++basics_.counts.total;
  switch (event.type) {
    case EventType::kSlice:
      if (event.has_category) ++basics_.counts.complete_by_category[Index(event.category)];
      if (event.has_start) AddSlice(event);
      break;
    case EventType::kSliceBegin:
      open_.Begin(event);
      break;
    case EventType::kSliceEnd:
      if (const auto ended = open_.End(event, basics_.notes)) AddSlice(ended->event);
      break;
    case EventType::kRangeBegin:
      open_ranges_.Begin(event, basics_.words[event.track].process);
      break;
    case EventType::kRangeEnd:
      open_ranges_.End(event, basics_.words[event.track].process, basics_.notes);
      break;
    default:
      break;
  }
}

void SummarySink::AddSlice(const Event& event) {
  const Interval when{event.start, event.start + event.duration};
  if (!event.has_category || !basics_.words[event.category].is_window) {
    Widen(span_, !any_slice_, when);
    any_slice_ = true;
  }
  if (event.kind == SliceKind::kHostOp) Count(host_ops_[event.name], event.duration);
  if (event.kind == SliceKind::kAnnotation) See(annotations_, Index(event.name));
  if (event.kind == SliceKind::kHostCall) {
    ++host_calls_;
    See(calls_, Index(event.name));
    See(callers_, Index(event.track));
  }
  if (basics_.header.format == TraceFormat::kKineto && IsWaiting(event, basics_.words)) {
    const WaitingRow row = WaitingOf(event);
    WaitingTotal& waiting = waiting_[{event.has_category ? row.category : CategoryId{255},
                                      row.names_device, row.track, event.row_type, event.name}];
    Widen(waiting.window, waiting.total.count == 0, when);
    waiting.of = row;
    waiting.type = event.row_type;
    waiting.name = event.name;
    Count(waiting.total, event.duration);
  }
  if (!IsGpuWork(event.kind)) return;
  Count(gpu_[event.name], event.duration);
  DeviceTotal& device =
      devices_[basics_.words[basics_.words.StreamOfRank(event.stream, event.track)].device];
  Widen(device.window, device.gpu_events == 0, when);
  ++device.gpu_events;
  device.sum += event.duration;
}

// Decides for each row as TraceBuilder does.
void SummarySink::SortWaiting() {
  const WaitingRows sorted(basics_.words);
  for (const auto& [key, waiting] : waiting_) {
    const NameTotal& total = waiting.total;
    const TrackRows rows = sorted.Of(waiting.of);
    if (rows == TrackRows::kUnread) {
      basics_.notes.Add(NoteId::kDeviceRowsNotRead, sorted.NameOf(waiting.of), total.count);
    } else if (rows == TrackRows::kCalls) {
      host_calls_ += total.count;
    } else if (rows == TrackRows::kWork &&
               IsGpuWork(
                   KindOfDeviceRow(basics_.words[waiting.type], basics_.words[waiting.name]))) {
      Add(gpu_[waiting.name], total);
      const StreamId stream = WaitingRows::StreamOf(waiting.of.track, basics_.words);
      DeviceTotal& device = devices_[basics_.words[stream].device];
      Widen(device.window, device.gpu_events == 0, waiting.window);
      device.gpu_events += total.count;
      device.sum += total.total;
    }
  }
  waiting_.clear();
}

RecordedWork SummarySink::work() const {
  RecordedWork work;
  for (const auto& [name, total] : gpu_) work.gpu_events += total.count;
  for (const auto& [name, total] : host_ops_) work.host_ops += total.count;
  work.host_calls = host_calls_;
  work.gpu_in_header = TellsOfGpu(basics_.header);
  const auto has = [&](const std::vector<bool>& names, auto is_sign) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] && is_sign(basics_.words[static_cast<StringId>(i)])) return true;
    }
    return false;
  };
  work.captures = work.gpu_events == 0 && !has(annotations_, IsEngineStep) &&
                  (has(annotations_, IsCaptureAnnotation) || has(calls_, BeginsCapture));
  std::set<std::pair<StringId, ProcessId>> callers;
  std::set<StringId> ranks;
  for (size_t i = 0; i < callers_.size(); ++i) {
    if (!callers_[i]) continue;
    const auto track = static_cast<TrackId>(i);
    callers.emplace(basics_.words.RankOf(track), basics_.words[track].process);
    ranks.insert(basics_.words.RankOf(track));
  }
  work.several_processes = callers.size() > ranks.size();
  return work;
}

TraceSummary Summarized(const SummarySink& sink, std::string_view path) {
  TraceSummary summary;
  const auto& [header, words, counts, notes] = sink.basics();
  summary.header = header;
  summary.facts = WhoWrote(sink.basics(), sink.work(), path);
  if (!sink.work().several_processes) summary.rank = Known(header.rank);
  summary.world_size = Known(header.world_size);
  summary.base_time_ns = Known(header.base_time_ns);
  summary.span = sink.span();
  summary.events = counts.total;
  summary.notes = notes;
  NoteProducerLines(header, summary.notes);
  RecordedWork work = sink.work();
  work.no_engine_step = TookNoStep(sink);
  work.no_rank = !IsRank(summary.facts.role);
  NoteMissingWork(work, sink.basics(), IsHostEngine(sink), summary.notes);
  summary.by_phase.assign(counts.by_label.begin(), counts.by_label.end());
  for (size_t i = 0; i < words.categories().size(); ++i) {
    const uint64_t count = counts.complete_by_category[i];
    if (count > 0) summary.by_category.emplace_back(words[words.categories()[i].name], count);
  }
  std::sort(summary.by_category.begin(), summary.by_category.end());
  for (const auto& [device, total] : sink.devices()) {
    summary.devices.push_back(
        {std::string(words[device]), total.gpu_events, total.sum, total.window});
  }
  std::sort(summary.devices.begin(), summary.devices.end(),
            [](const auto& a, const auto& b) { return IdLess(a.device, b.device); });
  summary.gpu_work = Rows(words, sink.gpu());
  summary.host_ops = Rows(words, sink.host_ops());
  return summary;
}

}  // namespace tacho
