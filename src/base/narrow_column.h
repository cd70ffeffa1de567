#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/column.h"

namespace tacho {

// A column of int64 values. A value that fits into 32 bits takes 4 bytes; all others are stored
// separately, so nearly all values should fit. Made for durations (few are over 4.29 s) and for ids
// counted from 0. -1 means "none" and takes no extra memory. A read costs one more comparison than
// in a plain column.
class NarrowColumn {
 public:
  static constexpr int64_t kNone = -1;

  void push_back(int64_t value) { narrow_.push_back(Narrow(narrow_.size(), value)); }
  // Sets a value that was kNone.
  void Fill(size_t i, int64_t value) { narrow_[i] = Narrow(i, value); }
  int64_t operator[](size_t i) const {
    const uint32_t v = narrow_[i];
    if (v < kWide) return v;
    return v == kNoneMark ? kNone : wide_.find(i)->second;
  }
  [[nodiscard]] size_t size() const { return narrow_.size(); }
  [[nodiscard]] size_t MemoryBytes() const {
    return narrow_.MemoryBytes() + wide_.size() * 4 * sizeof(void*);
  }

 private:
  static constexpr uint32_t kWide = 0xfffffffe;
  static constexpr uint32_t kNoneMark = 0xffffffff;

  uint32_t Narrow(size_t i, int64_t value) {
    if (value >= 0 && value < kWide) return static_cast<uint32_t>(value);
    if (value == kNone) return kNoneMark;
    wide_.emplace(i, value);
    return kWide;
  }

  Column<uint32_t> narrow_;
  std::unordered_map<size_t, int64_t> wide_;
};

}  // namespace tacho
