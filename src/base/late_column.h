#pragma once

#include <cstddef>

#include "base/column.h"

namespace tacho {

// A column that is empty or ends early in many tables: it stores only the rows up to the last one
// with a value. All other rows read `kNone`. A table without any value pays nothing.
template <typename T, T kNone, typename Stored = Column<T>>
class LateColumn {
 public:
  // Call it with rows in increasing order: `row` must be above every row that was set before.
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
