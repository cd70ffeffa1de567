#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tacho {

// Finds rows by id (>= 0). Profilers number their ids consecutively, so an array is nearly always
// the smallest table. Scattered ids are sorted and searched instead, so lookups stay fast for any
// ids.
class DenseIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // Makes room for the ids id_of(0) to id_of(count - 1). A value below 0 means no id.
  template <typename IdOf>
  DenseIndex(size_t count, IdOf id_of) {
    size_t with_id = 0;
    int64_t last = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t id = id_of(i);
      if (id < 0) continue;
      first_ = with_id == 0 ? id : std::min(first_, id);
      last = with_id == 0 ? id : std::max(last, id);
      ++with_id;
    }
    if (with_id == 0) return;
    const auto spread = static_cast<uint64_t>(last - first_);
    if (spread < 16 * with_id + 4096) {
      dense_.assign(spread + 1, kNone);
    } else {
      scattered_.reserve(with_id);
      for (size_t i = 0; i < count; ++i) {
        if (const int64_t id = id_of(i); id >= 0) scattered_.push_back(id);
      }
      std::ranges::sort(scattered_);
      scattered_.erase(std::unique(scattered_.begin(), scattered_.end()), scattered_.end());
      dense_.assign(scattered_.size(), kNone);
    }
  }

  // The row of an id that the constructor was given; kNone until it is set.
  uint32_t& operator[](int64_t id) {
    return dense_[scattered_.empty() ? static_cast<size_t>(id - first_) : PlaceOf(id)];
  }
  // The row of any id; kNone if the id has no row.
  [[nodiscard]] uint32_t Find(int64_t id) const {
    if (id < 0 || dense_.empty()) return kNone;
    if (scattered_.empty()) {
      const int64_t at = id - first_;
      return at < 0 || at >= static_cast<int64_t>(dense_.size()) ? kNone
                                                                 : dense_[static_cast<size_t>(at)];
    }
    const size_t at = PlaceOf(id);
    return at == scattered_.size() || scattered_[at] != id ? kNone : dense_[at];
  }

 private:
  [[nodiscard]] size_t PlaceOf(int64_t id) const {
    return static_cast<size_t>(std::ranges::lower_bound(scattered_, id) - scattered_.begin());
  }

  int64_t first_ = 0;
  std::vector<int64_t> scattered_;  // sorted; empty when the ids are close together
  std::vector<uint32_t> dense_;     // indexed by id - first_, or by place in scattered_
};

}  // namespace tacho
