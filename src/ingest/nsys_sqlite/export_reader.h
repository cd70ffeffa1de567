#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/nsys_sqlite/nsys_reader.h"
#include "ingest/nsys_sqlite/recorded_process.h"
#include "ingest/nsys_sqlite/row_times.h"
#include "ingest/nsys_sqlite/table_scan.h"
#include "ingest/nsys_sqlite/table_times.h"

namespace tacho::nsys {

// Reads one export, table by table, and passes each row to the sink of the row's process. Each
// member Read* reads one table or the tables of one kind (FORMAT.md).
class Recording {
 public:
  Recording(SqliteDatabase& database, const NsysReadOptions& options, Schema schema,
            NameTable names)
      : database_(database),
        options_(options),
        schema_(std::move(schema)),
        names_(std::move(names)) {
    header_.format = TraceFormat::kNsys;
  }

  Result<void> Read();

 private:
  [[nodiscard]] bool IsAskedFor(std::string_view table) const;
  // In host_tables.cc:
  void ReadCalls();
  void ReadOsCalls();
  // `of_any`: reads it even for a process with no other rows (a helper of nsys).
  void ReadOverhead(std::string_view table, bool of_any);
  // In gpu_tables.cc:
  void ReadKernels();
  void ReadCopies();
  void ReadMemsets();
  void ReadGraphs();
  void ReadWaits();
  // These set the event's id and argument from a column, unless it is NULL.
  void AddGraph(const TableScan& row, int column, Event& event);
  void AddGraphNode(const TableScan& row, int column, Event& event);
  // In timed_tables.cc: these sum up the rows of their tables into options_.timed, in parallel.
  void TimeCalls();
  void TimeOsCalls();
  void TimeKernels();
  void TimeCopies();
  void TimeMemsets();
  // Sums up copies or memsets. `columns` begins with the columns of timed GPU rows and then
  // "bytes".
  template <typename Key, typename Name>
  void TimeMemory(std::string_view table, std::span<const std::string_view> columns, SliceKind kind,
                  const Key& key_of, const Name& name_of);
  void CountGraphs();  // notes that there are graphs, without reading rows
  // Calls take(row, times) for each row, on options_.timed.threads threads. Returns one TableTimes
  // per thread.
  template <typename Take>
  std::vector<TableTimes> TimesOf(std::string_view table, std::span<const std::string_view> columns,
                                  const Take& take);
  template <typename Take>
  bool TakeInParallel(const TableScan& whole, std::vector<TableTimes>& parts, const Take& take);
  TableTimes NoTimes() const;
  // Creates the processes that occur in `parts`, and adds their notes. Then calls use(process,
  // entry) for each entry of the parts, in the order of the entries' first rows.
  template <typename Use>
  void EnterTimes(std::string_view table, std::vector<TableTimes>& parts, const Use& use);
  // In nvtx_table.cc:
  void ReadRanges();
  void ReadDomains();
  // The name of an NVTX domain as a JSON string. `key`: the ProcessKey of `process`.
  StringId DomainName(RecordedProcess& process, int64_t key, int64_t domain);
  void NameRange(const TableScan& row, RecordedProcess& process, Event& event);
  // In recording_facts.cc:
  Result<void> ReadVersion();
  void ReadFacts();
  void FillHeader(EventSink& sink);
  void ReadSystem();
  void ReadNames();
  void ReadDevices();
  void ReadDiagnostics();
  void ReadSession();

  // Columns that every table of GPU work has; they come first and in this order.
  enum GpuColumn {
    kStart,
    kEnd,
    kDevice,
    kContext,
    kStream,
    kCorrelation,
    kProcess,
    kFirstOfTable
  };
  // Fills in the fields that all GPU work has, and returns the row's process. Null if the row is
  // not usable; this is noted.
  RecordedProcess* BeginGpuRow(const TableScan& row, SliceKind kind, Event& event);
  // Does the same for a slice of a thread.
  RecordedProcess* BeginHostRow(const TableScan& row, int thread, std::string_view category,
                                Event& event);

  // Calls `use` for each row of the table.
  template <typename Use>
  void Each(std::string_view table, std::span<const std::string_view> columns, const Use& use) {
    TableScan rows(database_, schema_, table, columns);
    while (rows.Next()) {
      if (++rows_read_ % kRowsAReport == 0) ReportProgress();
      use(rows);
    }
    if (!rows.damage().empty()) common_.Add(NoteId::kDamagedTable, rows.damage());
  }
  // The process of a globalPid or globalTid. Null, with a note, if the value is not an id; null,
  // without a note, if the process is not asked for. If the table lacks the column, as in an old or
  // made-up export, the process is the one that FindLoneProcess found.
  RecordedProcess* ProcessOf(const TableScan& row, int column);
  RecordedProcess* ProcessOf(int64_t key);
  [[nodiscard]] tl::unexpected<Error> NoSuchPart() const;
  // Sets lone_process_ to the only process that has calls or ranges: 0 if there is no process,
  // absent if there are several.
  void FindLoneProcess();
  [[nodiscard]] size_t RoomForProcesses() const;
  // Stores columns 0 and 1 as the event's start and duration, and notes defects of the times. If
  // `need` allows a missing end, a row without one has length 0 and no defect. Returns false if the
  // start is missing, or if no table can hold the times.
  bool ReadTimes(const TableScan& row, Event& event, Notes& notes, End need = End::kNeeded) const;
  void SkipRow(const TableScan& row) { common_.Add(NoteId::kDamagedRow, row.place().Text()); }
  void ReportProgress();

  static constexpr uint64_t kRowsAReport = 1 << 16;

  SqliteDatabase& database_;
  const NsysReadOptions& options_;
  Schema schema_;
  NameTable names_;
  std::map<int64_t, std::unique_ptr<RecordedProcess>> processes_;  // by ProcessKey
  std::set<int64_t> others_;                                       // the processes not asked for
  std::set<std::string> parts_;
  // The global id for rows that have none. Absent: several processes may have made them.
  std::optional<int64_t> lone_process_ = 0;
  int64_t last_key_ = 0;
  RecordedProcess* last_process_ = nullptr;
  Notes common_;        // these go to every process
  TraceHeader header_;  // goes to every process
  ArgList args_;        // arguments of the current row
  // The name of an NVTX domain, from the row that creates the domain.
  struct DomainText {
    std::string text = {};
    std::optional<int64_t> id = {};  // id in StringIds, if it replaces the text
    int64_t row = 0;
  };
  // By ProcessKey and number of the domain.
  std::map<std::pair<int64_t, int64_t>, DomainText> domains_;
  bool has_domains_ = false;
  uint64_t rows_read_ = 0, rows_expected_ = 0;
};

}  // namespace tacho::nsys
