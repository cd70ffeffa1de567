#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace tacho {
namespace {

constexpr size_t kFirstBlock = 4096;
constexpr size_t kLargestBlock = 1 << 20;

uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

uint64_t Fold(uint64_t a, uint64_t b) {
  __extension__ using uint128 = unsigned __int128;
  const uint128 product = static_cast<uint128>(a) * b;
  // `a` is added because all products with a factor of zero are equal.
  return (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) + a;
}

}  // namespace

// Multiplies and folds blocks of 16 bytes, as wyhash does. The last block overlaps the one before
// it.
uint64_t HashBytes(std::string_view bytes) {
  constexpr uint64_t kA = 0xa0761d6478bd642f, kB = 0xe7037ed1a0b428db;
  const char* p = bytes.data();
  const size_t n = bytes.size();
  uint64_t h = n * kB;
  if (n >= 16) {
    const char* last = p + n - 16;
    for (; p < last; p += 16) h = Fold(Load64(p) ^ kA ^ h, Load64(p + 8) ^ kB);
    return Fold(Load64(last) ^ kA ^ h, Load64(last + 8) ^ kB);
  }
  char tail[16] = {};
  if (n != 0) std::memcpy(tail, p, n);
  return Fold(Load64(tail) ^ kA ^ h, Load64(tail + 8) ^ kB);
}

StringPool::StringPool() : table_(64, 0) { Intern(""); }

StringId StringPool::Intern(std::string_view text) {
  const uint64_t hash = HashBytes(text);
  size_t slot = Slot(text, hash);
  if (table_[slot] != 0) return static_cast<StringId>(table_[slot] - 1);
  if ((strings_.size() + 1) * 8 > table_.size() * 5) {
    Grow();
    slot = Slot(text, hash);
  }
  strings_.push_back(Store(text));
  hashes_.push_back(static_cast<uint32_t>(hash >> 32));
  table_[slot] = static_cast<uint32_t>(strings_.size());
  return static_cast<StringId>(strings_.size() - 1);
}

StringId StringPool::Find(std::string_view text) const {
  const uint32_t entry = table_[Slot(text, HashBytes(text))];
  return entry == 0 ? StringId::kEmpty : static_cast<StringId>(entry - 1);
}

size_t StringPool::MemoryBytes() const {
  return bytes_ + strings_.capacity() * sizeof(std::string_view) +
         (hashes_.capacity() + table_.capacity()) * sizeof(uint32_t);
}

// The index in `table_` that holds `text`, or the free index where it belongs. The low half of the
// hash chooses the index; the high half is compared before the bytes are.
size_t StringPool::Slot(std::string_view text, uint64_t hash) const {
  const size_t mask = table_.size() - 1;
  const auto high = static_cast<uint32_t>(hash >> 32);
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const uint32_t entry = table_[slot];
    if (entry == 0) return slot;
    if (hashes_[entry - 1] == high && strings_[entry - 1] == text) return slot;
  }
}

std::string_view StringPool::Store(std::string_view text) {
  static constexpr std::string_view kBlank = "                ";
  if (text.empty())
    return kBlank.substr(0, 0);  // 15 bytes after it may be read, as for every string
  if (text.size() > block_size_ - block_used_) {
    block_size_ = std::max(text.size(), std::clamp(bytes_, kFirstBlock, kLargestBlock));
    // Vector code may read up to 15 bytes past the end of a string.
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_ + 16));
    bytes_ += block_size_;
    block_used_ = 0;
  }
  char* to = blocks_.back().get() + block_used_;
  std::memcpy(to, text.data(), text.size());
  block_used_ += text.size();
  return {to, text.size()};
}

void StringPool::Grow() {
  std::vector<uint32_t> old(table_.size() * 2, 0);
  table_.swap(old);
  // Hashes each string again, because only the upper half of its hash is kept. Growing is rare.
  const size_t mask = table_.size() - 1;
  for (uint32_t id = 0; id < strings_.size(); ++id) {
    size_t slot = HashBytes(strings_[id]) & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    table_[slot] = id + 1;
  }
}

}  // namespace tacho
