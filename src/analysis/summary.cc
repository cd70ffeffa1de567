#include "analysis/summary.h"

#include <algorithm>

namespace tacho {
namespace {

void Count(SummarySink::NameTotal& total, DurationNs duration) {
  total.min = total.count == 0 ? duration : std::min(total.min, duration);
  total.max = total.count == 0 ? duration : std::max(total.max, duration);
  ++total.count;
  total.total += duration;
}

void Widen(Interval& whole, bool first, Interval when) {
  whole = first ? when : Interval{std::min(whole.start, when.start), std::max(whole.end, when.end)};
}

}  // namespace

void SummarySink::OnEvent(const Event& event) {
  ++counts_.total;
  ++counts_.by_phase[static_cast<unsigned char>(event.phase) & 127];
  if (event.phase == 'B') open_.Begin(event);
  if (event.phase == 'E') {
    if (const auto ended = open_.End(event, notes_)) AddSlice(ended->event);
  }
  if (event.phase != 'X') return;
  if (event.has_category) ++counts_.complete_by_category[Index(event.category)];
  if (event.has_start) AddSlice(event);
}

void SummarySink::AddSlice(const Event& event) {
  const Interval when{event.start, event.start + event.duration};
  if (!event.has_category || !words_[event.category].is_window) {
    Widen(span_, !any_slice_, when);
    any_slice_ = true;
  }
  if (event.kind == SliceKind::kHostOp) Count(host_ops_[event.name], event.duration);
  if (event.kind == SliceKind::kHostCall) ++host_calls_;
  if (!IsGpuWork(event.kind)) return;
  Count(gpu_[event.name], event.duration);
  DeviceTotal& device = devices_[words_[words_.StreamOfRank(event.stream, event.track)].device];
  Widen(device.window, device.gpu_events == 0, when);
  ++device.gpu_events;
  device.sum += event.duration;
}

RecordedWork SummarySink::work() const {
  RecordedWork work;
  for (const auto& [name, total] : gpu_) work.gpu_events += total.count;
  for (const auto& [name, total] : host_ops_) work.host_ops += total.count;
  work.host_calls = host_calls_;
  work.gpu_in_header = TellsOfGpu(header_);
  return work;
}

}  // namespace tacho
