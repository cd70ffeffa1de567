#include "analysis/ranks/lead_ups.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tacho {
namespace {

// Calls `add` with the parts of `when` that no interval of `covered` covers; the intervals of
// `covered` are disjoint and sorted. `next`: the index of the first interval that may end after
// `when` begins; this function moves it forward.
template <typename AddPart>
void AddUncovered(Interval when, const std::vector<Interval>& covered, size_t& next,
                  const AddPart& add) {
  while (next < covered.size() && covered[next].end <= when.start) ++next;
  for (size_t i = next; i < covered.size() && covered[i].start < when.end; ++i) {
    if (covered[i].start > when.start) add(Interval{when.start, covered[i].start});
    when.start = covered[i].end;
  }
  if (!when.empty()) add(when);
}

}  // namespace

void LeadUps::Add(uint32_t row, Launch launch, std::span<const Part> parts) {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  rows.push_back(row);
  launches.push_back(launch);
  for (const Part& part : parts) {
    int64_t rest = part.time.ns;
    do {
      kinds_.push_back(part.kind);
      times_.push_back(static_cast<uint32_t>(std::min(rest, kMost)));
      rest -= times_.back();
    } while (rest > 0);
  }
  until_.push_back(static_cast<uint32_t>(kinds_.size()));
}

void LeadUps::ShrinkToFit() {
  rows.shrink_to_fit();
  launches.shrink_to_fit();
  until_.shrink_to_fit();
  kinds_.shrink_to_fit();
  times_.shrink_to_fit();
}

size_t LeadUps::MemoryBytes() const {
  return sizeof *this + (rows.capacity() + until_.capacity() + times_.capacity()) * 4 +
         kinds_.capacity() * sizeof(LeadKind) + launches.capacity() * sizeof(Launch);
}

LeadUpBuilder::LeadUpBuilder(const DeviceItems& device, const std::optional<Interval>& window)
    : device_(device.device) {
  TimeNs reached{std::numeric_limits<int64_t>::min()};
  for (const WorkItem& item : device.items) {
    if (item.kind != WorkKind::kCommunication) continue;
    const TimeNs end = std::max(reached, item.when.end);
    const TimeNs from = std::max(reached, item.when.start);
    kernels_.push_back(
        {item.row,
         {std::min(reached, item.when.start), item.when.start},
         end > from ? end - from : DurationNs{},
         window && (item.when.start < window->start || item.when.end > window->end)});
    reached = end;
  }
  AddCompute(device);
}

void LeadUpBuilder::AddCompute(const DeviceItems& device) {
  if (kernels_.empty()) return;
  std::vector<Interval> computing;  // disjoint, sorted by time
  TimeNs reached{std::numeric_limits<int64_t>::min()};
  for (const WorkItem& item : device.items) {
    if (item.kind != WorkKind::kCompute || item.when.end <= reached) continue;
    const Interval when{std::max(item.when.start, reached), item.when.end};
    Add(when, static_cast<LeadKind>(kLeadFirstCategory + item.category));
    reached = when.end;
    if (!computing.empty() && computing.back().end == when.start)
      computing.back().end = when.end;
    else
      computing.push_back(when);
  }
  reached = {std::numeric_limits<int64_t>::min()};
  size_t next = 0;
  for (const WorkItem& item : device.items) {
    const bool copies = item.kind == WorkKind::kCopy || item.kind == WorkKind::kMemset;
    if (!copies || item.when.end <= reached) continue;
    AddUncovered({std::max(item.when.start, reached), item.when.end}, computing, next,
                 [&](Interval when) { Add(when, kLeadCopies); });
    reached = item.when.end;
  }
}

void LeadUpBuilder::Add(Interval when, LeadKind kind) {
  // Empty lead-ups begin and end at the start of their kernel, so all lead-ups are sorted by end.
  auto at = std::ranges::upper_bound(kernels_, when.start, {},
                                     [](const Kernel& kernel) { return kernel.lead_up.end; });
  for (; at != kernels_.end() && at->lead_up.start < when.end; ++at) {
    const TimeNs from = std::max(at->lead_up.start, when.start);
    const TimeNs to = std::min(at->lead_up.end, when.end);
    if (from < to)
      pieces_.push_back({static_cast<uint32_t>(at - kernels_.begin()), kind, to - from});
  }
}

LeadUps LeadUpBuilder::Finish(const std::function<LeadUps::Launch(uint32_t)>& launch_of) && {
  std::ranges::sort(pieces_, {},
                    [](const Piece& piece) { return std::pair(piece.kernel, piece.kind); });
  LeadUps lead_ups;
  lead_ups.device = std::move(device_);
  std::vector<LeadUps::Part> parts;
  size_t next = 0;
  for (uint32_t kernel = 0; kernel < kernels_.size(); ++kernel) {
    parts.assign(1, {kLeadCollective, kernels_[kernel].longer});
    for (; next < pieces_.size() && pieces_[next].kernel == kernel; ++next) {
      if (parts.size() > 1 && parts.back().kind == pieces_[next].kind)
        parts.back().time += pieces_[next].time;
      else
        parts.push_back({pieces_[next].kind, pieces_[next].time});
    }
    const uint32_t row = kernels_[kernel].row;
    if (!kernels_[kernel].cut) lead_ups.Add(row, launch_of(row), parts);
  }
  lead_ups.ShrinkToFit();
  return lead_ups;
}

}  // namespace tacho
