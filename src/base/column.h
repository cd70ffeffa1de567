#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace tacho {

// A growing array of plain values.
//
// Unlike std::vector it grows by realloc. On Linux realloc moves a large block by changing page
// tables, so a column of hundreds of megabytes is never copied; and memory that is reserved but not
// yet written takes no room. Throws std::bad_alloc. Not thread-safe.
template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Column() = default;
  Column(Column&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)),
        size_(std::exchange(o.size_, 0)),
        capacity_(std::exchange(o.capacity_, 0)) {}
  Column& operator=(Column&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(capacity_, o.capacity_);
    return *this;
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column() { std::free(data_); }

  void push_back(T value) {
    if (size_ == capacity_) Grow(size_ + 1);
    data_[size_++] = value;
  }
  // Room for `more` values after the last. Fill it, then call Advance with the number of values
  // written.
  T* Reserve(size_t more) {
    if (capacity_ - size_ < more) Grow(size_ + more);
    return data_ + size_;
  }
  void Advance(size_t written) { size_ += written; }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  [[nodiscard]] const T& back() const { return data_[size_ - 1]; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  [[nodiscard]] size_t MemoryBytes() const { return size_ * sizeof(T); }

 private:
  void Grow(size_t needed) {
    size_t capacity = capacity_ < 32 ? 64 : capacity_ * 2;
    if (capacity < needed) capacity = needed;
    void* grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace tacho
