#pragma once

#include <cstddef>

#include "base/column.h"

namespace tacho {

// A column for values that few rows have. It stores only the rows up to the last one with a value.
// All other rows read as `kNone`. A column without any value takes no memory.
template <typename T, T kNone, typename Stored = Column<T>>
class LateColumn {
 public:
  // `row` must be greater than in all earlier calls.
  void Set(size_t row, T value) {
    while (values_.size() < row) values_.push_back(kNone);
    values_.push_back(value);
  }
  T operator[](size_t row) const { return row < values_.size() ? values_[row] : kNone; }
  [[nodiscard]] bool empty() const { return values_.size() == 0; }
  [[nodiscard]] size_t MemoryBytes() const { return values_.MemoryBytes(); }

 private:
  Stored values_;
};

}  // namespace tacho
