#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/index/gpu_scope.h"

namespace tacho {

// Distinct ids of devices or streams, in the order of IdLess once Sort has run.
class SortedIds {
 public:
  void Add(std::string_view id) { ids_.emplace_back(id); }
  void Sort() {
    std::ranges::sort(ids_, IdLess);
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }
  [[nodiscard]] uint32_t IndexOf(std::string_view id) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(ids_, id, IdLess) - ids_.begin());
  }
  [[nodiscard]] const std::vector<std::string>& ids() const { return ids_; }

 private:
  std::vector<std::string> ids_;
};

}  // namespace tacho
