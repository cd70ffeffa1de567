#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace tacho {

// Makes correlation ids and external ids unique. In a merged file each rank counts its own ids from
// 1, so the number returned combines rank and id. In other files it is the id itself.
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

  // A negative `id` means no id and is returned as it is.
  [[nodiscard]] int64_t Of(TrackId track, int64_t id) const {
    if (ranks_ <= 1 || id < 0) return id;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t rank = of_track_[Index(track)];
    if (id < kMost / ranks_) return id * ranks_ + rank;
    // No counter gets this far, but an id made from text does.
    const uint64_t mixed = (static_cast<uint64_t>(id) + static_cast<uint64_t>(rank) + 1) *
                           uint64_t{0x9e3779b97f4a7c15};
    return static_cast<int64_t>(mixed & static_cast<uint64_t>(kMost));
  }

 private:
  std::vector<int64_t> of_track_;  // by TrackId: the number of its rank
  int64_t ranks_ = 0;
};

}  // namespace tacho
