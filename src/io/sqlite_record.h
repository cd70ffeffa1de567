#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tacho {

// Where a value lies in a row's record: https://www.sqlite.org/fileformat.html, section 2.1.
struct SqliteSlot {
  enum class Kind : uint8_t {
    kNull,
    kInteger,  // an integer of `size` bytes
    kZero,     // the integer 0; like kOne it takes no bytes
    kOne,
    kRowid,  // the row's rowid
    kReal,   // 8 bytes
    // A real that is stored as an integer, in fewer bytes; the reals 0 and 1 take no bytes:
    kIntegerAsReal,
    kZeroAsReal,
    kOneAsReal,
    kText,
    kBlob,
  };
  Kind kind = Kind::kNull;
  uint32_t at = 0, size = 0;  // bytes; `at` counts from the record's start
};

// Some columns of one row. Values are converted as SQLite does it: NULL gives 0 or "". NaN counts
// as NULL.
class SqliteRow {
 public:
  SqliteRow() = default;
  // `slots` and `record` must outlive the row. At least 8 bytes before `record` must be readable.
  SqliteRow(int64_t rowid, const SqliteSlot* slots, const uint8_t* record)
      : rowid_(rowid), slots_(slots), record_(record) {}

  [[nodiscard]] int64_t rowid() const { return rowid_; }
  [[nodiscard]] bool IsNull(int column) const {
    const SqliteSlot& slot = slots_[column];
    return slot.kind == SqliteSlot::Kind::kNull || IsNotANumber(slot);
  }
  [[nodiscard]] bool IsInteger(int column) const {
    const auto kind = slots_[column].kind;
    return kind >= SqliteSlot::Kind::kInteger && kind <= SqliteSlot::Kind::kRowid;
  }
  [[nodiscard]] int64_t Integer(int column) const {
    const SqliteSlot& slot = slots_[column];
    if (slot.kind == SqliteSlot::Kind::kInteger) [[likely]]
      return StoredInteger(slot);
    return Converted(slot);
  }
  // A view into the record. A number is written to `number` as text, and the view is of that.
  [[nodiscard]] std::string_view Text(int column, std::string& number) const;

 private:
  // Reads a big endian integer in two's complement. Shifts out the bytes before it.
  [[nodiscard]] int64_t StoredInteger(const SqliteSlot& slot) const {
    uint64_t bytes = 0;
    std::memcpy(&bytes, record_ + slot.at + slot.size - sizeof bytes, sizeof bytes);
    if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
    const uint32_t before = 64 - 8 * slot.size;
    return static_cast<int64_t>(bytes << before) >> before;
  }
  [[nodiscard]] int64_t Converted(const SqliteSlot& slot) const;
  [[nodiscard]] double Real(const SqliteSlot& slot) const;
  [[nodiscard]] bool IsNotANumber(const SqliteSlot& slot) const {
    return slot.kind == SqliteSlot::Kind::kReal && std::isnan(Real(slot));
  }

  int64_t rowid_ = 0;
  const SqliteSlot* slots_ = nullptr;
  const uint8_t* record_ = nullptr;
};

}  // namespace tacho
