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

// Where a column of a table is in its records.
struct SqliteColumn {
  int position = -1;      // -1: the table does not have it
  bool is_rowid = false;  // INTEGER PRIMARY KEY: the records have NULL instead
  bool is_real = false;   // may be stored as an integer
};

// The leaf pages of a table, by increasing rowid.
struct SqliteLeaves {
  std::vector<uint32_t> pages;
  std::string damage;  // why pages are missing; "" if these are all
};

// Finds the leaf pages of the table whose tree begins at the page `root`. nullopt if that page is
// no part of a table with rowids. Cost: reads each inner page at most once; memory: one entry for
// each cell of these pages.
std::optional<SqliteLeaves> FindLeaves(const SqlitePages& pages, uint32_t root);

// Reads rows straight from leaf pages, without SQLite: some nanoseconds a row. Whether a row counts
// as damaged does not depend on the columns asked for. Reading always ends, whatever the pages
// hold: it reads each leaf once, and no more overflow pages than the database has. Memory: 256 KiB
// and the largest row, of at most kMostBytes.
class SqliteRows {
 public:
  static constexpr uint32_t kMostBytes = 16 << 20;

  // All arguments must outlive this object.
  SqliteRows(const SqlitePages& pages, std::span<const uint32_t> leaves,
             std::span<const SqliteColumn> columns);

  // Goes on with other leaf pages.
  void Restart(std::span<const uint32_t> leaves);

  // False at the end, and at damage. The rowids are not checked.
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
  // Where the columns are in records with the same header. Rows of a table have few different
  // headers.
  struct Shape {
    uint32_t header_bytes = 0;  // 0: no header yet
    uint32_t end = 0;           // where the last value ends, from the beginning of the record
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
  // All `bytes` of a record whose first `local` bytes are in the page. Null at damage.
  const uint8_t* Joined(const uint8_t* record, uint32_t local, uint32_t bytes);
  bool Damaged(const std::string& why);

  const SqlitePages& pages_;
  std::span<const uint32_t> leaves_;
  std::span<const SqliteColumn> columns_;

  std::unique_ptr<uint8_t[]> room_;  // memory for a run of pages
  const uint8_t* run_ = nullptr;
  uint32_t run_first_ = 0, run_pages_ = 0;
  size_t next_leaf_ = 0;

  const uint8_t* page_ = nullptr;
  uint32_t page_number_ = 0, cell_ = 0, cells_ = 0, first_cell_ = 0;

  std::vector<Shape> shapes_;
  std::vector<SqliteSlot> slots_;
  Shape odd_shape_;  // for a row whose header is too long to be kept
  std::vector<uint8_t> joined_, overflow_page_;
  uint64_t overflow_pages_ = 0;
  SqliteRow row_;
  std::string damage_;
};

}  // namespace tacho
