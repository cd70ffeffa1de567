#include "report/documents/analyze_csv.h"

#include <utility>

#include "report/tables/finding_tables.h"
#include "report/tables/graph_tables.h"
#include "report/tables/result_tables.h"
#include "text/document.h"

namespace tacho {
namespace {

using Col = TableColumn;

Table TracesTable(const TraceAnalysis& trace) {
  Table table{
      "traces",
      {Col{"role"}.Means("role of the process: worker, frontend, merged, capture or foreign"),
       Col{"world_size"}, Col{"engine"}, Col{"engine_version"}, Col{"bytes"}, Col{"json_bytes"},
       Col{"events"}.Means("number of all events"),
       Col{"span_ns"}.Means("time that all complete events cover"), Col{"base_time_ns"},
       Col{"steps"}.Means("number of steps"),
       Col{"kernel_coverage"}.Means("share of the kernel sum that has a category")},
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
  Table table{"events",
              {Col{"kind"}.Means("kind of the row: `phase` or `category`"),
               Col{"name"}.Means("letter of the phase, or name of the category"),
               Col{"count"}.Means("number of events")},
              {}};
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

// How to make a table for one trace; `row` and `fields` as in CsvTable.
struct TraceTable {
  std::string_view row, fields;
  Table (*make)(const TraceAnalysis&);
};
// Two JSON objects give the columns of operator tables their meaning, because neither has all
// fields: only the first has memory, only the second has outermost times.
constexpr std::string_view kOpFields = "traces[].key_averages_by_shape[] traces[].ops_by_shape[]";
// In the order of the files.
constexpr TraceTable kTables[] = {
    {"a trace", "traces[]", TracesTable},
    {"a phase letter or a category", "", EventsTable},
    {"a kind of defect ([notes.md](notes.md))", "traces[].notes[]",
     [](const TraceAnalysis& t) { return NotesTable(t.notes); }},
    {"a device", "traces[].devices[]",
     [](const TraceAnalysis& t) { return DevicesTable(t.devices); }},
    {"a set of kinds of work that ran concurrently on a device", "",
     [](const TraceAnalysis& t) { return OverlapsTable(t.devices); }},
    {"a stream", "traces[].devices[].streams[]",
     [](const TraceAnalysis& t) { return StreamsTable(t.devices); }},
    {"a kernel name on a device", "traces[].kernels[]",
     [](const TraceAnalysis& t) { return KernelsTable(t.kernels, TotalsOf(t.devices), {}); }},
    {"a category of kernels", "traces[].categories[]",
     [](const TraceAnalysis& t) { return CategoriesTable(t.kernels); }},
    {"a kind of copy, and `memset`", "traces[].copies[]",
     [](const TraceAnalysis& t) { return CopiesTable(t.copies); }},
    {"a device whose memory was recorded", "traces[].memory.devices[]",
     [](const TraceAnalysis& t) { return MemoryDevicesTable(t.memory, t.span.start); }},
    {"what was alive at the peak of a device", "traces[].memory.devices[].peak.operators[]",
     [](const TraceAnalysis& t) { return MemoryPeakTable(t.memory.devices); }},
    {"one of at most 500 parts of the time, of a device", "",
     [](const TraceAnalysis& t) { return MemorySeriesTable(t.memory, t.span.start); }},
    {"a figure of the launches", "",
     [](const TraceAnalysis& t) { return LaunchFiguresTable(t.launches); }},
    {"a call of the CUDA or HIP runtime or driver", "traces[].launches.apis[]",
     [](const TraceAnalysis& t) { return ApisTable(t.launches.apis); }},
    {"a call of the runtime of another accelerator", "traces[].launches.other_apis[]",
     [](const TraceAnalysis& t) { return Named("other_apis", ApisTable(t.launches.other_apis)); }},
    {"a graph launch", "traces[].launches.graphs[]",
     [](const TraceAnalysis& t) { return GraphsTable(t.launches.graphs, t.span.start); }},
    {"a stream", "traces[].launches.queues[]",
     [](const TraceAnalysis& t) { return QueuesTable(t.launches); }},
    {"an operator", kOpFields,
     [](const TraceAnalysis& t) { return OpsTable(t.ops.rows, true, false); }},
    {"an operator with its input shapes", kOpFields,
     [](const TraceAnalysis& t) { return OpsTable(t.ops.by_shape, true, true); }},
    {"a row of PyTorch's `key_averages()`", kOpFields,
     [](const TraceAnalysis& t) {
       return Named("key_averages", OpsTable(t.ops.key_averages.rows, true, false));
     }},
    {"a row of PyTorch's `key_averages(group_by_input_shape=True)`", kOpFields,
     [](const TraceAnalysis& t) {
       return Named("key_averages_by_shape", OpsTable(t.ops.key_averages.by_shape, true, true));
     }},
    {"a phase of engine steps", "traces[].steps.list[]",
     [](const TraceAnalysis& t) { return StepPhasesTable(t.steps); }},
    {"an engine step", "traces[].steps.list[]",
     [](const TraceAnalysis& t) { return StepsTable(t.steps, t.span.start); }},
    {"a CUDA or HIP graph that was replayed", "traces[].graphs.list[]",
     [](const TraceAnalysis& t) { return ReplayedGraphsTable(t.graphs); }},
    {"a kernel, copy or memset of such a graph", "traces[].graphs.list[].by_node[]",
     [](const TraceAnalysis& t) { return GraphNodesTable(t.graphs, {}); }},
    {"a block of the model in a phase", "traces[].layers.phases[].list[].blocks[]",
     [](const TraceAnalysis& t) { return LayerBlocksTable(t.layers); }},
    {"a layer of the model in a phase", "traces[].layers.phases[].list[]",
     [](const TraceAnalysis& t) { return LayersTable(t.layers); }},
    {"a row of kernels, or an exchange of tokens, that repeats in the layers and could take less "
     "time",
     "traces[].opportunities[]",
     [](const TraceAnalysis& t) { return OpportunitiesTable(t.opportunities); }},
    {"a phase or block beside the limits of the hardware",
     "traces[].roofline.phases[] traces[].roofline.blocks[]",
     [](const TraceAnalysis& t) { return RooflineTable(t.roofline); }},
    {"a matrix product of an operator by sizes and types", "traces[].gemms[]",
     [](const TraceAnalysis& t) { return GemmsTable(t.ops.gemms); }},
    {"a kernel of a block of the model, with the code that launches it", "traces[].sources.rows[]",
     [](const TraceAnalysis& t) { return SourcesTable(t.sources, {}); }},
    {"a cause of idle time", "", [](const TraceAnalysis& t) { return IdleCausesTable(t.idle); }},
    {"a gap of a device, longest first", "traces[].idle.gaps[]",
     [](const TraceAnalysis& t) { return GapsTable(t.idle, t.span.start, true, {}); }},
};

// Puts the tables of all traces below each other. Each row starts with its trace.
Table OfAllTraces(const RunAnalysis& run, Table (*make)(const TraceAnalysis&)) {
  Table all = make(TraceAnalysis{});
  all.rows.clear();
  all.columns.insert(all.columns.begin(), {Col{"trace"}, Col{"rank"}});
  for (const TraceAnalysis& trace : run.traces) {
    for (TableRow& row : make(trace).rows) {
      row.cells.insert(row.cells.begin(), {Cell(trace.path), CellOf(trace.facts.rank)});
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

}  // namespace

void VisitCsvTables(const RunAnalysis& run, const std::function<void(const CsvTable&)>& visit) {
  for (const TraceTable& table : kTables)
    visit({table.row, table.fields, OfAllTraces(run, table.make)});
  visit({"a finding", "findings[]", FindingsTable(run, false)});
  visit({"a rank of the run", "ranks.table[] ranks.table[].identity", RanksTable(run.ranks, {})});
  visit({"a rank that took part in matched collectives", "ranks.blame.table[]",
         RankBlameTable(run.ranks)});
  visit({"a rank that ran grouped GEMMs between matched collectives", "ranks.blame.experts.table[]",
         RankExpertsTable(run.ranks)});
  visit({"a kind and size of matched collectives", "ranks.blame.sizes[]",
         CollectiveSizesTable(run.ranks.blame)});
  visit({"a request of the load", "requests.list[]", RequestsTable(run.requests)});
  visit({"a band of requests by E2E, then a scenario", "requests.bands[]",
         RequestGroupsTable(run.requests)});
}

std::vector<std::pair<std::string, std::string>> AnalyzeCsv(const RunAnalysis& run) {
  std::vector<std::pair<std::string, std::string>> files;
  VisitCsvTables(run, [&](const CsvTable& csv) {
    files.emplace_back(csv.table.name + ".csv", RenderCsv(csv.table));
  });
  return files;
}

}  // namespace tacho
