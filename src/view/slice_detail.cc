#include "view/slice_detail.h"

#include <algorithm>
#include <set>

#include "analysis/device/graph_annotations.h"
#include "analysis/layers/block_runs.h"
#include "base/interval_set.h"
#include "base/json_text.h"

namespace tacho {
namespace {

DrawnFrom TableOfRef(SliceRef slice) { return static_cast<DrawnFrom>(slice.table()); }

DrawnKind KindOfRow(RowKind kind) {
  switch (kind) {
    case RowKind::kSteps:
      return DrawnKind::kStep;
    case RowKind::kBusy:
      return DrawnKind::kBusy;
    case RowKind::kIdle:
      return DrawnKind::kIdle;
    case RowKind::kLayer:
      return DrawnKind::kLayer;
    case RowKind::kBlock:
      return DrawnKind::kBlock;
    default:
      return DrawnKind::kCommunication;
  }
}

std::string_view CategoryOfSlice(const ViewedRank& rank, DrawnKind kind, SliceRef slice) {
  if (kind != DrawnKind::kKernel) return CategoryInFile(rank, slice);
  const Trace& trace = rank.trace();
  const Classifier& rules = rank.classifier();
  return rules.categories()[rules.OfKernel(trace.Text(trace.gpu.name[slice.row()]))];
}

// Cuts the text to at most `most` bytes without splitting a character; returns whether it was cut.
bool CutText(std::string& text, size_t most) {
  if (text.size() <= most) return false;
  while (most > 0 && (static_cast<uint8_t>(text[most]) & 0xc0) == 0x80) --most;
  text.resize(most);
  return true;
}

void AddArguments(const Trace& trace, const ArgsOf& args, SliceDetail& detail) {
  std::set<StringId> seen;
  for (const ArgsShape::Entry& entry : trace.words[args.ref.shape].entries) {
    if (!seen.insert(entry.key).second) continue;
    if (detail.arguments.size() == SliceDetail::kMostArguments) {
      detail.arguments_cut = true;
      return;
    }
    SliceArgument argument{std::string(trace.Text(entry.key)),
                           JsonStringOrText(*ArgText(trace, args, trace.Text(entry.key)))};
    CutText(argument.key, SliceDetail::kMostValue);
    argument.cut = CutText(argument.value, SliceDetail::kMostValue);
    detail.arguments.push_back(std::move(argument));
  }
}

// Adds the slices of the thread that enclose the one at `at`, and its self time.
void AddNesting(const ReadRanks& ranks, SlicePlace at, SliceDetail& detail) {
  const std::vector<Lane>& lanes = ranks[at.rank]->rows()[at.row].lanes;
  const Interval when = lanes[at.lane].When(at.place);
  for (uint32_t i = at.lane; i-- > 0 && detail.stack.size() < SliceDetail::kMostStack;) {
    size_t place = lanes[i].FirstFrom(when.start);
    if (place == lanes[i].size() || lanes[i].When(place).start > when.start) {
      if (place-- == 0) continue;
    }
    if (lanes[i].When(place).end < when.end) continue;
    const auto around = SliceAt(ranks, {at.rank, at.row, i, static_cast<uint32_t>(place)});
    detail.stack.push_back(*around);
  }
  std::ranges::reverse(detail.stack);
  std::vector<Interval> inside;
  for (size_t i = at.lane + 1; i < lanes.size(); ++i) {
    const Lane::Places places = lanes[i].In(when);
    if (inside.size() + places.last - places.first > SliceDetail::kMostInside) return;
    for (size_t place = places.first; place < places.last; ++place) {
      const Interval of = lanes[i].When(place);
      if (of.start >= when.start && of.end <= when.end) inside.push_back(of);
    }
  }
  detail.self = when.length() - IntervalSet(std::move(inside)).Covered(when);
}

void AddLaunches(const ReadRanks& ranks, uint32_t number, SliceRef slice, SliceDetail& detail) {
  const ViewedRank& rank = *ranks[number];
  const LaunchLinks& links = rank.view().links();
  if (!rank.view().untold().all.empty()) return;  // it is unknown which rank a launch belongs to
  if (TableOfRef(slice) == DrawnFrom::kGpu) {
    const uint32_t call = links.call_of_gpu[slice.row()];
    if (call == LaunchLinks::kNone) return;
    const auto found =
        FindSlice(ranks, number, {static_cast<uint32_t>(DrawnFrom::kHostCalls), call});
    if (!found) return;
    detail.launch = {*found, {}};
    const DurationNs delay = detail.slice.when.start - found->when.end;
    if (rank.view().common_clock()) detail.launch->delay = std::max(delay, DurationNs{});
  } else if (TableOfRef(slice) == DrawnFrom::kHostCalls && links.first.LaunchedWork(slice.row())) {
    std::vector<std::pair<TimeNs, uint32_t>> work;
    for (uint32_t row = 0; row < links.call_of_gpu.size(); ++row) {
      if (links.call_of_gpu[row] == slice.row())
        work.emplace_back(rank.trace().gpu.start[row], row);
    }
    detail.launched_count = work.size();
    std::ranges::sort(work);
    work.resize(std::min(work.size(), SliceDetail::kMostLaunched));
    for (const auto& [start, row] : work) {
      const auto found = FindSlice(ranks, number, {static_cast<uint32_t>(DrawnFrom::kGpu), row});
      if (found) detail.launched.push_back(*found);
    }
  }
}

void AddStep(const ReadRanks& ranks, uint32_t number, uint32_t step, SliceDetail& detail) {
  const ViewedRank& rank = *ranks[number];
  if (rank.facts().role == TraceRole::kMerged) return;
  const auto found = FindSlice(ranks, number, {static_cast<uint32_t>(DrawnFrom::kComputed), step});
  if (found) detail.step = {step + size_t{1}, rank.view().steps()[step].label.phase, *found};
}
// Adds the innermost step that covers `t`, a time on the rank's clock.
void AddStepAt(const ReadRanks& ranks, uint32_t number, TimeNs t, SliceDetail& detail) {
  const auto step = StepFinder(ranks[number]->view().steps()).At(t);
  if (step) AddStep(ranks, number, *step, detail);
}

std::optional<uint32_t> LayerOf(const LayerRows::Run& run) {
  return run.layer == BlockRun::kOutside ? std::nullopt : std::optional(run.layer);
}

// Adds the block whose work includes the slice.
void AddBlock(const ReadRanks& ranks, uint32_t number, SliceRef slice, SliceDetail& detail) {
  const RankRows& view = ranks[number]->view();
  const LayerRows& layers = view.layers();
  if (TableOfRef(slice) != (layers.on_host() ? DrawnFrom::kHostOps : DrawnFrom::kGpu)) return;
  for (uint32_t row = 0; row < view.rows().size(); ++row) {
    if (view.rows()[row].kind != RowKind::kBlock) continue;
    const std::vector<Lane>& lanes = view.rows()[row].lanes;
    for (uint32_t i = 0; i < lanes.size(); ++i) {
      const Lane::Places places = lanes[i].In(view.When(slice));
      for (size_t place = places.first; place < places.last; ++place) {
        const auto runs = layers.RunsOf(lanes[i][place].row());
        const std::span<const uint32_t> rows = layers.PiecesOf(runs->first).rows;
        if (std::ranges::find(rows, slice.row()) == rows.end()) continue;
        detail.block = {LayerOf(layers[runs->first]),
                        *SliceAt(ranks, {number, row, i, static_cast<uint32_t>(place)})};
        return;
      }
    }
  }
}

// Adds what is known about a layer or a block. `row`: the slice's row in the computed table.
void AddLayers(const ReadRanks& ranks, uint32_t number, uint32_t row, SliceDetail& detail) {
  const RankRows& view = ranks[number]->view();
  const LayerRows& layers = view.layers();
  const auto runs = layers.RunsOf(row);
  if (!runs) return;
  const LayerRows::Run& first = layers[runs->first];
  AddStep(ranks, number, first.step, detail);
  SliceDetail::OfLayers of;
  if (!layers.IsLayer(row)) of.block = first.block;
  const auto [begin, end] = layers.StepOf(runs->first);
  for (uint32_t i = begin; i < end; ++i) {
    const LayerRows::Run& run = layers[i];
    if (run.layer != first.layer || (of.block && run.block != first.block)) continue;
    of.count += layers.PiecesOf(i).rows.size();
    of.device += run.device;
    of.gap += run.gap;
  }
  of.phase = view.steps()[first.step].label.phase;
  const auto& phases = layers.table().phases;
  const auto phase = std::ranges::find(phases, of.phase, &PhaseLayers::phase);
  of.steps = phase->steps;
  of.layer = LayerOf(first);
  if (of.layer) of.kind = phase->layers[*of.layer].kind;
  DurationNs device, gap;
  for (const BlockTime& block : of.layer ? phase->layers[*of.layer].blocks : phase->outside) {
    if (of.block && block.block != first.block) continue;
    device += block.device;
    gap += block.gap;
  }
  const auto steps = static_cast<int64_t>(of.steps);
  of.mean_device = {device.ns / steps};
  of.mean_gap = {gap.ns / steps};
  detail.layers = of;
}

}  // namespace

std::string_view DrawnKindName(DrawnKind kind) {
  static constexpr std::string_view kNames[] = {
      "kernel", "copy", "memset", "annotation",    "operator", "call",  "python", "other",
      "step",   "busy", "idle",   "communication", "layer",    "block", "mark"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view CategoryInFile(const ViewedRank& rank, SliceRef slice) {
  const Trace& trace = rank.trace();
  switch (TableOfRef(slice)) {
    case DrawnFrom::kGpu:
      switch (trace.gpu.kind[slice.row()]) {
        case SliceKind::kMemcpy:
          return "gpu_memcpy";
        case SliceKind::kMemset:
          return "gpu_memset";
        default:
          return "kernel";
      }
    case DrawnFrom::kGpuAnnotations:
      return "gpu_user_annotation";
    case DrawnFrom::kPythonFrames:
      return "python_function";
    case DrawnFrom::kAnnotations:
      return "user_annotation";
    case DrawnFrom::kHostOps:
      return "cpu_op";
    case DrawnFrom::kHostCalls:
      return trace.Text(trace.words[trace.host_calls.category[slice.row()]].name);
    case DrawnFrom::kOthers:
      return trace.Text(trace.words[trace.others.category[slice.row()]].name);
    case DrawnFrom::kMarks:
      if (slice.row() >= trace.ranges.size()) return {};
      return trace.Text(trace.words[trace.ranges.category[slice.row()]].name);
    case DrawnFrom::kComputed:
      break;
  }
  return {};
}

ArgsOf ArgumentsOfSlice(const ViewedRank& rank, SliceRef slice) {
  switch (TableOfRef(slice)) {
    case DrawnFrom::kGpu:
      return GpuArgs(rank.trace(), slice.row());
    case DrawnFrom::kHostOps:
      return HostOpArgs(rank.trace(), slice.row());
    case DrawnFrom::kHostCalls:
      return HostCallArgs(rank.trace(), slice.row());
    default:
      return {rank.view().Args(slice)};
  }
}

DrawnKind KindOfSlice(const ViewedRank& rank, const TimelineRow& row, SliceRef slice) {
  switch (TableOfRef(slice)) {
    case DrawnFrom::kGpu:
      switch (rank.trace().gpu.kind[slice.row()]) {
        case SliceKind::kMemcpy:
          return DrawnKind::kCopy;
        case SliceKind::kMemset:
          return DrawnKind::kMemset;
        default:
          return DrawnKind::kKernel;
      }
    case DrawnFrom::kGpuAnnotations:
    case DrawnFrom::kAnnotations:
      return DrawnKind::kAnnotation;
    case DrawnFrom::kPythonFrames:
      return DrawnKind::kPython;
    case DrawnFrom::kHostOps:
      return DrawnKind::kOperator;
    case DrawnFrom::kHostCalls:
      return DrawnKind::kCall;
    case DrawnFrom::kOthers:
      return DrawnKind::kOther;
    case DrawnFrom::kMarks:
      return DrawnKind::kMark;
    case DrawnFrom::kComputed:
      return KindOfRow(row.kind);
  }
  return DrawnKind::kOther;
}

std::optional<SliceDetail> DetailOf(const ReadRanks& ranks, SlicePlace at) {
  const auto placed = SliceAt(ranks, at);
  if (!placed) return std::nullopt;
  const ViewedRank& rank = *ranks[at.rank];
  const TimelineRow& row = rank.rows()[at.row];
  const Lane& lane = row.lanes[at.lane];
  const SliceRef slice = lane[at.place];
  SliceDetail detail{*placed, KindOfSlice(rank, row, slice)};
  detail.category = CategoryOfSlice(rank, detail.kind, slice);
  detail.name = lane.NameText(at.place);
  if (TableOfRef(slice) == DrawnFrom::kGpu) {
    detail.annotation = GraphAnnotationOf(rank.trace(), slice.row());
    CutText(detail.annotation, SliceDetail::kMostValue);
  }
  AddArguments(rank.trace(), ArgumentsOfSlice(rank, slice), detail);
  AddLaunches(ranks, at.rank, slice, detail);
  AddBlock(ranks, at.rank, slice, detail);
  if (row.kind == RowKind::kThread) {
    AddNesting(ranks, at, detail);
    AddStepAt(ranks, at.rank, lane.When(at.place).start, detail);
  } else if (detail.launch) {
    AddStepAt(ranks, at.rank, rank.ToTrace(detail.launch->call.when.start), detail);
  } else if (TableOfRef(slice) == DrawnFrom::kComputed) {
    AddLayers(ranks, at.rank, slice.row(), detail);
  }
  return detail;
}

std::optional<CollectiveDetail> CollectiveOf(const ReadRanks& ranks,
                                             const MatchedCollectives& collectives, SlicePlace at) {
  const Lane* lane = FindLane(ranks, at);
  if (lane == nullptr) return std::nullopt;
  const SliceRef slice = (*lane)[at.place];
  if (TableOfRef(slice) != DrawnFrom::kGpu) return std::nullopt;
  const auto [collective, own] = collectives.Find(at.rank, slice.row());
  if (collective == nullptr) return std::nullopt;
  CollectiveDetail detail;
  detail.last = collective->parts[collective->last].rank;
  detail.wait = collective->Wait(*own);
  std::optional<uint32_t> before;  // rank of the previous part
  for (const Collective::Part& part : collective->parts) {
    detail.ranks += part.rank != before ? 1 : 0;
    before = part.rank;
    if (part.rank == at.rank || detail.at.size() == CollectiveDetail::kMostPlaces) continue;
    if (!ranks[part.rank]) continue;
    const auto found =
        FindSlice(ranks, part.rank, {static_cast<uint32_t>(DrawnFrom::kGpu), part.row});
    if (found) detail.at.push_back(*found);
  }
  return detail;
}

}  // namespace tacho
