#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "model/trace.h"

namespace tacho {

// Gives each name of a rank's slices an id, counted from 0. Tiles hold only ids; the page looks the
// names up. The name of a kernel is its short name. Refers to the trace and to the pool, which must
// outlive this object. Cost: one pass over the names in each table, and a parse of each kernel's
// name.
class RankNames {
 public:
  RankNames(const Trace& trace, const StringPool& computed);
  RankNames(const RankNames&) = delete;  // because texts_ has views of short_names_
  RankNames& operator=(const RankNames&) = delete;

  [[nodiscard]] size_t size() const { return texts_.size(); }
  [[nodiscard]] std::string_view operator[](size_t id) const { return texts_[id]; }

  // The ids by StringId: of_gpu_work and of_others for the strings of the trace, of_computed for
  // those of the computed pool. A string that names no slice has the id kNone.
  static constexpr uint32_t kNone = 0xffffffff;
  [[nodiscard]] std::span<const uint32_t> of_gpu_work() const { return of_gpu_work_; }
  [[nodiscard]] std::span<const uint32_t> of_others() const { return of_others_; }
  [[nodiscard]] std::span<const uint32_t> of_computed() const { return of_computed_; }
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  std::vector<std::string_view> texts_;
  std::deque<std::string> short_names_;
  std::vector<uint32_t> of_gpu_work_, of_others_, of_computed_;
};

}  // namespace tacho
