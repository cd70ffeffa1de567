#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tacho {

// Rows by an id of theirs (>= 0). Profilers count their ids up, so that an array is nearly always
// the smallest table; scattered ids get a hash map.
class DenseIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // Room for the ids id_of(0) to id_of(count - 1); those below 0 are none.
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
      sparse_.reserve(with_id);
    }
  }

  // The row of an id that is one of those; kNone until it is given one.
  uint32_t& operator[](int64_t id) {
    return dense_.empty() ? sparse_.try_emplace(id, kNone).first->second
                          : dense_[static_cast<size_t>(id - first_)];
  }
  // The row of any id, kNone without one.
  [[nodiscard]] uint32_t Find(int64_t id) const {
    if (id < 0) return kNone;
    if (!dense_.empty()) {
      const int64_t at = id - first_;
      return at < 0 || at >= static_cast<int64_t>(dense_.size()) ? kNone
                                                                 : dense_[static_cast<size_t>(at)];
    }
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? kNone : found->second;
  }

 private:
  int64_t first_ = 0;
  std::vector<uint32_t> dense_;  // by id - first_
  std::unordered_map<int64_t, uint32_t> sparse_;
};

}  // namespace tacho
