#include "cli/report/report_drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/steps/step_times.h"
#include "report/answers/answer_parts.h"
#include "report/documents/report_parts.h"
#include "report/html/html_charts.h"
#include "text/format_number.h"
#include "view/rank_rows.h"

namespace tacho {
namespace {

constexpr size_t kGapsDrawn = 3;
constexpr size_t kMostSpans = 500;  // per lane; more are drawn by column
constexpr size_t kMostLanes = 2, kMostHostLanes = 3, kMostStreams = 3, kMostDevices = 2;
constexpr double kNamed = 0.03;  // spans of at least this share of the window have their name drawn

std::string ClassOf(Palette palette, uint8_t color) {
  // Palette::kBlocks has the colours of Palette::kWork.
  constexpr char kPrefixes[] = {'w', 'p', 'i', 'e', 'h', 'w'};
  return fmt::format("{}{}", kPrefixes[static_cast<size_t>(palette)], color);
}

DrawnSpan::Name NameIn(Palette palette, uint8_t color) {
  using enum DrawnSpan::Name;
  if (palette == Palette::kWork) return kKernel;
  if (palette != Palette::kHost) return kOwnWords;
  const bool is_any_text = color == static_cast<uint8_t>(HostColor::kAnnotation) ||
                           color == static_cast<uint8_t>(HostColor::kOther);
  return is_any_text ? kAnnotation : kCode;
}

// `label`: a thread's number and name. The name may itself begin with "thread".
std::string ThreadLabel(const std::string& label) {
  const size_t name = label.find(' ') + 1;  // 0 without one
  return name > 0 && label.substr(name).starts_with("thread ") ? label.substr(name)
                                                               : "thread " + label;
}

DrawnRow DrawLane(const Lane& lane, Palette palette, std::string label, Interval window) {
  DrawnRow row{std::move(label), {}};
  const Lane::Places places = lane.In(window);
  const auto share = [&](TimeNs t) { return ShareOf(t - window.start, window.length()); };
  if (places.last - places.first <= kMostSpans) {
    for (size_t i = places.first; i < places.last; ++i) {
      const Interval when = lane.When(i).Clip(window);
      DrawnSpan span{share(when.start), share(when.end), ClassOf(palette, lane.ColorOf(i)), ""};
      span.name_is = NameIn(palette, lane.ColorOf(i));
      if (span.to - span.from >= kNamed)
        span.name = palette == Palette::kWork ? ShortKernelName(lane.NameText(i))
                                              : std::string(lane.NameText(i));
      row.spans.push_back(std::move(span));
    }
    return row;
  }
  std::array<Bucket, kMostSpans> columns;
  const DurationNs width{window.length().ns / static_cast<int64_t>(columns.size()) + 1};
  lane.Fold(window.start, width, columns);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].count == 0) continue;
    const TimeNs start{window.start.ns + static_cast<int64_t>(i) * width.ns};
    row.spans.push_back({share(start),
                         share(start + DurationNs{static_cast<int64_t>(columns[i].busy_ns)}),
                         ClassOf(palette, columns[i].color), ""});
  }
  return row;
}

// The lanes of a row that are drawn. For a thread, those with the most time in operators and calls,
// because operators and calls may lie below many Python frames. For any other row, the first lanes.
std::vector<size_t> LanesDrawn(const TimelineRow& row, Interval window) {
  const bool is_thread = row.kind == RowKind::kThread;
  std::vector<std::pair<DurationNs, size_t>> lanes;
  for (size_t lane = 0; lane < row.lanes.size(); ++lane) {
    DurationNs time;
    const Lane::Places places = row.lanes[lane].In(window);
    for (size_t i = places.first; is_thread && i < places.last; ++i) {
      if (row.lanes[lane].ColorOf(i) >= static_cast<uint8_t>(HostColor::kOperator))
        time += row.lanes[lane].When(i).Clip(window).length();
    }
    lanes.emplace_back(-time, lane);
  }
  std::ranges::sort(lanes);
  lanes.resize(std::min(lanes.size(), is_thread ? kMostHostLanes : kMostLanes));
  std::vector<size_t> drawn;
  for (const auto& [time, lane] : lanes) drawn.push_back(lane);
  std::ranges::sort(drawn);
  return drawn;
}

std::vector<DrawnRow> DrawRows(const RankRows& rows, Interval window) {
  std::vector<DrawnRow> drawn;
  size_t devices = 0, streams = 0, threads = 0;
  for (const TimelineRow& row : rows.rows()) {
    if (row.lanes.empty() || row.kind == RowKind::kBusy || row.kind == RowKind::kMarks) continue;
    devices += row.kind == RowKind::kIdle ? 1 : 0;
    if (row.kind == RowKind::kStream && ++streams > kMostStreams) continue;
    if (row.kind == RowKind::kThread && ++threads > 1) continue;
    if (devices > kMostDevices && row.kind != RowKind::kThread) continue;
    const bool always = row.kind == RowKind::kSteps || row.kind == RowKind::kIdle;
    const std::string label = row.kind == RowKind::kThread ? ThreadLabel(row.label) : row.label;
    using enum DrawnRow::Of;
    const DrawnRow::Of of = row.kind == RowKind::kStream   ? kStream
                            : row.kind == RowKind::kThread ? kThread
                                                           : kOwnWords;
    bool first = true;
    for (const size_t lane : LanesDrawn(row, window)) {
      DrawnRow line = DrawLane(row.lanes[lane], row.palette, first ? label : "", window);
      if (!(first && always) && line.spans.empty()) continue;
      if (first && of != kOwnWords) {
        line.of = of;
        line.name = of == kStream ? row.label.substr(kStreamWord.size()) : row.label;
      }
      first = false;
      drawn.push_back(std::move(line));
    }
  }
  return drawn;
}

// Extends `window` on both sides by `part` of its length, inside `span`.
Interval Around(Interval window, double part, Interval span) {
  const DurationNs more{static_cast<int64_t>(static_cast<double>(window.length().ns) * part)};
  return Interval{window.start - more, window.end + more}.Clip(span);
}

struct Row {
  const TimelineRow* busy = nullptr;
  const TimelineRow* idle = nullptr;
  const TimelineRow* communication = nullptr;
};

// Adds to `sums`, by colour, the time that the row's slices take inside `window`.
void AddByColor(const TimelineRow* row, Interval window, std::array<DurationNs, kColors>& sums) {
  if (row == nullptr) return;
  for (const Lane& lane : row->lanes) {
    const Lane::Places places = lane.In(window);
    for (size_t i = places.first; i < places.last; ++i)
      sums[lane.ColorOf(i)] += lane.When(i).Clip(window).length();
  }
}

std::vector<Row> RowsOfDevices(const RankRows& rows) {
  std::vector<Row> devices;
  for (const TimelineRow& row : rows.rows()) {
    if (row.kind == RowKind::kBusy) devices.push_back({&row, nullptr, nullptr});
    if (devices.empty()) continue;
    if (row.kind == RowKind::kIdle) devices.back().idle = &row;
    if (row.kind == RowKind::kCommunication) devices.back().communication = &row;
  }
  return devices;
}

PhaseTime TimeOfPhase(const std::vector<Row>& devices, const StepTable& steps, Interval recorded,
                      Phase phase) {
  PhaseTime time{std::string(PhaseName(phase)), 0, {}, {}};
  DurationNs unrecorded;
  std::array<DurationNs, kColors> busy{}, idle{}, communication{};
  for (const Step& step : steps.steps) {
    if (step.label.phase != phase || !step.period) continue;
    const Interval window{step.when.start, step.when.start + *step.period};
    ++time.steps;
    for (const Row& device : devices) {
      time.total += window.length();
      unrecorded += window.length() - recorded.Clip(window).length();
      AddByColor(device.busy, window, busy);
      AddByColor(device.idle, window, idle);
      AddByColor(device.communication, window, communication);
    }
  }
  const DurationNs exposed = communication[static_cast<size_t>(Exposure::kExposed)];
  const DurationNs working = busy[static_cast<size_t>(Exposure::kBusy)];
  DurationNs rest = time.total - working - unrecorded;
  time.parts = {{"compute and copies", "s0", working - exposed},
                {"exposed communication", "s1", exposed}};
  for (size_t cause = 0; cause < static_cast<size_t>(IdleCause::kCount); ++cause) {
    if (idle[cause].ns == 0) continue;
    const auto of = static_cast<IdleCause>(cause);
    time.parts.push_back({fmt::format("idle: {}", IdleCauseId(of)), IdleClass(of), idle[cause]});
    rest -= idle[cause];
  }
  std::ranges::stable_sort(time.parts.begin() + 2, time.parts.end(), std::ranges::greater{},
                           [](const PhaseTime::Part& part) { return part.time; });
  if (unrecorded.ns > 0)
    time.parts.push_back({"not recorded", IdleClass(IdleCause::kUnknown), unrecorded});
  // Only time between a device's first and last work counts as idle.
  if (rest.ns > 0)
    time.parts.push_back({"before the first work or after the last work", "n1", rest});
  return time;
}

void DrawSteps(const RankRows& rows, const StepTable& table, Interval span, Drawings& drawings) {
  std::vector<PlacedStep> all;
  for (const Step& step : table.steps) all.push_back({0, &step});
  std::vector<PlacedStep> main = MainSteps(all);
  if (main.empty()) return;
  const Phase phase = main.front().step->label.phase;
  const std::string noun =
      phase == Phase::kOther ? "step" : std::string(PhaseName(phase)) + " step";
  // A step is drawn until the next one begins, because the device still works after the host's part
  // of the step.
  const std::vector<Interval> times = StepTimes(table.steps);
  const auto until_next = [&](const PlacedStep& placed) {
    return times[static_cast<size_t>(placed.step - table.steps.data())];
  };
  std::ranges::stable_sort(main, {},
                           [&](const PlacedStep& placed) { return until_next(placed).length(); });
  const auto draw = [&](std::string_view which, const PlacedStep& placed) {
    const Interval step = until_next(placed);
    const Interval window = Around(step, 0.05, span);
    if (window.empty()) return;
    drawings.timelines.push_back(
        {fmt::format("The {} {}: step {}, {}", which, noun, placed.step - table.steps.data() + 1,
                     FormatDuration(step.length())),
         0, window, DrawRows(rows, window)});
  };
  if (main.size() > 2) draw("median", main[(main.size() - 1) / 2]);
  draw(main.size() > 1 ? "longest" : "only", main.back());
}

}  // namespace

void DrawingKeeper::Draw(const AnalysedTrace& read) {
  const TraceAnalysis& analysis = read.analysis;
  if (!IsRank(analysis.facts.role)) return;
  const RankRows rows(Prepare(read.trace, classifier_), classifier_, read.in_flight);
  OfTrace drawn;
  const std::vector<Row> devices = RowsOfDevices(rows);
  for (const Phase phase : {Phase::kPrefill, Phase::kMixed, Phase::kDecode, Phase::kOther}) {
    if (analysis.devices.empty() || !analysis.idle.known) break;
    PhaseTime time = TimeOfPhase(devices, analysis.steps, analysis.recorded(), phase);
    if (time.total.ns > 0) drawn.steps.phases.push_back(std::move(time));
  }
  DrawSteps(rows, analysis.steps, analysis.span, drawn.steps);
  const IdleTable gaps = LongGaps(analysis.idle);
  for (size_t i = 0; i < std::min(gaps.gaps.size(), kGapsDrawn); ++i) {
    const IdleGap& gap = gaps.gaps[i];
    const Interval window = Around(gap.when, 0.25, analysis.span);
    if (window.empty()) continue;
    drawn.gaps.push_back(
        {fmt::format("Gap of {}, {}", FormatDuration(gap.when.length()), IdleCauseId(gap.cause)), 0,
         window, DrawRows(rows, window)});
  }
  const std::lock_guard lock(mutex_);
  of_path_[read.path] = std::move(drawn);
}

Drawings DrawingKeeper::Choose(const RunAnalysis& run) && {
  Drawings chosen;
  const std::vector<PlacedStep> main = MainSteps(StepsOfScreens(run));
  std::vector<MiniTimeline> gaps;
  for (size_t trace = 0; trace < run.traces.size(); ++trace) {
    const auto found = of_path_.find(run.traces[trace].path);
    if (found == of_path_.end()) continue;
    const bool has_steps = !main.empty() && main.front().trace == trace;
    auto& [steps, of_trace] = found->second;
    if (has_steps) {
      chosen = std::move(steps);
      for (MiniTimeline& timeline : chosen.timelines) timeline.trace = trace;
    }
    for (MiniTimeline& gap : of_trace) {
      gap.trace = trace;
      gaps.push_back(std::move(gap));
    }
  }
  std::ranges::stable_sort(gaps, std::ranges::greater{},
                           [](const MiniTimeline& gap) { return gap.when.length(); });
  // Ranks often have a gap at the same time; only the longest such gap is drawn.
  std::vector<Interval> drawn;
  for (MiniTimeline& gap : gaps) {
    const DurationNs origin = run.traces[gap.trace].run_zero() - TimeNs{};
    const Interval when{gap.when.start - origin, gap.when.end - origin};
    const bool again = std::ranges::any_of(
        drawn, [&](const Interval& other) { return !other.Clip(when).empty(); });
    if (again || drawn.size() == kGapsDrawn) continue;
    drawn.push_back(when);
    chosen.timelines.push_back(std::move(gap));
  }
  return chosen;
}

}  // namespace tacho
