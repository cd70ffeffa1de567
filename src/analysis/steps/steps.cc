#include "analysis/steps/steps.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/index/gpu_scope.h"
#include "analysis/index/name_index.h"

namespace tacho {
StepFinder::StepFinder(const std::vector<Step>& steps) : steps_(&steps) {
  for (const Step& step : steps) {
    ended_.push_back(ended_.empty() ? step.lasts.end : std::max(ended_.back(), step.lasts.end));
  }
}

std::optional<uint32_t> StepFinder::At(TimeNs t) const {
  const auto next =
      std::ranges::upper_bound(*steps_, t, {}, [](const Step& step) { return step.when.start; });
  for (auto i = static_cast<size_t>(next - steps_->begin()); i-- > 0 && ended_[i] > t;) {
    if ((*steps_)[i].lasts.contains(t)) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

bool IsTrainingStep(std::string_view name) { return name.starts_with("ProfilerStep#"); }

std::vector<bool> TrainingStepNames(const Trace& trace) {
  std::vector<bool> names;
  for (size_t i = 0; i < trace.words.strings.size(); ++i) {
    if (!IsTrainingStep(trace.Text(static_cast<StringId>(i)))) continue;
    names.resize(trace.words.strings.size());
    names[i] = true;
  }
  return names;
}

namespace {

// For two annotations of the same step: copies what the outer label lacks from the inner one.
void AddWhatIsMissing(const StepLabel& inner, StepLabel& outer) {
  for (const auto field : {&StepLabel::context_requests, &StepLabel::context_tokens,
                           &StepLabel::generation_requests, &StepLabel::generation_tokens}) {
    if (outer.*field < 0) outer.*field = inner.*field;
  }
}

// Kinds of annotations that name steps, the best one last. Only steps of the best kind that a trace
// has count.
enum class StepSource : uint8_t { kTraining, kPart, kEngine };
StepSource SourceOf(const ParsedStep& step) {
  if (step.engine == "torch") return StepSource::kTraining;
  return step.is_part ? StepSource::kPart : StepSource::kEngine;
}

struct FoundSteps {
  std::vector<Step> steps;  // sorted by start; steps outside of the scope are still in it
  StepSource source = StepSource::kTraining;  // kTraining also if there are no steps
};

// All annotations that name a step, in the order of the file.
FoundSteps FindAnnotations(const Trace& trace) {
  NameIndex names(trace);
  std::vector<std::optional<ParsedStep>> matched;
  const auto match = [&](StringId name) -> const std::optional<ParsedStep>& {
    const uint32_t number = names[name];
    if (number == matched.size()) matched.push_back(ParseStep(trace.Text(name)));
    return matched[number];
  };
  auto best = StepSource::kTraining;
  for (size_t row = 0; row < trace.annotations.size() && best != StepSource::kEngine; ++row) {
    const auto& step = match(trace.annotations.name[row]);
    if (step) best = std::max(best, SourceOf(*step));
  }
  FoundSteps found;
  found.source = best;
  const auto add = [&](const SliceTable& table, uint32_t row) {
    const auto& step = match(table.name[row]);
    if (!step || SourceOf(*step) < best) return;
    found.steps.push_back({.label = step->label,
                           .when = table.When(row),
                           .period = {},
                           .verifies = step->verifies,
                           .track = table.track[row]});
  };
  for (uint32_t row = 0; row < trace.annotations.size(); ++row) add(trace.annotations, row);
  const std::vector<bool> training = TrainingStepNames(trace);
  if (best != StepSource::kTraining || training.empty()) return found;
  for (const SliceTable* table : {static_cast<const SliceTable*>(&trace.host_ops),
                                  static_cast<const SliceTable*>(&trace.others)}) {
    for (uint32_t row = 0; row < table->size(); ++row) {
      if (training[Index(table->name[row])]) add(*table, row);
    }
  }
  return found;
}

FoundSteps FindAllSteps(const Trace& trace) {
  FoundSteps all = FindAnnotations(trace), kept;
  kept.source = all.source;
  std::vector<Step>& found = all.steps;
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Interval &x = found[a].when, &y = found[b].when;
    return x.start != y.start ? x.start < y.start : x.end > y.end;
  });
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<size_t> last(trace.words.tracks().size(), kNone);  // by track: the previous step
  std::vector<size_t> kept_rows;
  for (const size_t i : order) {
    size_t& before = last[Index(found[i].track)];
    if (before != kNone) {
      const Interval outer = found[before].when, when = found[i].when;
      if (when == outer || (when.start < outer.end && when.end <= outer.end)) {
        AddWhatIsMissing(found[i].label, found[before].label);
        found[before].verifies = found[before].verifies || found[i].verifies;
        continue;
      }
      found[before].period = when.start - outer.start;
    }
    before = i;
    kept_rows.push_back(i);
  }
  for (const size_t i : kept_rows) kept.steps.push_back(found[i]);
  return kept;
}

// For each track: its steps, sorted by start, as indexes into `found`.
std::vector<std::vector<uint32_t>> StepsOfTracks(const std::vector<Step>& found, size_t tracks) {
  std::vector<std::vector<uint32_t>> steps(tracks);
  for (uint32_t i = 0; i < found.size(); ++i) steps[Index(found[i].track)].push_back(i);
  return steps;
}

// For each track: the track whose steps also count for it. This is the track itself. But if it has
// no steps, and exactly one other track of its process has steps, it is that other track.
std::vector<size_t> TracksWithSteps(const std::vector<std::vector<uint32_t>>& steps,
                                    const std::vector<Track>& tracks) {
  std::map<ProcessId, std::vector<size_t>> with_steps;  // by process: its tracks that have steps
  for (size_t i = 0; i < tracks.size(); ++i) {
    if (!steps[i].empty()) with_steps[tracks[i].process].push_back(i);
  }
  std::vector<size_t> counts_for(tracks.size());
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto of_process = with_steps.find(tracks[i].process);
    const bool borrows =
        steps[i].empty() && of_process != with_steps.end() && of_process->second.size() == 1;
    counts_for[i] = borrows ? of_process->second.front() : i;
  }
  return counts_for;
}

}  // namespace

std::vector<uint32_t> StepsOfCalls(const TrackIndex& index, const std::vector<Step>& found) {
  const Trace& trace = index.trace();
  const std::vector<Track>& tracks = trace.words.tracks();
  const auto steps = StepsOfTracks(found, tracks.size());
  const std::vector<size_t> counts_for = TracksWithSteps(steps, tracks);
  std::vector<uint32_t> step_of(trace.host_calls.size(), kNoStep);
  for (size_t track = 0; track < tracks.size(); ++track) {
    const RowList calls = index.host_calls().Of(track);
    auto next = steps[counts_for[track]].begin();  // the first step that starts after the call
    const auto first = next, last = steps[counts_for[track]].end();
    for (size_t i = 0; i < calls.size(); ++i) {
      const TimeNs start = trace.host_calls.start[calls[i]];
      while (next != last && found[*next].when.start <= start) ++next;
      if (next != first && found[*(next - 1)].lasts.contains(start)) {
        step_of[calls[i]] = *(next - 1);
      }
    }
  }
  return step_of;
}

namespace {

// The length of the union of pieces of work, which must be added in the order of their starts.
class BusySum {
 public:
  // False if `piece` starts before the previous one; then the sum is invalid.
  bool Add(Interval piece) {
    if (first_ && piece.start < last_) return false;
    if (!first_) first_ = reach_ = piece.start;
    last_ = piece.start;
    if (piece.end > reach_) {
      busy_ += piece.end - std::max(reach_, piece.start);
      reach_ = piece.end;
    }
    return true;
  }
  void Give(const Scope& scope, Step& step) const {
    if (!first_) return;
    const Interval span{*first_, reach_};
    step.device_span = span.length();
    step.work_cut = scope.Clip(span) != span;
    step.device_busy = busy_;
  }

 private:
  std::optional<TimeNs> first_;
  TimeNs last_, reach_;
  DurationNs busy_;
};

void AddDeviceTimes(const TrackIndex& index, const LaunchLinks& links, const Scope& scope,
                    FoundSteps& found) {
  const Trace& trace = index.trace();
  if (found.steps.empty() || trace.gpu.size() == 0) return;
  const std::vector<uint32_t> step_of_call = StepsOfCalls(index, found.steps);
  const GpuScope counts(trace, scope);
  const auto for_each = [&](auto visit) {
    for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
      const uint32_t call = links.call_of_gpu[row];
      if (call == LaunchLinks::kNone || !counts.OnDevice(row)) continue;
      if (const uint32_t step = step_of_call[call]; step != kNoStep) visit(step, row);
    }
  };
  std::vector<BusySum> busy(found.steps.size());
  std::map<uint32_t, std::vector<Interval>> mixed;  // steps whose work is not sorted in the file
  for_each([&](uint32_t step, uint32_t row) {
    if (!busy[step].Add(trace.gpu.When(row))) mixed.try_emplace(step);
  });
  if (!mixed.empty()) {
    for_each([&](uint32_t step, uint32_t row) {
      const auto found_mixed = mixed.find(step);
      if (found_mixed != mixed.end()) found_mixed->second.push_back(trace.gpu.When(row));
    });
  }
  for (auto& [step, pieces] : mixed) {
    std::ranges::sort(pieces, {}, &Interval::start);
    busy[step] = {};
    for (const Interval& piece : pieces) busy[step].Add(piece);
  }
  for (size_t i = 0; i < busy.size(); ++i) busy[i].Give(scope, found.steps[i]);
}

// Extends the steps of one track beyond their annotations. `after`: launches of their thread
// outside of annotations (on a CPU engine: its operators). Both are sorted by start.
void LastOn(const std::vector<uint32_t>& of_track, const std::vector<Interval>& after,
            std::vector<Step>& steps) {
  constexpr DurationNs kPause{1'000'000};
  DurationNs longest;   // the longest time that an earlier step went on after its annotation
  DurationNs shortest;  // the shortest annotation
  auto next = after.begin();
  for (size_t i = 0; i < of_track.size(); ++i) {
    Step& step = steps[of_track[i]];
    Interval& lasts = step.lasts;
    const bool is_last = i + 1 == of_track.size();
    while (next != after.end() && next->start < lasts.end) ++next;
    for (; next != after.end() && next->start - lasts.end <= kPause; ++next) {
      if (!is_last && next->start >= steps[of_track[i + 1]].when.start) break;
      lasts.end = std::max(lasts.end, next->end);
    }
    const DurationNs length = step.when.length();
    if (!is_last) {
      longest = std::max(longest, lasts.end - step.when.end);
      shortest = i == 0 ? length : std::min(shortest, length);
    } else if (i > 0 && lasts.end - step.when.end > longest + DurationNs{shortest.ns / 2}) {
      // Steps follow whose annotations are missing, because the recorder of annotations stopped.
      lasts.end = step.when.end + longest;
      step.lost_work = true;
    }
  }
}

// Sets Step::lasts of an engine's steps; see there and at StepExtents.
void FindHowLongTheyLast(const TrackIndex& index, const LaunchLinks& links, bool on_host,
                         FoundSteps& found) {
  if (found.source != StepSource::kEngine) return;
  const LaneRows& rows = on_host ? index.host_ops() : index.host_calls();
  const auto steps = StepsOfTracks(found.steps, rows.lanes());
  for (size_t track = 0; track < steps.size(); ++track) {
    const std::vector<uint32_t>& of_track = steps[track];
    if (of_track.empty()) continue;
    std::vector<Interval> after;
    const RowList all = rows.Of(track);
    size_t later = 0;  // the first step that starts after the row
    for (size_t i = 0; i < all.size(); ++i) {
      // A launch counts even if its work is missing in the recording.
      const bool counts =
          on_host || links.first.LaunchedWork(all[i]) || links.puts_work[all[i]] != 0;
      if (!counts) continue;
      const TimeNs start = rows.table().start[all[i]];
      while (later < of_track.size() && found.steps[of_track[later]].when.start <= start) ++later;
      if (later == 0 || found.steps[of_track[later - 1]].when.contains(start)) continue;
      after.push_back(rows.table().When(all[i]));
    }
    LastOn(of_track, after, found.steps);
  }
}

StepTable TableOf(const Trace& trace, const FoundSteps& found, const Scope& scope) {
  StepTable table;
  // An engine that writes its version into the header also annotates its steps. So a trace with
  // such a header and without annotations is "annotated" too: no step ran.
  if (!found.steps.empty() || !trace.header.vllm_version.empty()) table.method = "annotated";
  if (found.source == StepSource::kPart) table.method = "part";
  for (const Step& step : found.steps) {
    if (!scope.Counts(step.when.start) && scope.Clip(step.when).empty()) continue;
    table.steps.push_back(step);
    table.steps.back().cut = scope.Clip(step.when) != step.when;
  }
  return table;
}

}  // namespace

std::vector<StepWork> FindStepWork(const TrackIndex& index, const LaunchLinks& links,
                                   const std::vector<Step>& steps) {
  const Trace& trace = index.trace();
  std::vector<StepWork> found;
  if (steps.empty() || trace.gpu.size() == 0) return found;
  const std::vector<uint32_t> step_of_call = StepsOfCalls(index, steps);
  // By step: its last entry in `found`. The entries of a step form a linked list, usually of one.
  std::vector<uint32_t> last(steps.size(), kNoStep), before;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone || step_of_call[call] == kNoStep) continue;
    const uint32_t step = step_of_call[call];
    const StringId device = trace.words[trace.gpu.stream[row]].device;
    uint32_t entry = last[step];
    while (entry != kNoStep && found[entry].device != device) entry = before[entry];
    const Interval when = trace.gpu.When(row);
    if (entry == kNoStep) {
      before.push_back(std::exchange(last[step], static_cast<uint32_t>(found.size())));
      found.push_back({step, device, when});
      continue;
    }
    Interval& extent = found[entry].when;
    extent = {std::min(extent.start, when.start), std::max(extent.end, when.end)};
  }
  std::ranges::sort(found, {},
                    [](const StepWork& work) { return std::pair(work.step, Index(work.device)); });
  return found;
}

std::map<ProcessId, IntervalSet> StepExtents(const TrackIndex& index, const LaunchLinks& links,
                                             bool on_host) {
  const Trace& trace = index.trace();
  FoundSteps found = FindAllSteps(trace);
  std::map<ProcessId, IntervalSet> result;
  if (found.source != StepSource::kEngine) return result;
  FindHowLongTheyLast(index, links, on_host, found);
  std::map<ProcessId, std::vector<Interval>> lasting;
  for (const Step& step : found.steps)
    lasting[trace.words.tracks()[Index(step.track)].process].push_back(step.lasts);
  for (auto& [process, of_process] : lasting) result.emplace(process, std::move(of_process));
  return result;
}

StepTable FindSteps(const Trace& trace, const Scope& scope) {
  return TableOf(trace, FindAllSteps(trace), scope);
}

StepTable FindSteps(const TrackIndex& index, const LaunchLinks& links, const Scope& scope) {
  const Trace& trace = index.trace();
  FoundSteps found = FindAllSteps(trace);
  FindHowLongTheyLast(index, links, false, found);
  AddDeviceTimes(index, links, scope, found);
  return TableOf(trace, found, scope);
}

}  // namespace tacho
