#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace tacho {

// Gives small numbers to the names that an analysis meets: 0 to the first name, 1 to the next, and
// so on. So the analysis can keep its totals in a vector. A lookup reads one element of an array
// that is as long as the string pool.
class NameIndex {
 public:
  explicit NameIndex(const Trace& trace) : numbers_(trace.words.strings.size(), kNone) {}

  uint32_t operator[](StringId name) {
    uint32_t& number = numbers_[Index(name)];
    if (number == kNone) {
      number = static_cast<uint32_t>(names_.size());
      names_.push_back(name);
    }
    return number;
  }
  // Forgets all names. Cost: O(names).
  void Clear() {
    for (const StringId name : names_) numbers_[Index(name)] = kNone;
    names_.clear();
  }
  // The names, in the order of their numbers.
  [[nodiscard]] const std::vector<StringId>& names() const { return names_; }
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  std::vector<uint32_t> numbers_;  // indexed by StringId
  std::vector<StringId> names_;
};

// Gives numbers to pairs of numbers in the same way. This is an open hash table, because any two
// numbers may form a pair.
class PairIndex {
 public:
  uint32_t NumberOf(uint32_t a, uint32_t b) {
    if (2 * pairs_.size() >= numbers_.size()) Grow();
    const uint64_t pair = uint64_t{a} << 32 | b;
    const size_t slot = SlotOf(pair);
    if (numbers_[slot] == kNone) {
      numbers_[slot] = static_cast<uint32_t>(pairs_.size());
      pairs_.push_back(pair);
    }
    return numbers_[slot];
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;

  // Where the pair is, or the free slot where it would be.
  [[nodiscard]] size_t SlotOf(uint64_t pair) const {
    const uint64_t hash = pair * 0x9e3779b97f4a7c15;
    for (size_t slot = hash >> 32;; ++slot) {
      slot &= numbers_.size() - 1;
      if (numbers_[slot] == kNone || pairs_[numbers_[slot]] == pair) return slot;
    }
  }
  void Grow() {
    numbers_.assign(std::max<size_t>(64, 2 * numbers_.size()), kNone);
    for (size_t i = 0; i < pairs_.size(); ++i) {
      numbers_[SlotOf(pairs_[i])] = static_cast<uint32_t>(i);
    }
  }

  std::vector<uint32_t> numbers_;  // indexed by slot of the table; its size is a power of two
  std::vector<uint64_t> pairs_;    // indexed by number
};

}  // namespace tacho
