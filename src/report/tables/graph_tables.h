#pragma once

#include <string>

#include "analysis/graphs/graph_table.h"
#include "text/table.h"

namespace tacho {

// The replayed graphs, one row each.
Table ReplayedGraphsTable(const GraphTable& graphs, std::string title = "GRAPH");
// Their nodes, in order of time. `main`: only the graph whose replays take most time, and those
// that its steps replay at other places: the same phase and batch.
Table GraphNodesTable(const GraphTable& graphs, const TextStyle& style, bool main = false,
                      std::string title = "NODE");

}  // namespace tacho
