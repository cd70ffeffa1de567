#include "io/sqlite_rows.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace tacho {
namespace {

using Kind = SqliteSlot::Kind;

constexpr uint32_t kPageHeader = 8, kPageNumber = 4;  // bytes
constexpr uint8_t kInnerPage = 5, kLeafPage = 13;     // types of a table's pages
// Pages that lie close together are read at once: kRunBytes in all, with at most kMostBetween
// unwanted pages between two wanted ones.
constexpr uint32_t kRunBytes = 256 << 10, kMostBetween = 3;

uint32_t BigEndian2(const uint8_t* at) { return uint32_t{at[0]} << 8 | at[1]; }
uint32_t BigEndian4(const uint8_t* at) { return BigEndian2(at) << 16 | BigEndian2(at + 2); }

// Reads a number and returns the place after it; null if the number reaches beyond `end`.
const uint8_t* ReadVarint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
  if (at < end && *at < 0x80) [[likely]] {
    value = *at;
    return at + 1;
  }
  constexpr int kLongest = 9;  // bytes; all eight bits of the last one count
  value = 0;
  for (int i = 1; at < end; ++i) {
    const uint8_t byte = *at++;
    if (i == kLongest) {
      value = value << 8 | byte;
      return at;
    }
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) return at;
  }
  return nullptr;
}

SqliteSlot SlotOf(uint64_t type, uint32_t at) {
  constexpr std::array<uint8_t, 7> kIntegerBytes{0, 1, 2, 3, 4, 6, 8};
  constexpr uint64_t kReal = 7, kZero = 8, kOne = 9, kFirstBlob = 12;
  if (type >= kFirstBlob) {
    return {(type & 1) != 0 ? Kind::kText : Kind::kBlob, at,
            static_cast<uint32_t>(std::min<uint64_t>((type - kFirstBlob) / 2, UINT32_MAX))};
  }
  if (type == kReal) return {Kind::kReal, at, 8};
  if (type == kZero) return {Kind::kZero, at, 0};
  if (type == kOne) return {Kind::kOne, at, 0};
  if (type == 0 || type > kOne) return {Kind::kNull, at, 0};
  return {Kind::kInteger, at, kIntegerBytes[type]};
}

// An 8-bit hash, enough to distinguish the headers of one table. At least 8 bytes before `header`
// must be readable.
uint64_t HashOf(const uint8_t* header, uint32_t bytes) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t hash = bytes, word = 0;
  for (uint32_t at = 0; at + sizeof word < bytes; at += sizeof word) {
    std::memcpy(&word, header + at, sizeof word);
    hash = (hash ^ word) * kOdd;
    hash ^= hash >> 32;
  }
  std::memcpy(&word, header + bytes - sizeof word, sizeof word);
  if (bytes < sizeof word) word >>= 64 - 8 * bytes;
  return (hash ^ word) * kOdd >> 56;
}

// Whether two headers of the same length are equal. At least 8 bytes before each must be readable.
bool SameHeader(const uint8_t* a, const uint8_t* b, uint32_t bytes) {
  uint64_t of_a = 0, of_b = 0;
  for (uint32_t at = 0; at + sizeof of_a <= bytes; at += sizeof of_a) {
    std::memcpy(&of_a, a + at, sizeof of_a);
    std::memcpy(&of_b, b + at, sizeof of_b);
    if (of_a != of_b) return false;
  }
  return std::memcmp(a + bytes / sizeof of_a * sizeof of_a, b + bytes / sizeof of_a * sizeof of_a,
                     bytes % sizeof of_a) == 0;
}

}  // namespace

std::optional<SqliteLeaves> FindLeaves(const SqlitePages& pages, uint32_t root) {
  constexpr size_t kDeepest = 20;  // SQLite's own limit
  SqliteLeaves leaves;
  std::vector<uint8_t> room(pages.page_bytes());
  const auto header_of = [](uint32_t page) { return page == 1 ? 100U : 0U; };
  const auto type_of = [&](uint32_t page) -> int {
    const uint8_t* const bytes = pages.Read(page, 1, room.data());
    return bytes == nullptr ? -1 : bytes[header_of(page)];
  };
  const int type = type_of(root);
  if (type != kInnerPage && type != kLeafPage) return std::nullopt;
  if (type == kLeafPage) {
    leaves.pages.push_back(root);
    return leaves;
  }
  // Reads the children of an inner page; false if `page` is not one.
  const auto children_of = [&](uint32_t page, std::vector<uint32_t>& children) {
    const uint8_t* const bytes = pages.Read(page, 1, room.data());
    const uint32_t header = header_of(page);
    if (bytes == nullptr || bytes[header] != kInnerPage) return false;
    const uint32_t count = BigEndian2(bytes + header + 3);
    const uint32_t cells = header + kPageHeader + kPageNumber;
    if (cells + 2 * count > pages.usable_bytes()) return false;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t cell = BigEndian2(bytes + cells + 2 * i);
      if (cell < cells || cell + kPageNumber > pages.usable_bytes()) return false;
      children.push_back(BigEndian4(bytes + cell));
    }
    children.push_back(BigEndian4(bytes + header + kPageHeader));
    return true;
  };
  // All leaves are equally deep, so each level consists of the children of the level above.
  std::vector<uint32_t> level{root};
  std::unordered_set<uint32_t> seen;
  for (size_t depth = 0; depth < kDeepest; ++depth) {
    std::vector<uint32_t> below;
    for (const uint32_t page : level) {
      if (!seen.insert(page).second) {
        leaves.damage = "page " + std::to_string(page) + " is in its tree twice";
        break;
      }
      if (!children_of(page, below)) {
        leaves.damage = "page " + std::to_string(page) + " is not a page of its tree";
        break;
      }
    }
    level = std::move(below);
    if (level.empty()) return leaves;
    if (type_of(level.front()) != kInnerPage) {
      leaves.pages = std::move(level);
      return leaves;
    }
  }
  leaves.damage = "its tree is too deep";
  return leaves;
}

SqliteRows::SqliteRows(const SqlitePages& pages, std::span<const uint32_t> leaves,
                       std::span<const SqliteColumn> columns)
    : pages_(pages),
      leaves_(leaves),
      columns_(columns),
      room_(std::make_unique_for_overwrite<uint8_t[]>(
          std::max<size_t>(kRunBytes, pages.page_bytes()))),
      shapes_(kShapes),
      slots_((kShapes + 1) * columns.size()) {
  for (size_t i = 0; i < kShapes; ++i) shapes_[i].slots = slots_.data() + i * columns.size();
  odd_shape_.slots = slots_.data() + kShapes * columns.size();
}

void SqliteRows::Restart(std::span<const uint32_t> leaves) {
  leaves_ = leaves;
  next_leaf_ = 0;
  cell_ = cells_ = 0;
  overflow_pages_ = 0;
  damage_.clear();
}

bool SqliteRows::Damaged(const std::string& why) {
  damage_ = "page " + std::to_string(page_number_) + ": " + why;
  next_leaf_ = leaves_.size();
  cell_ = cells_ = 0;
  return false;
}

// Reads the next leaf, together with the leaves that lie close after it.
bool SqliteRows::FillRun() {
  const uint32_t most = std::max<uint32_t>(kRunBytes / pages_.page_bytes(), 1);
  const uint32_t first = leaves_[next_leaf_];
  uint32_t last = first;
  for (size_t i = next_leaf_ + 1; i < leaves_.size(); ++i) {
    if (leaves_[i] <= last || leaves_[i] - last > kMostBetween + 1 || leaves_[i] - first >= most)
      break;
    last = leaves_[i];
  }
  run_first_ = first;
  run_pages_ = last - first + 1;
  run_ = pages_.Read(first, run_pages_, room_.get());
  if (run_ != nullptr || run_pages_ == 1) return run_ != nullptr;
  run_pages_ = 1;
  run_ = pages_.Read(first, 1, room_.get());
  return run_ != nullptr;
}

bool SqliteRows::NextLeaf() {
  if (next_leaf_ == leaves_.size()) return false;
  page_number_ = leaves_[next_leaf_];
  const bool is_here =
      run_ != nullptr && page_number_ >= run_first_ && page_number_ - run_first_ < run_pages_;
  if (!is_here && !FillRun()) {
    run_ = nullptr;
    return Damaged("is not in the file");
  }
  ++next_leaf_;
  page_ = run_ + size_t{page_number_ - run_first_} * pages_.page_bytes();
  const uint32_t header = page_number_ == 1 ? 100 : 0;
  if (page_[header] != kLeafPage) return Damaged("is not a page with rows");
  cells_ = BigEndian2(page_ + header + 3);
  first_cell_ = header + kPageHeader;
  cell_ = 0;
  if (first_cell_ + 2 * cells_ > pages_.usable_bytes()) return Damaged("has too many rows");
  return true;
}

bool SqliteRows::ReadCell() {
  const uint32_t at = BigEndian2(page_ + first_cell_ + 2 * cell_);
  const uint32_t usable = pages_.usable_bytes();
  if (at < first_cell_ + 2 * cells_ || at >= usable) return Damaged("a row lies outside");
  ++cell_;
  const uint8_t* const end = page_ + usable;
  uint64_t payload = 0, rowid = 0;
  const uint8_t* record = ReadVarint(page_ + at, end, payload);
  if (record != nullptr) record = ReadVarint(record, end, rowid);
  if (record == nullptr) return Damaged("a row is cut off");
  if (payload > kMostBytes) return Damaged("a row of " + std::to_string(payload) + " bytes");
  auto bytes = static_cast<uint32_t>(payload), local = bytes;
  // How much of the row stays in the page: section 1.6 of the file format.
  if (bytes > usable - 35) {
    const uint32_t least = (usable - 12) * 32 / 255 - 23;
    local = least + (bytes - least) % (usable - 4);
    if (local > usable - 35) local = least;
  }
  if (local + (local < bytes ? kPageNumber : 0) > static_cast<size_t>(end - record))
    return Damaged("a row is cut off");
  uint64_t header = 0;
  if (ReadVarint(record, record + local, header) == nullptr || header > bytes)
    return Damaged("a row's header is damaged");
  if (local < bytes) {
    record = Joined(record, local, bytes);
    if (record == nullptr) return false;
  }
  const Shape& shape = ShapeOf(record, static_cast<uint32_t>(header));
  if (shape.is_damaged || shape.end > bytes) return Damaged("a row's header is damaged");
  row_ = SqliteRow(static_cast<int64_t>(rowid), shape.slots, record);
  return true;
}

const SqliteRows::Shape& SqliteRows::ShapeOf(const uint8_t* record, uint32_t header_bytes) {
  if (header_bytes > odd_shape_.header.size() - 8 || header_bytes == 0) {
    Parse(record, header_bytes, odd_shape_);
    return odd_shape_;
  }
  Shape& shape = shapes_[HashOf(record, header_bytes) % kShapes];
  uint8_t* const kept = shape.header.data() + 8;
  if (shape.header_bytes == header_bytes && SameHeader(kept, record, header_bytes)) [[likely]]
    return shape;
  Parse(record, header_bytes, shape);
  shape.header_bytes = header_bytes;
  std::memcpy(kept, record, header_bytes);
  return shape;
}

void SqliteRows::Parse(const uint8_t* record, uint32_t header_bytes, Shape& shape) const {
  std::fill_n(shape.slots, columns_.size(), SqliteSlot());
  shape.end = 0;
  shape.is_damaged = true;
  const uint8_t* const header_end = record + header_bytes;
  uint64_t type = 0, content = header_bytes;
  const uint8_t* at = ReadVarint(record, header_end, type);
  if (at == nullptr) return;
  for (int position = 0; at != header_end; ++position) {
    at = ReadVarint(at, header_end, type);
    if (at == nullptr || content > kMostBytes) return;
    const SqliteSlot slot = SlotOf(type, static_cast<uint32_t>(content));
    content += slot.size;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const SqliteColumn& column = columns_[i];
      if (column.position != position) continue;
      SqliteSlot& to = shape.slots[i] = slot;
      if (column.is_rowid && slot.kind == Kind::kNull) to.kind = Kind::kRowid;
      if (column.is_real) {
        if (slot.kind == Kind::kInteger) to.kind = Kind::kIntegerAsReal;
        if (slot.kind == Kind::kZero) to.kind = Kind::kZeroAsReal;
        if (slot.kind == Kind::kOne) to.kind = Kind::kOneAsReal;
      }
    }
  }
  shape.end = static_cast<uint32_t>(std::min<uint64_t>(content, UINT32_MAX));
  shape.is_damaged = false;
}

const uint8_t* SqliteRows::Joined(const uint8_t* record, uint32_t local, uint32_t bytes) {
  constexpr size_t kBefore = 8;  // readable bytes before a record, see SqliteRow
  const uint32_t usable = pages_.usable_bytes();
  overflow_page_.resize(pages_.page_bytes());
  joined_.resize(kBefore);
  joined_.insert(joined_.end(), record, record + local);
  uint32_t next = BigEndian4(record + local);
  while (joined_.size() < kBefore + bytes) {
    const uint8_t* const page = pages_.Read(next, 1, overflow_page_.data());
    if (page == nullptr || ++overflow_pages_ > pages_.count()) {
      Damaged("a row goes on in page " + std::to_string(next) + ", which " +
              (page == nullptr ? "is not in the file" : "belongs to another row"));
      return nullptr;
    }
    const size_t more = std::min<size_t>(usable - kPageNumber, kBefore + bytes - joined_.size());
    joined_.insert(joined_.end(), page + kPageNumber, page + kPageNumber + more);
    next = BigEndian4(page);
  }
  return joined_.data() + kBefore;
}

}  // namespace tacho
