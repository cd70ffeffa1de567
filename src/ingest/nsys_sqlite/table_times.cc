#include "ingest/nsys_sqlite/table_times.h"

namespace tacho::nsys {

std::optional<int64_t> TableTimes::OtherProcessOf(const TableScan& row,
                                                  std::optional<int64_t> global) {
  if (!global) {
    SkipRow(row);
    return std::nullopt;
  }
  const int64_t process = ProcessKey(*global);
  if (!processes_.contains(process)) {
    if (!is_known_(process)) {
      if (room_ == 0) {
        is_full_ = true;
        SkipRow(row);
        return std::nullopt;
      }
      --room_;
    }
    processes_.emplace(process, row.row());
  }
  last_process_ = process;
  has_last_ = true;
  return process;
}

TableTimes::Entry& TableTimes::Insert(const TableScan& row, const Key& key, uint64_t hash,
                                      size_t at) {
  entries_.push_back({key, hash, row.row(), {}, {}});
  places_[at] = static_cast<uint32_t>(entries_.size() - 1);
  if (entries_.size() * 2 > places_.size()) {
    places_.assign(places_.size() * 2, kNone);
    mask_ = places_.size() - 1;
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      size_t to = entries_[i].hash & mask_;
      while (places_[to] != kNone) to = (to + 1) & mask_;
      places_[to] = i;
    }
  }
  return entries_.back();
}

}  // namespace tacho::nsys
