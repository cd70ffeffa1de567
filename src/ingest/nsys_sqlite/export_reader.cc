#include "ingest/nsys_sqlite/export_reader.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "io/foreign_files.h"

namespace tacho::nsys {
namespace {

// Each process becomes a Trace. A system has at most some hundred processes that can be recorded.
constexpr size_t kMostProcesses = 4096;
// In bytes. Real values are names of at most some kB.
constexpr int kLargestValue = 16 << 20;

constexpr std::string_view kEventTables[] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                             "CUPTI_ACTIVITY_KIND_KERNEL",
                                             "CUPTI_ACTIVITY_KIND_MEMCPY",
                                             "CUPTI_ACTIVITY_KIND_MEMSET",
                                             "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                             "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                             "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                             "PROFILER_OVERHEAD",
                                             "NVTX_EVENTS",
                                             "OSRT_API"};

// For a database without a table of strings: says what it is and what to do.
std::string WhatElse(const Schema& schema) {
  constexpr size_t kShown = 5;
  constexpr std::string_view kAgain = "export the report again with nsys export --type sqlite";
  if (schema.empty()) return std::string("is an empty database: ").append(kAgain);
  const std::string all = schema.Tables(SIZE_MAX);
  if (std::string foreign = ForeignDatabase(all); !foreign.empty()) return foreign;
  const auto has = [&](std::string_view name) { return all.find(name) != std::string::npos; };
  if (has("CUPTI_ACTIVITY_") || has("TARGET_INFO_") || has("META_DATA_EXPORT")) {
    return "is a SQLite database, but no whole export of Nsight Systems: it has no table StringIds "
           "(it has " +
           schema.Tables(kShown) + "); " + std::string(kAgain);
  }
  return "is a SQLite database of another tool (its tables are " + schema.Tables(kShown) +
         "): tacho reads what nsys export --type sqlite writes";
}

constexpr std::array<std::string_view, 3> kWorkTables{
    "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"};

}  // namespace

bool Recording::IsAskedFor(std::string_view table) const {
  const NsysParts& parts = options_.parts;
  const NsysTimed& timed = options_.timed;
  const bool gpu = parts.gpu || timed.gpu;
  if (table == "CUPTI_ACTIVITY_KIND_GRAPH_TRACE") return gpu || parts.rest;
  if (table == "CUPTI_ACTIVITY_KIND_RUNTIME") return parts.calls || timed.calls;
  if (table == "NVTX_EVENTS") return parts.ranges;
  if (table == "OSRT_API") return parts.os_calls || timed.os_calls;
  return std::ranges::find(kWorkTables, table) != kWorkTables.end() ? gpu : parts.rest;
}

void Recording::FindLoneProcess() {
  static constexpr std::array<std::string_view, 1> kThread{"globalTid"};
  const auto lacks_process = [&](std::string_view table) {
    return schema_.Has(table) && !schema_.Has(table, "globalPid");
  };
  if (std::ranges::none_of(kWorkTables, lacks_process)) return;
  std::optional<int64_t> lone;
  for (const std::string_view table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
    TableScan rows(database_, schema_, table, kThread);
    while (rows.Next()) {
      const std::optional<int64_t> thread = rows.Maybe(0);
      if (!thread) continue;
      if (lone && ProcessKey(*thread) != ProcessKey(*lone)) {
        lone_process_.reset();
        return;
      }
      lone = thread;
    }
  }
  lone_process_ = lone.value_or(0);
}

Result<void> Recording::Read() {
  TACHO_RETURN_IF_ERROR(ReadVersion());
  FindLoneProcess();
  for (const std::string_view table : kEventTables) {
    if (!schema_.Has(table) || !IsAskedFor(table)) continue;
    auto last = database_.Prepare("SELECT max(rowid) FROM " + std::string(table));
    const Result<bool> is_row = last ? last->Step() : Result<bool>(false);
    if (is_row && *is_row)
      rows_expected_ +=
          static_cast<uint64_t>(std::max<int64_t>(last->Integer(0), 0)) % (uint64_t{1} << 40);
  }
  const NsysParts& parts = options_.parts;
  const NsysTimed& timed = options_.timed;
  if (parts.calls) ReadCalls();
  if (timed.calls) TimeCalls();
  if (parts.gpu) {
    ReadKernels();
    ReadCopies();
    ReadMemsets();
  }
  if (timed.gpu) {
    TimeKernels();
    TimeCopies();
    TimeMemsets();
  }
  if (parts.rest) {
    ReadGraphs();
    ReadWaits();
  } else if (parts.gpu || timed.gpu) {
    CountGraphs();
  }
  if (parts.ranges) ReadRanges();
  if (parts.os_calls) ReadOsCalls();
  if (timed.os_calls) TimeOsCalls();
  if (parts.rest) {  // read last, when the processes that have other rows are known
    const bool of_any = processes_.empty() && others_.empty();
    ReadOverhead("CUPTI_ACTIVITY_KIND_OVERHEAD", of_any);
    ReadOverhead("PROFILER_OVERHEAD", of_any);
  }
  if (!options_.only.empty() && processes_.empty()) return NoSuchPart();
  ReadFacts();
  return {};
}

tl::unexpected<Error> Recording::NoSuchPart() const {
  constexpr size_t kMost = 20;
  std::string there;
  size_t listed = 0;
  for (const std::string& part : parts_) {
    if (listed++ == kMost) {
      there += ", ...";
      break;
    }
    there += (there.empty() ? "" : ", ") + part;
  }
  return Fail(ErrorKind::kUsage,
              "has no process " + options_.only + "; it has: " + (there.empty() ? "none" : there));
}

RecordedProcess* Recording::ProcessOf(const TableScan& row, int column) {
  const std::optional<int64_t> global = row.Has(column) ? row.Maybe(column) : lone_process_;
  if (!global) {
    SkipRow(row);
    return nullptr;
  }
  const int64_t key = ProcessKey(*global);
  if (last_process_ != nullptr && last_key_ == key) return last_process_;
  if (others_.contains(key)) return nullptr;
  if (RoomForProcesses() == 0 && !processes_.contains(key)) {
    SkipRow(row);
    return nullptr;
  }
  return ProcessOf(key);
}

size_t Recording::RoomForProcesses() const {
  return kMostProcesses - std::min(kMostProcesses, processes_.size() + others_.size());
}

RecordedProcess* Recording::ProcessOf(int64_t key) {
  const auto known = processes_.find(key);
  if (known == processes_.end()) {
    const int64_t pid = PidOfKey(key);
    std::string part = "pid=" + std::to_string(pid);
    if (!parts_.insert(part).second) {
      // Another machine in the recording has a process with the same pid.
      part += ",machine=" + std::to_string(static_cast<uint64_t>(key) >> 24);
      parts_.insert(part);
    }
    if (!options_.only.empty() && part != options_.only) {
      others_.insert(key);
      return nullptr;
    }
    last_process_ =
        (processes_[key] = std::make_unique<RecordedProcess>(options_.next_sink(part), names_, pid))
            .get();
  } else {
    last_process_ = known->second.get();
  }
  last_key_ = key;
  return last_process_;
}

bool Recording::ReadTimes(const TableScan& row, Event& event, Notes& notes, End need) const {
  if (need == End::kNeeded && !options_.parts.unended) need = End::kRequired;
  const auto times = TimesOfRow(row, need, [&](NoteId id) { notes.Add(id, row.place().Text()); });
  if (!times) return false;
  event.start = {times->start};
  event.duration = {times->duration};
  event.has_start = true;
  return true;
}

RecordedProcess* Recording::BeginGpuRow(const TableScan& row, SliceKind kind, Event& event) {
  const std::optional<int64_t> device = row.Maybe(kDevice), stream = row.Maybe(kStream);
  RecordedProcess* const process = ProcessOf(row, kProcess);
  if (process == nullptr) return nullptr;
  if (!device || !stream) {
    SkipRow(row);
    return nullptr;
  }
  process->uses_cuda = true;
  event.kind = kind;
  event.has_category = true;
  event.category = process->Category(kind == SliceKind::kKernel   ? "kernel"
                                     : kind == SliceKind::kMemcpy ? "gpu_memcpy"
                                                                  : "gpu_memset");
  ReadTimes(row, event, process->notes());
  std::tie(event.track, event.stream) = process->Stream(*device, *stream);
  const int64_t correlation = row.Integer(kCorrelation);
  event.correlation = correlation > 0 ? correlation : -1;
  args_.Clear();
  if (!options_.parts.gpu_details) return process;
  args_.Integer("device", *device);
  args_.Integer("context", row.Integer(kContext));
  args_.Integer("stream", *stream);
  if (event.correlation > 0) args_.Correlation(correlation);
  return process;
}

RecordedProcess* Recording::BeginHostRow(const TableScan& row, int thread,
                                         std::string_view category, Event& event) {
  RecordedProcess* const process = ProcessOf(row, thread);
  if (process == nullptr) return nullptr;
  event.has_category = true;
  event.category = process->Category(category);
  event.kind = process->words()[event.category].kind;
  event.track = process->Thread(TidOf(row.Integer(thread)));
  args_.Clear();
  return process;
}

void Recording::ReportProgress() {
  if (!options_.on_progress || rows_expected_ == 0) return;
  options_.on_progress(
      std::min(1.0, static_cast<double>(rows_read_) / static_cast<double>(rows_expected_)));
}

}  // namespace tacho::nsys

namespace tacho {

Result<void> ReadNsysSqlite(SqliteDatabase& database, const NsysReadOptions& options) {
  database.LimitBytes(nsys::kLargestValue);
  TACHO_ASSIGN_OR_RETURN(nsys::Schema schema, nsys::Schema::Read(database));
  if (schema.Has("slices", "dur_ns") && schema.Has("ranks", "base_time_ns")) {
    return Fail(ErrorKind::kUnreadable,
                "is a database that tacho export wrote: name the trace that it was made from, or "
                "open it with sqlite3");
  }
  if (!schema.Has("StringIds", "id") || !schema.Has("StringIds", "value")) {
    return Fail(ErrorKind::kUnreadable, nsys::WhatElse(schema));
  }
  TACHO_ASSIGN_OR_RETURN(nsys::NameTable names, nsys::NameTable::Open(database, schema));
  return nsys::Recording(database, options, std::move(schema), std::move(names)).Read();
}

}  // namespace tacho
