#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tacho {

// The id of a string in a StringPool. 0 is the empty string in every pool.
enum class StringId : uint32_t { kEmpty = 0 };

// A 64-bit hash whose bits are all well mixed. An attacker can construct collisions, so tables that
// use it compare whole keys.
uint64_t HashBytes(std::string_view bytes);

// Stores each distinct string once and gives it a 32-bit id, counted from 0 in the order of
// arrival.
//
// Views stay valid as long as the pool exists. Up to 15 bytes past the end of each view may be
// read. Not thread-safe; each trace has its own pool. Memory: the bytes plus about 28 bytes a
// string. Cost of Intern: one hash and, if the string is found, one comparison.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId Intern(std::string_view text);
  // The id of `text`; kEmpty if the pool does not have it.
  [[nodiscard]] StringId Find(std::string_view text) const;
  [[nodiscard]] std::string_view View(StringId id) const {
    return strings_[static_cast<uint32_t>(id)];
  }
  [[nodiscard]] size_t size() const { return strings_.size(); }
  // The bytes of a string, for changing them in place. Afterwards Find and Intern no longer find
  // it.
  [[nodiscard]] std::span<char> Bytes(StringId id) {
    const std::string_view text = View(id);
    return {const_cast<char*>(text.data()), text.size()};
  }
  // All memory of the pool in bytes, with its tables.
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
  // The upper half of each string's hash. If it differs, the strings need not be compared.
  std::vector<uint32_t> hashes_;
  // A hash table with open addressing: id + 1, or 0 for a free slot. Its size is a power of two,
  // and at most 5/8 of it are full.
  std::vector<uint32_t> table_;
};

}  // namespace tacho
