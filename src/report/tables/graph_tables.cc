#include "report/tables/graph_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/words/kernel_names.h"
#include "text/format_number.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

constexpr std::string_view kGraphIndex = "index of the graph in `graphs.list`, from 0";

std::string PhaseOfGraph(const GraphRow& graph) {
  return graph.phase ? std::string(PhaseName(*graph.phase)) : "";
}

// The tokens of the steps: "8", "5 to 8".
std::string TokensText(const GraphRow& graph) {
  if (!graph.least_tokens || !graph.most_tokens) return "";
  if (*graph.least_tokens == *graph.most_tokens) return FormatCount(*graph.most_tokens);
  return fmt::format("{} to {}", FormatCount(*graph.least_tokens), FormatCount(*graph.most_tokens));
}

Cell MeanTime(DurationNs sum, uint64_t count) {
  return count == 0 ? Cell() : Cell(sum.ns / static_cast<int64_t>(count));
}

// The index of the graph whose replays take most time.
size_t MainGraph(const GraphTable& graphs) {
  const auto most = std::ranges::max_element(graphs.list, {}, &GraphRow::device_time);
  return static_cast<size_t>(most - graphs.list.begin());
}

void AddGraphRow(const GraphRow& graph, Table& table) {
  const std::optional<GraphPadding>& padding = graph.padding;
  const auto of_padding = [&](auto value) { return padding ? Cell(value) : Cell(); };
  const double room =
      padding ? static_cast<double>(graph.batch.value_or(0)) * static_cast<double>(padding->replays)
              : 0.0;
  table.Add({CountCell(table.rows.size()),
             graph.id,
             graph.device,
             CellOf(graph.place),
             PhaseOfGraph(graph),
             CellOf(graph.batch),
             TokensText(graph),
             CellOf(graph.least_tokens),
             CellOf(graph.most_tokens),
             CountCell(graph.nodes.size()),
             CountCell(graph.replays),
             CountCell(graph.partial),
             graph.device_time.ns,
             MeanTime(graph.device_time, graph.replays),
             graph.deviation.ns,
             graph.least.ns,
             graph.most.ns,
             graph.span.ns,
             graph.work.ns,
             CountCell(graph.unplaced),
             graph.unplaced_work.ns,
             of_padding(padding ? static_cast<int64_t>(padding->replays) : 0),
             of_padding(padding ? static_cast<int64_t>(padding->padded) : 0),
             of_padding(padding ? padding->tokens : 0),
             room > 0 ? Cell(static_cast<double>(padding->tokens) / room) : Cell(),
             padding && padding->cost ? Cell(padding->cost->ns) : Cell()});
}

}  // namespace

Table ReplayedGraphsTable(const GraphTable& graphs, std::string title) {
  const bool one_device = std::ranges::all_of(graphs.list, [&](const GraphRow& graph) {
    return graph.device == graphs.list.front().device;
  });
  Table table{"replayed_graphs",
              {Col{"graph", std::move(title), kCount}.Means(kGraphIndex),
               Col{"id", "", kText}.FileOnly(),
               Col{"device", one_device ? "" : "device", kText}.FileOnly(one_device),
               Col{"place", "place", kCount}.GivesWay(3),
               Col{"phase", "phase", kText},
               Col{"batch", "batch", kCount},
               Col{"", "tokens", kText}.ScreenOnly(),
               Col{"least_tokens", "", kCount}.FileOnly(),
               Col{"most_tokens", "", kCount}.FileOnly(),
               Col{"nodes", "nodes", kCount},
               Col{"replays", "replays", kCount}.Adds(),
               Col{"partial", "partial", kCount}.Adds().GivesWay(2),
               Col{"device_ns", "", kDuration}.FileOnly(),
               Col{"mean_ns", "a replay", kDuration}
                   .Means("mean time that the work of a replay ran, rounded down")
                   .UnitGroup(1),
               Col{"deviation_ns", "deviation", kDuration}.UnitGroup(1).GivesWay(),
               Col{"min_ns", "", kDuration}.FileOnly(),
               Col{"max_ns", "", kDuration}.FileOnly(),
               Col{"span_ns", "", kDuration}.FileOnly(),
               Col{"work_ns", "", kDuration}.FileOnly(),
               Col{"unplaced", "", kCount}.FileOnly(),
               Col{"unplaced_ns", "", kDuration}.FileOnly(),
               Col{"token_replays", "", kCount}.FileOnly(),
               Col{"padded_replays", "", kCount}.FileOnly(),
               Col{"padding_tokens", "", kCount}.FileOnly(),
               Col{"", "padding", kShare}.ScreenOnly(),
               Col{"padded_ns", "costs up to", kDuration}.Adds()},
              {}};
  for (const GraphRow& graph : graphs.list) AddGraphRow(graph, table);
  return table;
}

Table GraphNodesTable(const GraphTable& graphs, const TextStyle& style, bool main,
                      std::string title) {
  Table table{
      "graph_nodes",
      {Col{"graph", "graph", kCount}.Means(kGraphIndex),
       Col{"node", "#", kCount}.Means("number of the node in the graph, from 0"),
       Col{"name", "", kText}.Means("name of the kernel, copy or memset").FileOnly(),
       Col{"", std::move(title), kText}.ScreenOnly().Stretches().Distinct(),
       Col{"stream", "stream", kText}.GivesWay(2),
       Col{"layer", "layer", kCount}.Means("layer of the model, from 0"),
       Col{"block", "block", kText}.Means("block of the model"), Col{"count", "count", kCount},
       Col{"total_ns", "", kDuration}.FileOnly(),
       Col{"mean_ns", "mean", kDuration}.Means("mean duration, rounded down").Adds().UnitGroup(1),
       Col{"deviation_ns", "deviation", kDuration}.UnitGroup(1).GivesWay(),
       Col{"gap_ns", "", kDuration}.FileOnly(),
       Col{"mean_gap_ns", "gap before", kDuration}
           .Means("mean of `gap_ns` over the graph's `replays`, rounded down")
           .Adds()
           .UnitGroup(1)},
      {}};
  if (graphs.list.empty()) return table;
  const std::vector<std::string> names =
      ShownKernelNames({graphs.names.begin(), graphs.names.end()}, style);
  const size_t most = MainGraph(graphs);
  const GraphRow& like = graphs.list[most];
  for (size_t g = 0; g < graphs.list.size(); ++g) {
    const GraphRow& graph = graphs.list[g];
    const bool in_same_steps = like.place && graph.place && graph.place != like.place &&
                               graph.phase == like.phase && graph.batch == like.batch &&
                               graph.device == like.device;
    if (main && g != most && !in_same_steps) continue;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const GraphNodeRow& node = graph.nodes[n];
      if (node.name >= names.size()) continue;  // results of another program
      table.Add({CountCell(g), CountCell(n), graphs.names[node.name], names[node.name], node.stream,
                 CellOf(node.layer),
                 node.block ? Cell(std::string(LayerBlockId(*node.block))) : Cell(),
                 CountCell(node.count), node.total.ns, MeanTime(node.total, node.count),
                 node.deviation.ns, node.gap.ns, MeanTime(node.gap, graph.replays)});
    }
  }
  return table;
}

}  // namespace tacho
