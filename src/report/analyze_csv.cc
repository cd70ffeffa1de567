#include "report/analyze_csv.h"

#include <utility>
#include <vector>

#include "report/result_tables.h"
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

// The tables of one trace, in the order of the files.
std::vector<Table> TablesOf(const TraceAnalysis& trace) {
  std::vector<Table> tables;
  const auto add = [&](Table table) { tables.push_back(std::move(table)); };
  add(TracesTable(trace));
  add(EventsTable(trace));
  add(NotesTable(trace.notes));
  add(DevicesTable(trace.devices));
  add(OverlapsTable(trace.devices));
  add(StreamsTable(trace.devices));
  add(KernelsTable(trace.kernels, TotalsOf(trace.devices), {}));
  add(CategoriesTable(trace.kernels));
  add(CopiesTable(trace.copies));
  add(LaunchFiguresTable(trace.launches));
  add(ApisTable(trace.launches.apis));
  add(Named("other_apis", ApisTable(trace.launches.other_apis)));
  add(GraphsTable(trace.launches.graphs, trace.span.start));
  add(QueuesTable(trace.launches));
  add(OpsTable(trace.ops.rows, true, false));
  add(OpsTable(trace.ops.by_shape, true, true));
  add(Named("key_averages", OpsTable(trace.ops.key_averages.rows, true, false)));
  add(Named("key_averages_by_shape", OpsTable(trace.ops.key_averages.by_shape, true, true)));
  add(StepPhasesTable(trace.steps));
  add(StepsTable(trace.steps, trace.span.start));
  add(IdleCausesTable(trace.idle));
  add(GapsTable(trace.idle, trace.span.start, true, {}));
  return tables;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> AnalyzeCsv(const RunAnalysis& run) {
  // The tables of all traces below each other, with the trace in front of each row.
  std::vector<Table> all = TablesOf(TraceAnalysis{});
  for (Table& table : all) {
    table.rows.clear();
    table.columns.insert(table.columns.begin(), {TableColumn{"trace"}, TableColumn{"rank"}});
  }
  for (const TraceAnalysis& trace : run.traces) {
    std::vector<Table> tables = TablesOf(trace);
    for (size_t i = 0; i < all.size(); ++i) {
      for (TableRow& row : tables[i].rows) {
        row.cells.insert(row.cells.begin(), {Cell(trace.path), CellOf(trace.facts.rank)});
        all[i].rows.push_back(std::move(row));
      }
    }
  }
  Document document;
  for (Table& table : all) document.Add(TitledTable{std::move(table)});
  document.Add(TitledTable{RanksTable(run.ranks, {})});
  return RenderCsv(document);
}

}  // namespace tacho
