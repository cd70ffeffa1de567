#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/sqlite_pages.h"
#include "io/sqlite_record.h"

namespace tacho {

// Where the records of a table hold one of its columns.
struct SqliteColumn {
  int position = -1;      // -1: the table has no such column
  bool is_rowid = false;  // INTEGER PRIMARY KEY, for which the records have NULL
  bool is_real = false;   // reals may be stored as integers
};

// The leaf pages of a table (those that hold its rows), in the order of their rowids.
struct SqliteLeaves {
  std::vector<uint32_t> pages;
  std::string damage;  // why some pages are missing; "" if none is
};

// Finds the leaf pages of the table whose tree of pages begins at page `root`. nullopt if that page
// is not part of a table with rowids. Cost: reads each inner page at most once. Memory: one entry
// per cell of the inner pages.
std::optional<SqliteLeaves> FindLeaves(const SqlitePages& pages, uint32_t root);

// Reads rows straight from leaf pages, without SQLite, in some nanoseconds per row. Whether a row
// counts as damaged does not depend on the requested columns. Damaged pages cannot make it read for
// ever: it reads each leaf once, and no more overflow pages than the database has. Memory: 256 KiB
// and the largest row, which may have kMostBytes.
class SqliteRows {
 public:
  static constexpr uint32_t kMostBytes = 16 << 20;

  // All arguments must outlive this object.
  SqliteRows(const SqlitePages& pages, std::span<const uint32_t> leaves,
             std::span<const SqliteColumn> columns);

  // Continues with other leaf pages.
  void Restart(std::span<const uint32_t> leaves);

  // Moves to the next row. False at the end, and at damage. Does not check the rowids.
  bool Next() {
    while (cell_ == cells_) {
      if (!NextLeaf()) return false;
    }
    return ReadCell();
  }
  // Valid until the next call of Next.
  [[nodiscard]] const SqliteRow& row() const { return row_; }
  // Why reading stopped before the last row: "page 12: ..."; "" if it did not.
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  // Where the columns lie in all records that have the same header. The rows of a table have few
  // different headers.
  struct Shape {
    uint32_t header_bytes = 0;  // 0: no header is stored here yet
    uint32_t end = 0;           // where the last value ends, counted from the record's start
    bool is_damaged = false;
    std::array<uint8_t, 64> header{};
    SqliteSlot* slots = nullptr;
  };
  static constexpr size_t kShapes = 256;

  bool NextLeaf();
  bool FillRun();
  bool ReadCell();
  const Shape& ShapeOf(const uint8_t* record, uint32_t header_bytes);
  void Parse(const uint8_t* record, uint32_t header_bytes, Shape& shape) const;
  // Joins all `bytes` of a record. The page holds only the first `local` of them. Null at damage.
  const uint8_t* Joined(const uint8_t* record, uint32_t local, uint32_t bytes);
  bool Damaged(const std::string& why);

  const SqlitePages& pages_;
  std::span<const uint32_t> leaves_;
  std::span<const SqliteColumn> columns_;

  std::unique_ptr<uint8_t[]> room_;  // holds several pages that were read at once
  const uint8_t* run_ = nullptr;
  uint32_t run_first_ = 0, run_pages_ = 0;
  size_t next_leaf_ = 0;

  const uint8_t* page_ = nullptr;
  uint32_t page_number_ = 0, cell_ = 0, cells_ = 0, first_cell_ = 0;

  std::vector<Shape> shapes_;
  std::vector<SqliteSlot> slots_;
  Shape odd_shape_;  // for a row whose header is too long for a Shape
  std::vector<uint8_t> joined_, overflow_page_;
  uint64_t overflow_pages_ = 0;
  SqliteRow row_;
  std::string damage_;
};

}  // namespace tacho
