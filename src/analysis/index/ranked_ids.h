#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace tacho {

// Correlations and External ids. In a merged file each rank counts its own from 1: rank and id
// together make one number. In other files the number is the id.
class RankedIds {
 public:
  explicit RankedIds(const Trace& trace) {
    std::unordered_map<StringId, int64_t> ranks;
    for (size_t i = 0; i < trace.words.tracks().size(); ++i) {
      const StringId rank = trace.words.RankOf(static_cast<TrackId>(i));
      of_track_.push_back(
          ranks.try_emplace(rank, static_cast<int64_t>(ranks.size())).first->second);
    }
    ranks_ = static_cast<int64_t>(ranks.size());
  }

  // -1 for no id.
  [[nodiscard]] int64_t Of(TrackId track, int64_t id) const {
    if (ranks_ <= 1 || id < 0) return id;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t rank = of_track_[Index(track)];
    if (id < kMost / ranks_) return id * ranks_ + rank;
    // No counter gets here; an id that is text does.
    const uint64_t mixed = (static_cast<uint64_t>(id) + static_cast<uint64_t>(rank) + 1) *
                           uint64_t{0x9e3779b97f4a7c15};
    return static_cast<int64_t>(mixed & static_cast<uint64_t>(kMost));
  }

 private:
  std::vector<int64_t> of_track_;  // by TrackId: number of its rank
  int64_t ranks_ = 0;
};

}  // namespace tacho
