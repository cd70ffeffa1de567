#include "report/documents/analyze_csv.h"

#include <utility>
#include <vector>

#include "report/tables/result_tables.h"
#include "text/document.h"

namespace tacho {
namespace {

Table TracesTable(const TraceAnalysis& trace) {
  Table table{"traces",
              {TableColumn{"role"}, TableColumn{"world_size"}, TableColumn{"engine"},
               TableColumn{"engine_version"}, TableColumn{"bytes"}, TableColumn{"json_bytes"},
               TableColumn{"events"}, TableColumn{"span_ns"}, TableColumn{"base_time_ns"},
               TableColumn{"steps"}, TableColumn{"kernel_coverage"}},
              {}};
  const auto integer = [](auto value) { return Cell(static_cast<int64_t>(value)); };
  table.Add({std::string(TraceRoleName(trace.facts.role)), CellOf(trace.facts.world_size),
             trace.facts.engine, trace.facts.engine_version, integer(trace.bytes),
             integer(trace.json_bytes), integer(trace.counts.total), trace.span.length().ns,
             UnlessNegative(trace.header.base_time_ns), integer(trace.steps.steps.size()),
             trace.kernels.rows.empty() ? Cell() : Cell(trace.kernels.coverage)});
  return table;
}

Table EventsTable(const TraceAnalysis& trace) {
  Table table{"events", {TableColumn{"kind"}, TableColumn{"name"}, TableColumn{"count"}}, {}};
  for (const auto& [phase, count] : trace.facts.by_phase) {
    table.Add({"phase", phase, static_cast<int64_t>(count)});
  }
  for (const auto& [category, count] : trace.facts.by_category) {
    table.Add({"category", category, static_cast<int64_t>(count)});
  }
  return table;
}

Table Named(const char* name, Table table) {
  table.name = name;
  return table;
}

// The tables of a trace, in the order of the files.
using TableMaker = Table (*)(const TraceAnalysis&);
constexpr TableMaker kTables[] = {
    TracesTable,
    EventsTable,
    [](const TraceAnalysis& t) { return NotesTable(t.notes); },
    [](const TraceAnalysis& t) { return DevicesTable(t.devices); },
    [](const TraceAnalysis& t) { return OverlapsTable(t.devices); },
    [](const TraceAnalysis& t) { return StreamsTable(t.devices); },
    [](const TraceAnalysis& t) { return KernelsTable(t.kernels, TotalsOf(t.devices), {}); },
    [](const TraceAnalysis& t) { return CategoriesTable(t.kernels); },
    [](const TraceAnalysis& t) { return CopiesTable(t.copies); },
    [](const TraceAnalysis& t) { return MemoryDevicesTable(t.memory, t.span.start); },
    [](const TraceAnalysis& t) { return MemoryPeakTable(t.memory.devices); },
    [](const TraceAnalysis& t) { return MemorySeriesTable(t.memory, t.span.start); },
    [](const TraceAnalysis& t) { return LaunchFiguresTable(t.launches); },
    [](const TraceAnalysis& t) { return ApisTable(t.launches.apis); },
    [](const TraceAnalysis& t) { return Named("other_apis", ApisTable(t.launches.other_apis)); },
    [](const TraceAnalysis& t) { return GraphsTable(t.launches.graphs, t.span.start); },
    [](const TraceAnalysis& t) { return QueuesTable(t.launches); },
    [](const TraceAnalysis& t) { return OpsTable(t.ops.rows, true, false); },
    [](const TraceAnalysis& t) { return OpsTable(t.ops.by_shape, true, true); },
    [](const TraceAnalysis& t) {
      return Named("key_averages", OpsTable(t.ops.key_averages.rows, true, false));
    },
    [](const TraceAnalysis& t) {
      return Named("key_averages_by_shape", OpsTable(t.ops.key_averages.by_shape, true, true));
    },
    [](const TraceAnalysis& t) { return StepPhasesTable(t.steps); },
    [](const TraceAnalysis& t) { return StepsTable(t.steps, t.span.start); },
    [](const TraceAnalysis& t) { return IdleCausesTable(t.idle); },
    [](const TraceAnalysis& t) { return GapsTable(t.idle, t.span.start, true, {}); },
};

// The tables of all traces, one below the other. Each row starts with its trace.
Table OfAllTraces(const RunAnalysis& run, TableMaker make) {
  Table all = make(TraceAnalysis{});
  all.rows.clear();
  all.columns.insert(all.columns.begin(), {TableColumn{"trace"}, TableColumn{"rank"}});
  for (const TraceAnalysis& trace : run.traces) {
    for (TableRow& row : make(trace).rows) {
      row.cells.insert(row.cells.begin(), {Cell(trace.path), CellOf(trace.facts.rank)});
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> AnalyzeCsv(const RunAnalysis& run) {
  std::vector<std::pair<std::string, std::string>> files;
  // Handles one kind of table at a time: all rows of a large run take gigabytes as tables.
  const auto add = [&](const Table& table) {
    files.emplace_back(table.name + ".csv", RenderCsv(table));
  };
  for (const TableMaker make : kTables) add(OfAllTraces(run, make));
  add(RanksTable(run.ranks, {}));
  add(RequestsTable(run.requests, false));
  add(RequestGroupsTable(run.requests));
  return files;
}

}  // namespace tacho
