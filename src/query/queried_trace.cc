#include "query/queried_trace.h"

#include <algorithm>
#include <utility>

namespace tacho {

QueriedTrace::QueriedTrace(std::string path, std::unique_ptr<const Trace> trace,
                           PreparedTrace prepared, const Classifier& classifier,
                           std::optional<InFlight> in_flight)
    : path_(std::move(path)),
      trace_(std::move(trace)),
      prepared_(std::move(prepared)),
      classifier_(&classifier),
      in_flight_(std::move(in_flight)),
      steps_(prepared_.steps.steps) {}

void QueriedTrace::Place(uint32_t number, int64_t ids_before, const TraceAnalysis& analysis) {
  number_ = number;
  analysis_ = &analysis;
  first_id_[0] = ids_before + 1;
  for (size_t i = 0; i < kSliceTables; ++i) {
    first_id_[i + 1] = first_id_[i] + static_cast<int64_t>(Slices(static_cast<SlicesOf>(i)).size());
  }
}

const SliceTable& QueriedTrace::Slices(SlicesOf table) const { return Lanes(table).table(); }

const LaneRows& QueriedTrace::Lanes(SlicesOf table) const {
  const TrackIndex& index = prepared_.index;
  switch (table) {
    case SlicesOf::kGpu:
      return index.gpu();
    case SlicesOf::kHostOps:
      return index.host_ops();
    case SlicesOf::kHostCalls:
      return index.host_calls();
    case SlicesOf::kAnnotations:
      return index.annotations();
    case SlicesOf::kGpuAnnotations:
      return index.gpu_annotations();
    case SlicesOf::kPythonFrames:
      return index.python_frames();
    case SlicesOf::kOthers:
      break;
  }
  return index.others();
}

std::optional<QueriedTrace::Slice> QueriedTrace::FindId(int64_t id) const {
  if (id < first_id_.front() || id >= first_id_.back()) return std::nullopt;
  const auto next = std::ranges::upper_bound(first_id_, id);
  const auto table = static_cast<size_t>(next - first_id_.begin()) - 1;
  return Slice{static_cast<SlicesOf>(table), static_cast<uint32_t>(id - first_id_[table])};
}

ArgsOf QueriedTrace::ArgsOfSlice(Slice slice) const {
  switch (slice.table) {
    case SlicesOf::kGpu:
      return GpuArgs(*trace_, slice.row);
    case SlicesOf::kHostOps:
      return HostOpArgs(*trace_, slice.row);
    case SlicesOf::kHostCalls:
      return HostCallArgs(*trace_, slice.row);
    default:
      return {Slices(slice.table).args[slice.row]};
  }
}

uint32_t QueriedTrace::StepOfWork(uint32_t gpu_row) const {
  const uint32_t call = prepared_.links.call_of_gpu[gpu_row];
  return call == kNone ? 0 : StepAt(trace_->host_calls.start[call]);
}

uint32_t QueriedTrace::StepAt(TimeNs t) const {
  // In a merged file each rank has its own steps, so `t` does not identify one.
  if (analysis_->facts.role == TraceRole::kMerged) return 0;
  const auto step = steps_.At(t);
  return step ? *step + 1 : 0;
}

const QueriedTrace::Ops& QueriedTrace::ops() const {
  if (ops_) return *ops_;
  ops_.emplace();
  ops_->tree = NestOps(prepared_.index);
  const OpNodes& nodes = ops_->tree.nodes;
  ops_->device = AttributeDeviceTime(*trace_, prepared_.links, nodes, {});
  ops_->node_of_op.assign(trace_->host_ops.size(), kNone);
  for (uint32_t node = 0; node < nodes.size(); ++node) ops_->node_of_op[nodes.op[node]] = node;
  ops_->node_of_gpu.assign(trace_->gpu.size(), kNone);
  for (const auto& [row, node] : OpsOfWork(*trace_, prepared_.links, nodes, {})) {
    ops_->node_of_gpu[row] = node;
  }
  return *ops_;
}

uint32_t QueriedTrace::OpOfWork(uint32_t gpu_row) const {
  const uint32_t node = ops().node_of_gpu[gpu_row];
  return node == kNone ? kNone : ops().tree.nodes.op[node];
}

uint32_t QueriedTrace::OpOfCall(uint32_t call) const {
  const int32_t node = ops().tree.nodes.of_call[call];
  return node < 0 ? kNone : ops().tree.nodes.op[static_cast<size_t>(node)];
}

uint32_t QueriedTrace::ParentOfOp(uint32_t op) const {
  const uint32_t node = ops().node_of_op[op];
  if (node == kNone || ops().tree.nodes.parent[node] < 0) return kNone;
  return ops().tree.nodes.op[static_cast<size_t>(ops().tree.nodes.parent[node])];
}

std::optional<QueriedTrace::OpTimes> QueriedTrace::TimesOfOp(uint32_t op) const {
  const uint32_t node = ops().node_of_op[op];
  if (node == kNone) return std::nullopt;
  return OpTimes{ops().tree.self[node], ops().device.self[node], ops().device.total[node]};
}

uint32_t QueriedTrace::PiecesOfCall(uint32_t call) const {
  if (pieces_.empty()) {
    pieces_.resize(trace_->host_calls.size());
    for (const uint32_t of : prepared_.links.call_of_gpu) {
      if (of != kNone) ++pieces_[of];
    }
  }
  return pieces_[call];
}

std::optional<DurationNs> QueriedTrace::DelayOf(uint32_t gpu_row) const {
  const uint32_t call = prepared_.links.call_of_gpu[gpu_row];
  if (call == LaunchLinks::kNone || !prepared_.integrity.common_clock() ||
      analysis_->facts.mixed_ranks)
    return std::nullopt;
  const DurationNs delay = trace_->gpu.start[gpu_row] - trace_->host_calls.When(call).end;
  return std::max(delay, DurationNs{});
}

std::string_view QueriedTrace::ShortName(StringId name) const {
  short_names_.resize(trace_->words.strings.size());
  auto& known = short_names_[Index(name)];
  if (!known) known = ShortKernelName(Text(name));
  return *known;
}

WorkCategory QueriedTrace::CategoryOf(StringId name) const {
  categories_.resize(trace_->words.strings.size());
  auto& known = categories_[Index(name)];
  if (!known) known = classifier_->OfKernel(Text(name));
  return *known;
}

const GraphAnnotations& QueriedTrace::annotations() const {
  return annotations_ ? *annotations_ : annotations_.emplace(*trace_);
}

const QueriedTrace::Gaps& QueriedTrace::gaps() const {
  if (gaps_) return *gaps_;
  Gaps& gaps = gaps_.emplace();
  auto& parts = gaps.parts;
  auto& whole = gaps.whole;
  IdleOf(prepared_, {}, in_flight_ ? &*in_flight_ : nullptr, 0, [&](const IdleStretch& part) {
    const bool goes_on = !parts.empty() && parts.back().part.device == part.device &&
                         whole.back().end == part.when.start;
    if (!goes_on) whole.push_back(part.when);
    whole.back().end = part.when.end;
    parts.push_back({part, static_cast<uint32_t>(whole.size() - 1)});
  });
  return *gaps_;
}

const WorkItem* QueriedTrace::EndOf(const Gap& gap) const {
  const uint32_t item = gap.part.after_item;
  return item == IdleStretch::kNoItem ? nullptr
                                      : &prepared_.work.devices[gap.part.device].items[item];
}

QueriedTrace::Slice QueriedTrace::SliceOf(const WorkItem& item) const {
  if (!prepared_.work.on_host) return {SlicesOf::kGpu, item.row};
  const auto ops = static_cast<uint32_t>(trace_->host_ops.size());
  return item.row < ops ? Slice{SlicesOf::kHostOps, item.row}
                        : Slice{SlicesOf::kAnnotations, item.row - ops};
}

uint32_t QueriedTrace::StepOf(const WorkItem& item) const {
  return prepared_.work.on_host ? StepAt(item.when.start) : StepOfWork(item.row);
}

std::unique_ptr<QueriedRun> QueriedRun::Of(RunAnalysis analysis,
                                           std::vector<std::unique_ptr<QueriedTrace>> kept) {
  auto run = std::make_unique<QueriedRun>();
  run->analysis = std::move(analysis);
  int64_t ids = 0;
  for (const TraceAnalysis& of : run->analysis.traces) {
    const auto found = std::ranges::find_if(
        kept, [&](const auto& trace) { return trace && trace->path() == of.path; });
    if (found == kept.end()) continue;
    QueriedTrace& trace = **found;
    trace.Place(static_cast<uint32_t>(run->traces.size()), ids, of);
    ids = trace.ids_end() - 1;
    run->traces.push_back(std::move(*found));
  }
  return run;
}

QueriedRun::Found QueriedRun::Find(int64_t id) const {
  const auto trace =
      std::ranges::upper_bound(traces, id, {}, [](const auto& of) { return of->ids_end() - 1; });
  for (auto at = trace == traces.begin() ? trace : trace - 1; at != traces.end(); ++at) {
    if (const auto slice = (*at)->FindId(id)) return {at->get(), *slice};
    if ((*at)->ids_end() > id) break;
  }
  return {};
}

}  // namespace tacho
