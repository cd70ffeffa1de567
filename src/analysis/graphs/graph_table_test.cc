#include "analysis/graphs/graph_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/scope_for_test.h"
#include "base/random.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

constexpr const char* kNorm = "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(long)";

// How a run of decode steps is made. Each step replays `pieces` graphs for the next larger one of
// `sizes`, or launches kernel by kernel if `eager` says so.
struct Plan {
  uint64_t seed = 1;
  int64_t steps = 30, layers = 3, pieces = 1;
  std::vector<int64_t> sizes = {1, 2, 4, 8};
  bool node_ids = false, graph_ids = false, grids = true;
  bool branches = false;   // a second stream, and kernels that change places
  int64_t lost_first = 0;  // GPU rows lost at the start
  int64_t lost_last = 0;   // at the end
  bool shuffle = false;    // the order of the events in the file
  std::function<bool(int64_t step)> eager = [](int64_t) { return false; };
};

struct Times {
  uint64_t count = 0;
  int64_t total = 0;
  bool operator==(const Times&) const = default;
};
// By size and place: times by node; whole replays and tokens of them.
struct TrueGraph {
  std::vector<Times> nodes;
  int64_t replays = 0, partial = 0, tokens = 0, work = 0;
  int64_t device = 0;  // of whole replays: the union of their work
};
struct Known {
  Trace trace;
  std::map<std::pair<int64_t, int64_t>, TrueGraph> graphs;
  std::map<int64_t, int64_t> steps_of_tokens;
};

struct Node {
  std::string name, stream;
  int64_t grid = 0, branch = 0;
};

// The kernels of a piece, as captured for a batch. Kernels of a branch may run in any order among
// those of other branches.
std::vector<Node> NodesOf(const Plan& plan, int64_t size) {
  std::vector<Node> nodes;
  for (int64_t layer = 0; layer < plan.layers; ++layer) {
    nodes.push_back({kNorm, "7", size});
    nodes.push_back({"gemm", "7", 132});
    if (plan.branches) {
      nodes.push_back({"shared_expert", "9", 10 + layer, 1});
      nodes.push_back({fmt::format("router_{}", layer), "7", 3, 2});
      nodes.push_back({fmt::format("quantize_{}", layer), "7", 3, 3});
    }
    nodes.push_back({"gemm", "7", size > 2 ? 128 : 64});
  }
  return nodes;
}

Known Record(const Plan& plan) {
  Random random(plan.seed);
  Known known;
  struct Row {
    std::string name;
    TraceBuilder::OnGpu at;
    std::string id, graph, grid, stream;
    TrueGraph* of = nullptr;
    size_t node = 0, launch = 0;
  };
  std::vector<Row> rows;
  std::vector<std::function<void(TraceBuilder&)>> events;
  int64_t now = 1'000'000, correlation = 10;
  size_t launches = 0;
  for (int64_t step = 0; step < plan.steps; ++step) {
    const int64_t tokens = random.Between(1, plan.sizes.back());
    const auto size = std::ranges::lower_bound(plan.sizes, tokens);
    const int64_t start = now;
    const auto launch = [&](const char* name, int64_t of) {
      events.emplace_back([=](TraceBuilder& b) {
        b.Host("cuda_runtime", name,
               {.start = start + of, .duration = 4'000, .correlation = correlation});
      });
    };
    int64_t device = start + 20'000, host = 1'000;
    for (int64_t piece = 0; piece < plan.pieces; ++piece) {
      const std::vector<Node> nodes = NodesOf(plan, *size);
      TrueGraph& of = known.graphs[{*size, piece}];
      const bool eager = plan.eager(step);
      of.nodes.resize(nodes.size());
      ++correlation, ++launches;
      if (!eager) launch("cudaGraphLaunch", host);
      // The kernels in the order in which they run.
      std::vector<size_t> order(nodes.size());
      std::iota(order.begin(), order.end(), 0U);
      for (size_t i = 0; i + 1 < order.size(); ++i) {
        if (nodes[order[i]].branch > 1 && nodes[order[i + 1]].branch > 1 &&
            random.Between(0, 1) == 1)
          std::swap(order[i], order[i + 1]);
      }
      for (const size_t node : order) {
        if (eager) {
          ++correlation, ++launches;
          launch("cudaLaunchKernel", host);
        }
        const int64_t duration = random.Between(1'000, 9'000);
        const int64_t id = *size << 32 | (piece * 1000 + static_cast<int64_t>(node) + 1);
        rows.push_back({nodes[node].name,
                        {.start = device, .duration = duration, .correlation = correlation},
                        plan.node_ids ? std::to_string(id) : "",
                        plan.graph_ids ? std::to_string(*size * 100 + piece + 1) : "",
                        plan.grids ? fmt::format("[{}, 1, 1]", nodes[node].grid) : "",
                        nodes[node].stream,
                        eager ? nullptr : &of,
                        node,
                        launches});
        // A kernel of the second stream runs beside the next one.
        device += nodes[node].branch == 1 ? 500 : duration + random.Between(0, 700);
        host += 100;
      }
      host += 5'000;
      if (!eager) of.tokens += tokens;
    }
    now = std::max(device, start + host) + 50'000;
    const std::string name = fmt::format("execute_context_0(0)_generation_{}({})", tokens, tokens);
    events.emplace_back([=, end = now](TraceBuilder& b) {
      b.Host("user_annotation", name, {.start = start, .duration = end - start - 20'000});
      b.Host("cuda_runtime", "cudaDeviceSynchronize", {.start = end - 30'000, .duration = 5'000});
    });
    ++known.steps_of_tokens[tokens];
  }
  const auto kept =
      std::span(rows).subspan(static_cast<size_t>(plan.lost_first),
                              rows.size() - static_cast<size_t>(plan.lost_first + plan.lost_last));
  std::map<size_t, std::vector<const Row*>> rows_of_launch;
  for (const Row& row : kept) {
    if (row.of != nullptr) {
      ++row.of->nodes[row.node].count;
      row.of->nodes[row.node].total += row.at.duration;
      row.of->work += row.at.duration;
      rows_of_launch[row.launch].push_back(&row);
    }
    events.emplace_back([row](TraceBuilder& b) {
      TraceBuilder::OnGpu at = row.at;
      at.stream = row.stream;
      if (!row.grid.empty()) at.args.emplace_back("grid", row.grid);
      if (!row.graph.empty() && row.of != nullptr) at.args.emplace_back("graph id", row.graph);
      if (!row.id.empty() && row.of != nullptr) at.args.emplace_back("graph node id", row.id);
      b.Kernel(row.name, at);
    });
  }
  for (const auto& [launch, of] : rows_of_launch) {
    TrueGraph& graph = *of.front()->of;
    if (of.size() < graph.nodes.size()) {
      ++graph.partial;
      continue;
    }
    ++graph.replays;
    int64_t until = 0;  // rows are in the order of their starts
    for (const Row* row : of) {
      const int64_t end = row->at.start + row->at.duration;
      graph.device += std::max<int64_t>(0, end - std::max(until, row->at.start));
      until = std::max(until, end);
    }
  }
  if (plan.shuffle) {
    for (size_t i = events.size(); i > 1; --i)
      std::swap(events[i - 1],
                events[static_cast<size_t>(random.Between(0, static_cast<int64_t>(i) - 1))]);
  }
  TraceBuilder b;
  for (const auto& add : events) add(b);
  known.trace = std::move(b).Finish();
  return known;
}

GraphTable TableOf(const Known& known, const Scope& scope = {}) {
  return TabulateReplays(Prepare(known.trace, BuiltInRules(), scope), scope);
}

void ExpectAddsUp(const GraphTable& table) {
  for (const GraphRow& graph : table.list) {
    DurationNs total = graph.unplaced_work, gaps;
    uint64_t pieces = 0;
    for (const GraphNodeRow& node : graph.nodes) {
      total += node.total;
      gaps += node.gap;
      EXPECT_GE(node.gap, DurationNs{});
      pieces += node.count;
    }
    EXPECT_EQ(total, graph.work);
    EXPECT_EQ(graph.device_time + gaps, graph.span);
    EXPECT_LE(graph.least.ns * static_cast<int64_t>(graph.replays), graph.device_time.ns);
    EXPECT_GE(pieces, graph.replays * graph.nodes.size());
  }
}

// Compares with the truth. `batch`: the trace shows the batch of each graph.
void ExpectTruth(const Known& known, const GraphTable& table) {
  ASSERT_EQ(table.state, GraphsState::kFound);
  EXPECT_EQ(table.unknown, 0u);
  size_t graphs = 0;
  for (const auto& [key, truth] : known.graphs) {
    if (truth.replays + truth.partial == 0) continue;
    ++graphs;
    const auto [size, place] = key;
    const auto graph = std::ranges::find_if(
        table.list,
        [&, s = size, p = place](const GraphRow& g) { return g.batch == s && g.place == p; });
    ASSERT_NE(graph, table.list.end()) << size << ' ' << place;
    EXPECT_EQ(graph->replays, static_cast<uint64_t>(truth.replays));
    EXPECT_EQ(graph->partial, static_cast<uint64_t>(truth.partial));
    EXPECT_EQ(graph->work.ns, truth.work);
    EXPECT_EQ(graph->unplaced, 0u);
    EXPECT_EQ(graph->device_time.ns, truth.device);
    ASSERT_TRUE(graph->padding);
    EXPECT_EQ(graph->padding->tokens, size * (truth.replays + truth.partial) - truth.tokens);
    // Of branches, the node may be another one with the same name; sort by times.
    std::vector<std::pair<uint64_t, int64_t>> found, expected;
    for (const GraphNodeRow& node : graph->nodes) found.emplace_back(node.count, node.total.ns);
    for (const Times& node : truth.nodes) expected.emplace_back(node.count, node.total);
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
  }
  EXPECT_EQ(table.list.size(), graphs);
}

TEST(TabulateReplays, EqualsTheTruthOfRandomRuns) {
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 9);
    Plan plan{.seed = seed};
    plan.steps = random.Between(3, 40);
    plan.layers = random.Between(1, 6);
    plan.pieces = random.Between(1, 4);
    plan.node_ids = seed % 3 == 0;
    plan.graph_ids = seed % 3 != 1;
    plan.branches = seed % 2 == 0;
    plan.shuffle = seed % 5 == 0;
    const Known known = Record(plan);
    const GraphTable table = TableOf(known);
    ExpectAddsUp(table);
    ExpectTruth(known, table);
    EXPECT_EQ(table.by_id, plan.node_ids);
    EXPECT_EQ(table.launches, static_cast<uint64_t>(plan.steps * plan.pieces));
  }
}

TEST(TabulateReplays, RowsLostAtTheEdgesLeaveThePlacesOfTheOthers) {
  for (const int64_t lost : {1, 4, 8}) {
    for (const bool ids : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", lost, ids));
      const Known known = Record({.sizes = {4}, .node_ids = ids, .lost_first = lost});
      const GraphTable table = TableOf(known);
      ExpectAddsUp(table);
      ExpectTruth(known, table);
      ASSERT_EQ(table.list.size(), 1u);
      EXPECT_EQ(table.list[0].partial, 1u);
      EXPECT_EQ(table.list[0].nodes[0].count, table.list[0].replays);
      EXPECT_EQ(table.list[0].nodes[8].count, table.list[0].replays + 1);
    }
  }
}

TEST(TabulateReplays, TheOrderOfTheFileDoesNotMatter) {
  Plan plan{.pieces = 2, .branches = true};
  const GraphTable sorted = TableOf(Record(plan));
  plan.shuffle = true;
  const GraphTable shuffled = TableOf(Record(plan));
  ASSERT_EQ(sorted.list.size(), shuffled.list.size());
  for (size_t g = 0; g < sorted.list.size(); ++g) {
    const GraphRow &a = sorted.list[g], &b = shuffled.list[g];
    ASSERT_EQ(a.nodes.size(), b.nodes.size());
    EXPECT_EQ(a.deviation, b.deviation);
    for (size_t n = 0; n < a.nodes.size(); ++n) {
      EXPECT_EQ(sorted.names[a.nodes[n].name], shuffled.names[b.nodes[n].name]);
      EXPECT_EQ(a.nodes[n].total, b.nodes[n].total);
      EXPECT_EQ(a.nodes[n].deviation, b.nodes[n].deviation);
      EXPECT_EQ(a.nodes[n].gap, b.nodes[n].gap);
    }
  }
}

TEST(TabulateReplays, GraphsWithoutGridsHaveNoBatch) {
  const GraphTable table = TableOf(Record({.grids = false}));
  ASSERT_FALSE(table.list.empty());
  for (const GraphRow& graph : table.list) {
    EXPECT_FALSE(graph.batch);
    EXPECT_FALSE(graph.padding);
    EXPECT_TRUE(graph.most_tokens);
  }
  EXPECT_EQ(table.batch_tokens, 0);
}

TEST(TabulateReplays, DecodeStepsWithoutAGraphAreNamed) {
  const Known known = Record({.steps = 20, .eager = [](int64_t step) { return step % 8 == 3; }});
  const GraphTable table = TableOf(known);
  ASSERT_TRUE(table.eager);
  EXPECT_EQ(table.eager->count, 3u);
  EXPECT_EQ(table.eager->of, 20u);
  EXPECT_EQ(table.eager->indexes, (std::vector<uint32_t>{3, 11, 19}));
  EXPECT_FALSE(TableOf(Record({.eager = [](int64_t) { return true; }})).eager);
}

// A run of two graphs with times that are easy to check.
//
//   batch 4   [ 100 ]   twice, with 4 and 3 tokens
//   batch 2   [ 60 ]    twice, with 2 tokens
Trace TwoSizes(int64_t grid_of_large) {
  TraceBuilder b;
  int64_t correlation = 0;
  const auto step = [&](int64_t start, int64_t tokens, int64_t grid, int64_t duration) {
    const std::string name = fmt::format("execute_context_0(0)_generation_{0}({0})", tokens);
    const std::string sizes = fmt::format("[{}, 1, 1]", grid);
    b.Host("user_annotation", name, {.start = start, .duration = 900});
    b.Host("cuda_runtime", "cudaGraphLaunch",
           {.start = start + 10, .duration = 20, .correlation = ++correlation});
    b.Kernel(kNorm, {.start = start + 100,
                     .duration = duration,
                     .correlation = correlation,
                     .args = {{"grid", sizes}}});
  };
  step(1'000, 4, grid_of_large, 98);
  step(2'000, 3, grid_of_large, 102);
  step(3'000, 2, 2, 60);
  step(4'000, 2, 2, 60);
  return std::move(b).Finish();
}

TEST(TabulateReplays, PaddingCostsAtMostTheDifferenceToTheNextSmallerGraph) {
  const Trace trace = TwoSizes(4);
  const GraphTable table = TabulateReplays(Prepare(trace, BuiltInRules()));
  ASSERT_EQ(table.list.size(), 2u);
  const GraphRow& large = table.list[0];
  EXPECT_EQ(large.batch, 4);
  ASSERT_TRUE(large.padding);
  EXPECT_EQ(large.padding->replays, 2u);
  EXPECT_EQ(large.padding->padded, 1u);
  EXPECT_EQ(large.padding->tokens, 1);
  EXPECT_EQ(large.padding->cost, DurationNs{40});
  EXPECT_EQ(large.deviation, DurationNs{2});
  EXPECT_EQ(table.list[1].padding->cost, DurationNs{0});
  EXPECT_EQ(table.batch_tokens, 12);
  EXPECT_EQ(table.padding_tokens, 1);
}

TEST(TabulateReplays, ABatchBelowTheTokensOfAStepIsNone) {
  const Trace trace = TwoSizes(3);
  const GraphTable table = TabulateReplays(Prepare(trace, BuiltInRules()));
  EXPECT_FALSE(table.list[0].batch);
  EXPECT_EQ(table.list[1].batch, 2);
}

// Steps of two graphs, A and B; every third step replays B alone.
TEST(TabulateReplays, AGraphThatStepsLaunchAtSeveralPlacesHasNone) {
  TraceBuilder b;
  int64_t correlation = 0;
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t start = step * 1'000;
    b.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
           {.start = start, .duration = 900});
    for (int64_t graph = step % 3 == 2 ? 1 : 0; graph < 2; ++graph) {
      b.Host("cuda_runtime", "cudaGraphLaunch",
             {.start = start + 10 + graph * 20, .duration = 10, .correlation = ++correlation});
      const std::string id = std::to_string(graph + 5);
      b.Kernel("gemm", {.start = start + 100 + graph * 100,
                        .duration = 50,
                        .correlation = correlation,
                        .args = {{"graph id", id}, {"graph node id", id}}});
    }
  }
  const Trace trace = std::move(b).Finish();
  const GraphTable table = TabulateReplays(Prepare(trace, BuiltInRules()));
  ASSERT_EQ(table.list.size(), 2u);
  EXPECT_EQ(table.list[0].id, "5");
  EXPECT_EQ(table.list[0].place, 0);
  EXPECT_EQ(table.list[0].replays, 4u);
  EXPECT_EQ(table.list[1].id, "6");
  EXPECT_EQ(table.list[1].place, std::nullopt);
  EXPECT_EQ(table.list[1].replays, 6u);
}

TEST(TabulateReplays, CountsCallsThatStartInTheWindow) {
  const Trace trace = TwoSizes(4);
  const Scope scope = WindowScope(1'500, 3'500);
  const GraphTable table = TabulateReplays(Prepare(trace, BuiltInRules(), scope), scope);
  EXPECT_EQ(table.launches, 2u);
  ASSERT_EQ(table.list.size(), 2u);
  EXPECT_EQ(table.list[0].replays, 1u);
  EXPECT_EQ(table.list[0].work, DurationNs{102});
}

TEST(TabulateReplays, SaysWhyThereIsNone) {
  TraceBuilder b;
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 10, .duration = 5, .correlation = 1});
  b.Kernel("gemm", {.start = 20, .duration = 10, .correlation = 1});
  const Trace trace = std::move(b).Finish();
  const GraphTable table = TabulateReplays(Prepare(trace, BuiltInRules()));
  EXPECT_EQ(table.state, GraphsState::kNoLaunches);
  EXPECT_EQ(GraphsStateId(table.state), "no-launches");
}

}  // namespace
}  // namespace tacho
