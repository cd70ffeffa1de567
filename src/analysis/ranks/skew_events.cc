#include "analysis/ranks/skew_events.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tacho {
namespace {

// A communication kernel that has a lead-up.
struct LedKernel {
  uint32_t row, device, kernel;
};

std::vector<LedKernel> KernelsByRow(const TraceDigest& digest, uint32_t first_device) {
  std::vector<LedKernel> kernels;
  for (uint32_t i = 0; i < digest.lead_ups.size(); ++i) {
    const std::vector<uint32_t>& rows = digest.lead_ups[i].rows;
    for (uint32_t kernel = 0; kernel < rows.size(); ++kernel)
      kernels.push_back({rows[kernel], first_device + i, kernel});
  }
  std::ranges::sort(kernels, {}, &LedKernel::row);
  return kernels;
}

}  // namespace

void SkewEvents::AddDevices(const DigestsOfRanks& digests, const MatchedCollectives& matched) {
  auto place = matched.places().begin();
  for (uint32_t rank = 0; rank < digests.size(); ++rank) {
    const auto first_device = static_cast<uint32_t>(devices.size());
    std::vector<LedKernel> kernels;
    if (digests[rank] != nullptr) {
      for (const LeadUps& lead_ups : digests[rank]->lead_ups)
        devices.push_back({rank, &lead_ups, std::vector<uint32_t>(lead_ups.rows.size(), kNone)});
      kernels = KernelsByRow(*digests[rank], first_device);
    }
    auto kernel = kernels.begin();
    for (; place != matched.places().end() && place->rank == rank; ++place) {
      while (kernel != kernels.end() && kernel->row < place->row) ++kernel;
      Part& part = parts_[first_part_[place->collective] + place->part];
      part.device = kNone;
      if (kernel == kernels.end() || kernel->row != place->row) continue;
      part.device = kernel->device;
      part.kernel = kernel->kernel;
      part.length = matched.collectives[place->collective].parts[place->part].length;
    }
  }
}

void SkewEvents::FindSets() {
  std::map<std::vector<uint32_t>, uint32_t> numbers;
  std::vector<uint32_t> of;  // devices of the current collective
  set_of.assign(first_part_.size() - 1, kNone);
  uint32_t before = kNone;  // the previous set; most collectives have the same devices
  for (uint32_t i = 0; i < set_of.size(); ++i) {
    const std::span<Part> own(&parts_[first_part_[i]], first_part_[i + 1] - first_part_[i]);
    std::ranges::sort(own, {}, &Part::device);
    if (own.size() < 2 || own.back().device == kNone) continue;
    of.clear();
    for (const Part& part : own) of.push_back(part.device);
    if (before == kNone || sets[before].devices != of) {
      const auto [at, is_new] = numbers.try_emplace(of, static_cast<uint32_t>(sets.size()));
      before = at->second;
      if (is_new) sets.emplace_back().devices = of;
    }
    set_of[i] = before;
    for (const Part& part : own) devices[part.device].collectives[part.kernel] = i;
  }
}

void SkewEvents::FindWider() {
  std::vector<std::vector<uint32_t>> of_device(devices.size());
  for (uint32_t set = 0; set < sets.size(); ++set) {
    for (const uint32_t device : sets[set].devices) of_device[device].push_back(set);
  }
  for (Set& set : sets) {
    for (const uint32_t device : set.devices)
      set.overlaps = set.overlaps || of_device[device].size() > 1;
    for (const uint32_t other : of_device[set.devices.front()]) {
      const std::vector<uint32_t>& wide = sets[other].devices;
      if (!std::ranges::includes(wide, set.devices)) continue;
      Set::Wider wider{other, {}};
      for (const uint32_t device : set.devices)
        wider.members.push_back(
            static_cast<uint32_t>(std::ranges::lower_bound(wide, device) - wide.begin()));
      set.wider.push_back(std::move(wider));
    }
  }
}

SkewEvents CollectSkewEvents(const DigestsOfRanks& digests, const MatchedCollectives& matched) {
  SkewEvents events;
  events.first_part_.push_back(0);
  for (const Collective& collective : matched.collectives)
    events.first_part_.push_back(events.first_part_.back() + collective.parts.size());
  events.parts_.resize(events.first_part_.back());
  events.AddDevices(digests, matched);
  events.FindSets();
  events.FindWider();
  const auto end_of = [&](uint32_t i) {
    const Collective& collective = matched.collectives[i];
    const Collective::Part& last = collective.parts[collective.last];
    return std::pair(last.start + last.length, i);
  };
  for (uint32_t i = 0; i < events.set_of.size(); ++i) {
    if (events.set_of[i] != SkewEvents::kNone) events.by_end.push_back(i);
  }
  std::ranges::sort(events.by_end, {}, end_of);
  return events;
}

}  // namespace tacho
