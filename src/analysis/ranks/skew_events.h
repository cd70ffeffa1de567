#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/ranks/digest.h"
#include "analysis/ranks/matched_collectives.h"

namespace tacho {

// By rank, in the order of the ranks of MatchCollectives; null if the rank has no digest.
using DigestsOfRanks = std::vector<const TraceDigest*>;

// The matched collectives with their kernels on the devices of each rank: the input of ChargeSkew.
// Refers to the digests. A collective counts only if all of its kernels have a lead-up; other
// collectives lie outside the scope.
struct SkewEvents {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  struct Device {
    uint32_t rank = 0;
    const LeadUps* lead_ups = nullptr;
    // By kernel of `lead_ups`: its collective; kNone if it is in no collective that counts.
    std::vector<uint32_t> collectives;
  };
  struct Part {
    uint32_t device, kernel;  // `kernel`: index into Device::collectives
    DurationNs length;
  };
  // The devices of a collective. Collectives with the same devices share a set.
  struct Set {
    // A set that contains all devices of this one, or this set itself.
    struct Wider {
      uint32_t set;
      std::vector<uint32_t> members;  // by device of this set: its index in the wider set
    };
    std::vector<uint32_t> devices;  // ascending
    std::vector<Wider> wider;
    bool overlaps = false;  // one of its devices is also in another set
  };

  std::vector<Device> devices;   // sorted by rank
  std::vector<Set> sets;         // in the order of their first collective
  std::vector<uint32_t> set_of;  // by collective; kNone: it does not count
  // The collectives that count, sorted by the end of the part that came last.
  std::vector<uint32_t> by_end;

  // The parts of a collective, sorted by device.
  [[nodiscard]] std::span<const Part> PartsOf(uint32_t collective) const {
    return std::span(parts_).subspan(first_part_[collective],
                                     first_part_[collective + 1] - first_part_[collective]);
  }

 private:
  friend SkewEvents CollectSkewEvents(const DigestsOfRanks& digests,
                                      const MatchedCollectives& matched);
  void AddDevices(const DigestsOfRanks& digests, const MatchedCollectives& matched);
  void FindSets();
  void FindWider();

  std::vector<Part> parts_;
  std::vector<size_t> first_part_;  // by collective: index into `parts_`; one more entry at the end
};

// Cost: O(p log p) for p parts. Memory: 20 bytes a part, and 4 a communication kernel.
SkewEvents CollectSkewEvents(const DigestsOfRanks& digests, const MatchedCollectives& matched);

}  // namespace tacho
