#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tacho {

// A value within the record of a row: https://www.sqlite.org/fileformat.html, section 2.1.
struct SqliteSlot {
  enum class Kind : uint8_t {
    kNull,
    kInteger,  // `size` bytes
    kZero,     // an integer that takes no bytes
    kOne,
    kRowid,          // the rowid of the row
    kReal,           // 8 bytes
    kIntegerAsReal,  // a real stored as an integer, in fewer bytes; 0 and 1 take no bytes:
    kZeroAsReal,
    kOneAsReal,
    kText,
    kBlob,
  };
  Kind kind = Kind::kNull;
  uint32_t at = 0, size = 0;  // in bytes, within the record
};

// Some columns of one row. Values are converted as SQLite does it: 0 and "" for NULL. NaN is NULL.
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
  // A view into the record; for a number, a view of its text, which is written to `number`.
  [[nodiscard]] std::string_view Text(int column, std::string& number) const;

 private:
  // Big endian, two's complement. The bytes before the value are shifted out.
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
