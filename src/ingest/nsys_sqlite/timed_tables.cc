// Sums up calls and GPU work, table by table, straight from the rows and on several threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <optional>

#include "base/parallel.h"
#include "ingest/nsys_sqlite/export_reader.h"
#include "ingest/nsys_sqlite/nsys_names.h"

namespace tacho::nsys {
namespace {

// Every timed table of GPU work begins with these columns.
enum TimedGpuColumn { kTimedDevice = 2, kTimedStream, kTimedProcess, kFirstTimed };
#define TACHO_TIMED_GPU_COLUMNS "start", "end", "deviceId", "streamId", "globalPid"

// The process of a row of GPU work. If the row is not usable, notes it and returns nullopt.
std::optional<int64_t> ProcessOfGpuRow(const TableScan& row, TableTimes& times) {
  const auto process = times.ProcessOf(row, kTimedProcess);
  if (!process) return std::nullopt;
  if (row.Maybe(kTimedDevice) && row.Maybe(kTimedStream)) return process;
  times.SkipRow(row);
  return std::nullopt;
}

// Stands for NULL in a key.
constexpr int64_t kMissing = -1;

// One value of a key; nullopt for kMissing, which no kind of memory has because none is negative.
std::optional<int64_t> UnlessMissing(int64_t value) {
  return value == kMissing ? std::nullopt : std::optional(value);
}

}  // namespace

TableTimes Recording::NoTimes() const {
  return TableTimes([this](int64_t process) { return processes_.contains(process); },
                    RoomForProcesses(), lone_process_);
}

template <typename Take>
std::vector<TableTimes> Recording::TimesOf(std::string_view table,
                                           std::span<const std::string_view> columns,
                                           const Take& take) {
  std::vector<TableTimes> parts;
  TableScan whole(database_, schema_, table, columns);
  if (TakeInParallel(whole, parts, take)) return parts;
  parts.clear();
  TableTimes& times = parts.emplace_back(NoTimes());
  while (whole.Next()) {
    if (++rows_read_ % kRowsAReport == 0) ReportProgress();
    take(whole, times);
  }
  if (!whole.damage().empty()) common_.Add(NoteId::kDamagedTable, whole.damage());
  return parts;
}

// Returns false if the table is small, damaged, or has too many processes. The caller must then
// discard `parts` and read the rows in order: only that shows which rows of a damaged table count.
template <typename Take>
bool Recording::TakeInParallel(const TableScan& whole, std::vector<TableTimes>& parts,
                               const Take& take) {
  const size_t pages = whole.pages();
  const size_t a_range =
      database_.pages() == nullptr
          ? 1
          : std::max<size_t>(options_.timed.bytes_at_once / database_.pages()->page_bytes(), 1);
  const size_t ranges = (pages + a_range - 1) / a_range;
  const size_t threads = options_.timed.threads == 0 ? CoreCount() : options_.timed.threads;
  const size_t workers = std::min(threads, ranges);
  if (workers < 2 || !whole.is_whole()) return false;
  struct RowIds {
    int64_t first = 0, last = 0;
    bool has_rows = false;
  };
  std::vector<RowIds> ids(ranges);
  std::atomic<size_t> next = 0;
  std::atomic<bool> is_sound = true;
  std::mutex mutex;
  for (size_t i = 0; i < workers; ++i) parts.push_back(NoTimes());
  ParallelFor(workers, workers, [&](size_t worker) {
    TableTimes& times = parts[worker];
    TableScan rows = TableScan::PartOf(whole);
    for (size_t range = next++; range < ranges && is_sound; range = next++) {
      rows.Restrict(range * a_range, std::min(pages, (range + 1) * a_range));
      uint64_t count = 0;
      for (; rows.Next(); ++count) {
        if (count == 0) ids[range].first = rows.row();
        take(rows, times);
      }
      ids[range].last = rows.row();
      ids[range].has_rows = count > 0;
      if (!rows.damage().empty() || times.is_full()) is_sound = false;
      const std::lock_guard lock(mutex);
      rows_read_ += count;
      ReportProgress();
    }
  });
  std::optional<int64_t> last;
  size_t processes = 0;
  for (const RowIds& range : ids) {
    if (!range.has_rows) continue;
    if (last && range.first <= *last) is_sound = false;
    last = range.last;
  }
  for (const TableTimes& part : parts) processes += part.processes().size();
  return is_sound && processes <= RoomForProcesses();
}

template <typename Use>
void Recording::EnterTimes(std::string_view table, std::vector<TableTimes>& parts, const Use& use) {
  std::map<int64_t, int64_t> first_rows;  // by process
  std::map<std::pair<int64_t, NoteId>, TableTimes::Defect> defects;
  TableTimes::Defect skipped;
  const auto join = [](TableTimes::Defect& to, const TableTimes::Defect& of) {
    if (of.count == 0) return;
    to.first_row = to.count == 0 ? of.first_row : std::min(to.first_row, of.first_row);
    to.count += of.count;
  };
  std::vector<TableTimes::Entry*> entries;
  for (TableTimes& part : parts) {
    for (const auto& [process, row] : part.processes()) {
      const auto [known, added] = first_rows.try_emplace(process, row);
      if (!added) known->second = std::min(known->second, row);
    }
    for (const auto& [of, defect] : part.defects()) join(defects[of], defect);
    join(skipped, part.skipped());
    for (TableTimes::Entry& entry : part.entries()) entries.push_back(&entry);
  }
  std::vector<std::pair<int64_t, int64_t>> in_order;  // row, process
  for (const auto& [process, row] : first_rows) in_order.emplace_back(row, process);
  std::ranges::sort(in_order);
  for (const auto& [row, process] : in_order) ProcessOf(process);
  for (const auto& [of, defect] : defects) {
    ProcessOf(of.first)->notes().Add(of.second, RowPlace{table, defect.first_row}.Text(),
                                     defect.count);
  }
  if (skipped.count > 0) {
    common_.Add(NoteId::kDamagedRow, RowPlace{table, skipped.first_row}.Text(), skipped.count);
  }
  std::ranges::sort(entries, {}, &TableTimes::Entry::first_row);
  for (TableTimes::Entry* const entry : entries) use(*ProcessOf(entry->key[0]), *entry);
}

void Recording::TimeCalls() {
  enum { kThread = 2, kName };
  static constexpr std::array<std::string_view, 4> kColumns{"start", "end", "globalTid", "nameId"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  auto parts = TimesOf(kTable, kColumns, [](const TableScan& row, TableTimes& times) {
    const auto process = times.ProcessOf(row, kThread);
    if (!process) return;
    auto& entry = times.EntryOf(row, std::array{*process, row.Integer(kName)});
    if (const auto ns = times.DurationOf(row, *process)) entry.ns.push_back(*ns);
  });
  EnterTimes(kTable, parts, [&](RecordedProcess& process, TableTimes::Entry& entry) {
    process.uses_cuda = true;
    const StringId name = process.Name(entry.key[1], RowPlace{kTable, entry.first_row});
    const CallName call = SplitCallName(process.words()[name]);
    WorkTimes::Call& to = options_.timed.into->calls.emplace_back();
    to.name = call.name;
    to.version = call.version;
    to.ns.push_back(std::move(entry.ns));
  });
}

void Recording::TimeOsCalls() {
  enum { kThread = 2, kName, kClass };
  static constexpr std::array<std::string_view, 5> kColumns{"start", "end", "globalTid", "nameId",
                                                            "eventClass"};
  constexpr std::string_view kTable = "OSRT_API";
  auto parts = TimesOf(kTable, kColumns, [](const TableScan& row, TableTimes& times) {
    const auto process = times.ProcessOf(row, kThread);
    if (!process) return;
    auto& entry = times.EntryOf(row, std::array{*process, row.Integer(kName)});
    const auto ns = times.DurationOf(row, *process);
    if (ns && row.Integer(kClass) == kOsCall) entry.ns.push_back(*ns);
  });
  EnterTimes(kTable, parts, [&](RecordedProcess& process, TableTimes::Entry& entry) {
    const StringId name = process.Name(entry.key[1], RowPlace{kTable, entry.first_row});
    WorkTimes::OsCall& to = options_.timed.into->os_calls.emplace_back();
    to.name = process.words()[name];
    to.ns.push_back(std::move(entry.ns));
  });
}

void Recording::TimeKernels() {
  enum { kName = kFirstTimed, kBaseName, kGrid, kBlock = kGrid + 3, kColumnCount = kBlock + 3 };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{TACHO_TIMED_GPU_COLUMNS,
                                                                       "demangledName",
                                                                       "shortName",
                                                                       "gridX",
                                                                       "gridY",
                                                                       "gridZ",
                                                                       "blockX",
                                                                       "blockY",
                                                                       "blockZ"};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
  const bool details = options_.timed.gpu_details;
  const std::span columns(kColumns);
  const auto add = [](const TableScan& row, TableTimes& times, const auto& key) {
    auto& entry = times.EntryOf(row, key);
    if (const auto ns = times.DurationOf(row, key[0])) entry.ns.push_back(*ns);
  };
  const auto take = [&](const TableScan& row, TableTimes& times) {
    const auto process = ProcessOfGpuRow(row, times);
    if (!process) return;
    const int64_t name = row.Integer(row.IsNull(kName) ? kBaseName : kName);
    if (!details) return add(row, times, std::array{*process, name});
    add(row, times,
        std::array{*process, name, row.Integer(kGrid), row.Integer(kGrid + 1),
                   row.Integer(kGrid + 2), row.Integer(kBlock), row.Integer(kBlock + 1),
                   row.Integer(kBlock + 2)});
  };
  auto parts = TimesOf(kTable, details ? columns : columns.first(kGrid), take);
  EnterTimes(kTable, parts, [&](RecordedProcess& process, TableTimes::Entry& entry) {
    process.uses_cuda = true;
    const StringId name = process.Name(entry.key[1], RowPlace{kTable, entry.first_row});
    WorkTimes::Kernel& to = options_.timed.into->kernels.emplace_back();
    to.name = process.words()[name];
    if (details) {
      const auto& key = entry.key;
      to.grid = XyzOf(key[2], key[3], key[4]);
      to.block = XyzOf(key[5], key[6], key[7]);
    }
    to.ns.push_back(std::move(entry.ns));
  });
}

template <typename Key, typename Name>
void Recording::TimeMemory(std::string_view table, std::span<const std::string_view> columns,
                           SliceKind kind, const Key& key_of, const Name& name_of) {
  constexpr int kBytes = kFirstTimed;
  const bool details = options_.timed.gpu_details;
  auto parts = TimesOf(table, columns, [&](const TableScan& row, TableTimes& times) {
    const auto process = ProcessOfGpuRow(row, times);
    if (!process) return;
    auto& entry = times.EntryOf(row, key_of(*process, row));
    const auto ns = times.DurationOf(row, *process);
    if (!ns) return;
    entry.ns.push_back(*ns);
    if (details) entry.bytes.push_back(row.Integer(kBytes));
  });
  EnterTimes(table, parts, [&](RecordedProcess& process, TableTimes::Entry& entry) {
    process.uses_cuda = true;
    WorkTimes::MemoryWork& to = options_.timed.into->memory.emplace_back();
    to.kind = kind;
    to.name = name_of(entry.key);
    to.ns.push_back(std::move(entry.ns));
    to.bytes.push_back(std::move(entry.bytes));
  });
}

void Recording::TimeCopies() {
  enum { kKind = kFirstTimed + 1, kFrom, kTo, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{
      TACHO_TIMED_GPU_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"};
  TimeMemory(
      "CUPTI_ACTIVITY_KIND_MEMCPY", kColumns, SliceKind::kMemcpy,
      [](int64_t process, const TableScan& row) {
        return std::array{process, row.Integer(kKind), row.Maybe(kFrom).value_or(kMissing),
                          row.Maybe(kTo).value_or(kMissing)};
      },
      [](const auto& key) {
        return CopyName(key[1], UnlessMissing(key[2]), UnlessMissing(key[3]));
      });
}

void Recording::TimeMemsets() {
  enum { kMemory = kFirstTimed + 1, kColumnCount };
  static constexpr std::array<std::string_view, kColumnCount> kColumns{TACHO_TIMED_GPU_COLUMNS,
                                                                       "bytes", "memKind"};
  TimeMemory(
      "CUPTI_ACTIVITY_KIND_MEMSET", kColumns, SliceKind::kMemset,
      [](int64_t process, const TableScan& row) {
        return std::array{process, row.Maybe(kMemory).value_or(kMissing)};
      },
      [](const auto& key) { return MemsetName(UnlessMissing(key[1])); });
}

void Recording::CountGraphs() {
  static constexpr std::array<std::string_view, kFirstTimed> kColumns{TACHO_TIMED_GPU_COLUMNS};
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  auto parts = TimesOf(kTable, kColumns, [](const TableScan& row, TableTimes& times) {
    if (const auto process = ProcessOfGpuRow(row, times))
      times.Count(row, *process, NoteId::kGraphAsOne);
  });
  EnterTimes(kTable, parts, [](const RecordedProcess&, const TableTimes::Entry&) {});
}

#undef TACHO_TIMED_GPU_COLUMNS

}  // namespace tacho::nsys
