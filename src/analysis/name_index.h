#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace tacho {

// Gives the names that an analysis meets small numbers, counted up from 0 in order of first sight,
// so that it can keep its totals in a vector. Lookup is one read of an array as long as the string
// pool.
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
  // By number.
  [[nodiscard]] const std::vector<StringId>& names() const { return names_; }
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  std::vector<uint32_t> numbers_;  // by StringId
  std::vector<StringId> names_;
};

}  // namespace tacho
