#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "base/column.h"
#include "ingest/nsys_sqlite/global_ids.h"
#include "ingest/nsys_sqlite/row_times.h"
#include "ingest/nsys_sqlite/table_scan.h"
#include "model/notes.h"

namespace tacho::nsys {

// The durations of the rows of a table, or of a part of it, grouped by key. Also the rows' defects,
// each with the first row that has it.
class TableTimes {
 public:
  // First the process (ProcessKey), then integers from the table.
  using Key = std::array<int64_t, 8>;
  struct Entry {
    Key key{};
    uint64_t hash = 0;
    int64_t first_row = 0;
    Column<int64_t> ns, bytes;
  };
  struct Defect {
    uint64_t count = 0;
    int64_t first_row = 0;
  };

  // Takes rows of known processes and of the first `room` other processes. `lone_process`: the
  // globalPid to use if the table lacks that column; absent: unknown.
  TableTimes(std::function<bool(int64_t key)> is_known, size_t room,
             std::optional<int64_t> lone_process)
      : is_known_(std::move(is_known)), room_(room), lone_process_(lone_process) {
    std::random_device random;
    salt_ = uint64_t{random()} << 32 | random();
    multiplier_ = uint64_t{random()} << 32 | random() | 1;
  }

  // The process of the globalPid or globalTid in `column`; nullopt, with a note, if the column
  // holds no such id.
  std::optional<int64_t> ProcessOf(const TableScan& row, int column) {
    const std::optional<int64_t> global = row.Has(column) ? row.Maybe(column) : lone_process_;
    if (global && has_last_ && ProcessKey(*global) == last_process_) return last_process_;
    return OtherProcessOf(row, global);
  }
  // The entry for a row with this key. The first row of a key makes a new entry.
  template <size_t kWords>
  Entry& EntryOf(const TableScan& row, const std::array<int64_t, kWords>& key) {
    static_assert(kWords <= std::tuple_size_v<Key>);
    const uint64_t hash = HashOf(key);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      if (places_[at] == kNone) return Insert(row, Widened(key), hash, at);
      Entry& entry = entries_[places_[at]];
      if (std::equal(key.begin(), key.end(), entry.key.begin())) return entry;
    }
  }
  // How long the row lasted; nullopt, with a note, if its times are not usable.
  std::optional<int64_t> DurationOf(const TableScan& row, int64_t process) {
    const auto times = TimesOfRow(row, End::kRequired, [&](NoteId id) { Count(row, process, id); });
    return times ? std::optional(times->duration) : std::nullopt;
  }
  void SkipRow(const TableScan& row) { ++Of(skipped_, row).count; }
  void Count(const TableScan& row, int64_t process, NoteId id) {
    ++Of(defects_[{process, id}], row).count;
  }

  // The results once all rows were taken. processes() maps each process to its first row.
  [[nodiscard]] const std::map<int64_t, int64_t>& processes() const { return processes_; }
  [[nodiscard]] std::vector<Entry>& entries() { return entries_; }
  [[nodiscard]] const std::map<std::pair<int64_t, NoteId>, Defect>& defects() const {
    return defects_;
  }
  [[nodiscard]] const Defect& skipped() const { return skipped_; }
  // Whether there was no room for one of the processes.
  [[nodiscard]] bool is_full() const { return is_full_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Salted, because otherwise a file could be made whose keys all have the same hash.
  template <size_t kWords>
  [[nodiscard]] uint64_t HashOf(const std::array<int64_t, kWords>& key) const {
    __extension__ typedef unsigned __int128 Wide;
    uint64_t hash = salt_;
    for (const int64_t word : key) {
      const Wide product = static_cast<Wide>(hash ^ static_cast<uint64_t>(word)) * multiplier_;
      hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }
    return hash;
  }
  template <size_t kWords>
  static Key Widened(const std::array<int64_t, kWords>& key) {
    Key wide{};
    std::copy(key.begin(), key.end(), wide.begin());
    return wide;
  }
  static Defect& Of(Defect& defect, const TableScan& row) {
    if (defect.count == 0) defect.first_row = row.row();
    return defect;
  }
  std::optional<int64_t> OtherProcessOf(const TableScan& row, std::optional<int64_t> global);
  Entry& Insert(const TableScan& row, const Key& key, uint64_t hash, size_t at);

  std::function<bool(int64_t key)> is_known_;
  size_t room_;
  std::optional<int64_t> lone_process_;
  uint64_t salt_ = 0, multiplier_ = 0;
  bool is_full_ = false;
  std::map<int64_t, int64_t> processes_;
  int64_t last_process_ = 0;
  bool has_last_ = false;
  std::vector<Entry> entries_;
  size_t mask_ = 255;
  std::vector<uint32_t> places_ = std::vector<uint32_t>(256, kNone);  // hash -> index of an entry
  std::map<std::pair<int64_t, NoteId>, Defect> defects_;              // by process and note
  Defect skipped_;
};

}  // namespace tacho::nsys
