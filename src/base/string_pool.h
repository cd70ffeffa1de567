#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tacho {

// A string of one StringPool. 0 is the empty string in every pool.
enum class StringId : uint32_t { kEmpty = 0 };

// A 64-bit hash of `bytes`, good in all its bits. It does not resist chosen collisions: tables that
// use it compare whole keys.
uint64_t HashBytes(std::string_view bytes);

// Keeps each distinct string once and gives it a 32-bit id, counted up from 0 in order of arrival.
//
// Views stay valid as long as the pool lives; 15 bytes past the end of each may be read. Not
// thread-safe; one pool belongs to one trace. Memory: the bytes plus about 28 bytes a string. Cost
// of Intern: one hash and, when found, one compare.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId Intern(std::string_view text);
  // The id of `text`; kEmpty if it is not here.
  [[nodiscard]] StringId Find(std::string_view text) const;
  [[nodiscard]] std::string_view View(StringId id) const {
    return strings_[static_cast<uint32_t>(id)];
  }
  [[nodiscard]] size_t size() const { return strings_.size(); }
  // The bytes of a string, to be changed in place. Find and Intern no longer find a changed string.
  [[nodiscard]] std::span<char> Bytes(StringId id) {
    const std::string_view text = View(id);
    return {const_cast<char*>(text.data()), text.size()};
  }
  // Bytes held, tables included.
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  [[nodiscard]] size_t Slot(std::string_view text, uint64_t hash) const;
  std::string_view Store(std::string_view text);
  void Grow();

  std::deque<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
  size_t bytes_ = 0;
  std::vector<std::string_view> strings_;
  std::vector<uint32_t> hashes_;  // upper half of each string's hash: most misses need no compare
  std::vector<uint32_t>
      table_;  // open addressing, id + 1, 0 = free; a power of two, at most 5/8 full
};

}  // namespace tacho
