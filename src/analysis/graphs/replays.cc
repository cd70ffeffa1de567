#include "analysis/graphs/replays.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/device/graph_work.h"
#include "analysis/graphs/replay_order.h"
#include "analysis/index/gpu_scope.h"
#include "analysis/index/of_each_call.h"

namespace tacho {
namespace {

class ReplayFinder {
 public:
  ReplayFinder(const PreparedTrace& prepared, const Scope& scope)
      : prepared_(prepared), trace_(prepared.index.trace()), gpu_(trace_.gpu), scope_(scope) {}

  Replays Find() {
    Collect();
    for (const Replay& replay : found_.all) found_.without_work += replay.begin == replay.end;
    if (found_.rows.empty()) return std::move(found_);
    found_.nodes.assign(found_.rows.size(), Replays::kUnplaced);
    found_.by_id = !gpu_.graph_node.empty() && std::ranges::any_of(found_.rows, [&](uint32_t row) {
      return gpu_.graph_node[row] != 0;
    });
    found_.by_id ? GroupById() : GroupByOrder();
    for (ReplayedGraph& graph : found_.graphs) SetPlace(graph);
    std::ranges::stable_sort(found_.graphs, {}, [](const ReplayedGraph& graph) {
      return std::pair(graph.place.value_or(Replay::kNoPlace), graph.replays.front());
    });
    return std::move(found_);
  }

 private:
  [[nodiscard]] ProcessId ProcessOf(uint32_t call) const {
    return trace_.words[trace_.host_calls.track[call]].process;
  }
  [[nodiscard]] std::span<const uint32_t> RowsOf(uint32_t replay) const {
    return found_.RowsOf(found_.all[replay]);
  }
  [[nodiscard]] std::span<uint32_t> NodesOf(uint32_t replay) {
    const Replay& of = found_.all[replay];
    return std::span(found_.nodes).subspan(of.begin, of.end - of.begin);
  }

  // Lists the launches, with their places and their work in order of time.
  void Collect() {
    const HostCallTable& calls = trace_.host_calls;
    const std::vector<uint8_t> is_graph = OfEachCall(trace_, IsGraphLaunch);
    std::vector<uint32_t> launches;
    for (uint32_t call = 0; call < calls.size(); ++call) {
      if (is_graph[call] != 0 && prepared_.links.puts_work[call] != 0) launches.push_back(call);
    }
    std::ranges::sort(launches, {}, [&](uint32_t call) {
      return std::tuple(calls.start[call], calls.duration[call], calls.correlation[call]);
    });
    std::vector<uint32_t> next(prepared_.steps.steps.size(), 0), counted;
    for (const uint32_t call : launches) {
      Replay replay;
      replay.call = call;
      if (!prepared_.steps_of_calls.empty()) replay.step = prepared_.steps_of_calls[call];
      if (replay.step != kNoStep) replay.place = next[replay.step]++;
      if (!scope_.Counts(calls.start[call])) continue;
      found_.all.push_back(replay);
      counted.push_back(call);
    }
    if (counted.empty()) return;
    GraphWork work = CollectGraphWork(trace_, prepared_.links, std::move(counted));
    const GpuScope in_scope(trace_, scope_);
    size_t kept = 0;
    for (size_t i = 0; i < found_.all.size(); ++i) {
      Replay& replay = found_.all[i];
      replay.begin = kept;
      for (size_t at = work.begin[i]; at < work.begin[i + 1]; ++at) {
        if (in_scope.OnDevice(work.rows[at])) work.rows[kept++] = work.rows[at];
      }
      replay.end = kept;
      SortByTime(std::span(work.rows).subspan(replay.begin, kept - replay.begin));
    }
    work.rows.resize(kept);
    found_.rows = std::move(work.rows);
  }

  void SortByTime(std::span<uint32_t> rows) const {
    const auto before = [&](uint32_t a, uint32_t b) {
      if (gpu_.start[a] != gpu_.start[b]) return gpu_.start[a] < gpu_.start[b];
      if (gpu_.duration[a] != gpu_.duration[b]) return gpu_.duration[a] < gpu_.duration[b];
      const auto names = [&](uint32_t row) {
        return std::pair(trace_.Text(trace_.words[gpu_.stream[row]].stream),
                         trace_.Text(gpu_.name[row]));
      };
      return names(a) < names(b);
    };
    if (!std::ranges::is_sorted(rows, before)) std::ranges::sort(rows, before);
  }

  void SetPlace(ReplayedGraph& graph) const {
    graph.process = ProcessOf(found_.all[graph.replays.front()].call);
    for (const uint32_t i : graph.replays) {
      const uint32_t place = found_.all[i].place;
      if (place == Replay::kNoPlace) continue;
      if (graph.place && graph.place != place) {
        graph.place.reset();
        return;
      }
      graph.place = place;
    }
  }

  // For each replay: the first replay of its graph.
  std::vector<uint32_t> JoinById() const {
    std::vector<uint32_t> graph(found_.all.size());
    std::iota(graph.begin(), graph.end(), 0U);
    const auto root = [&](uint32_t i) {
      while (graph[i] != i) i = graph[i] = graph[graph[i]];
      return i;
    };
    std::map<std::pair<ProcessId, int64_t>, uint32_t> with_graph;
    std::unordered_map<int64_t, std::vector<std::pair<ProcessId, uint32_t>>> with_node;
    const auto join = [&](uint32_t a, uint32_t b) {
      a = root(a), b = root(b);
      graph[std::max(a, b)] = std::min(a, b);
    };
    for (uint32_t i = 0; i < found_.all.size(); ++i) {
      const ProcessId process = ProcessOf(found_.all[i].call);
      int64_t last = 0;
      for (const uint32_t row : RowsOf(i)) {
        const int64_t id = gpu_.graph[row], node = gpu_.graph_node[row];
        if (id != 0) {
          if (id != last) join(i, with_graph.try_emplace({process, id}, i).first->second);
          last = id;
        } else if (node != 0) {
          auto& known = with_node[node];
          const auto at = std::ranges::find(known, process, [](const auto& k) { return k.first; });
          at == known.end() ? void(known.emplace_back(process, i)) : join(i, at->second);
        }
      }
    }
    for (uint32_t i = 0; i < graph.size(); ++i) graph[i] = root(i);
    return graph;
  }

  void GroupById() {
    const std::vector<uint32_t> first = JoinById();
    std::map<uint32_t, std::vector<uint32_t>> graphs;
    for (uint32_t i = 0; i < first.size(); ++i) {
      if (!RowsOf(i).empty()) graphs[first[i]].push_back(i);
    }
    for (auto& [_, replays] : graphs) {
      ReplayedGraph& graph = found_.graphs.emplace_back();
      graph.replays = std::move(replays);
      PlaceById(graph);
      if (!graph.nodes.empty()) continue;
      found_.unknown += graph.replays.size();
      found_.graphs.pop_back();
    }
  }

  // The nodes are numbered in the order of the replay with the most rows; nodes that it lacks
  // follow.
  void PlaceById(ReplayedGraph& graph) {
    std::unordered_map<int64_t, uint32_t> number;
    const auto model =
        *std::ranges::max_element(graph.replays, {}, [&](uint32_t i) { return RowsOf(i).size(); });
    const auto add = [&](uint32_t row) {
      const int64_t id = gpu_.graph[row];
      if (id != 0 && (graph.id == 0 || id < graph.id)) graph.id = id;
      if (gpu_.graph_node[row] == 0) return Replays::kUnplaced;
      const auto [at, is_new] =
          number.try_emplace(gpu_.graph_node[row], static_cast<uint32_t>(graph.nodes.size()));
      if (is_new) graph.nodes.push_back(row);
      return at->second;
    };
    for (const uint32_t row : RowsOf(model)) add(row);
    std::vector<uint32_t> had;   // by replay: how many different nodes it has
    std::vector<uint32_t> last;  // by node: the replay that had it last, plus one
    for (const uint32_t i : graph.replays) {
      const std::span<const uint32_t> rows = RowsOf(i);
      const std::span<uint32_t> nodes = NodesOf(i);
      uint32_t guess = 0;
      had.push_back(0);
      for (size_t k = 0; k < rows.size(); ++k, ++guess) {
        // Most replays have the nodes in the same order.
        if (guess >= graph.nodes.size() ||
            gpu_.graph_node[graph.nodes[guess]] != gpu_.graph_node[rows[k]])
          guess = add(rows[k]);
        nodes[k] = guess;
        if (guess == Replays::kUnplaced) continue;
        last.resize(graph.nodes.size());
        had.back() += last[guess] != i + 1;
        last[guess] = i + 1;
      }
    }
    for (size_t k = 0; k < had.size(); ++k)
      found_.all[graph.replays[k]].whole = had[k] == graph.nodes.size();
  }

  // A graph without ids: launches with the same pieces of work.
  struct Alike {
    ProcessId process{};
    int64_t id = 0;  // of the graph; 0: unknown
    uint32_t place = Replay::kNoPlace;
    WorkShape shape;
    size_t pieces = 0;

    [[nodiscard]] auto Key(bool with_place) const {
      return std::tuple(process, id, shape.any_order, pieces,
                        with_place && id == 0 ? place : Replay::kNoPlace);
    }
  };

  void GroupByOrder() {
    const std::vector<uint32_t>& lacking = prepared_.integrity.incomplete_calls;
    std::vector<Alike> of(found_.all.size());
    std::map<decltype(Alike{}.Key(true)), std::vector<uint32_t>> groups;
    std::vector<uint32_t> incomplete;
    for (uint32_t i = 0; i < found_.all.size(); ++i) {
      Replay& replay = found_.all[i];
      if (replay.begin == replay.end) continue;
      of[i] = {ProcessOf(replay.call), gpu_.graph[RowsOf(i).front()], replay.place,
               ShapeOfWork(trace_, RowsOf(i)), replay.end - replay.begin};
      replay.whole = !std::ranges::binary_search(lacking, replay.call);
      replay.whole ? groups[of[i].Key(true)].push_back(i) : incomplete.push_back(i);
    }
    JoinPlaceless(of, groups);
    std::vector<std::vector<uint32_t>> sorted;
    for (auto& [_, replays] : groups) sorted.push_back(std::move(replays));
    std::ranges::sort(sorted);  // by first replay
    std::vector<ReplayOrder> orders;
    for (std::vector<uint32_t>& replays : sorted) {
      const uint32_t model = UsualOrder(of, replays);
      ReplayOrder& order = orders.emplace_back(trace_, RowsOf(model));
      for (const uint32_t i : replays) order.PlaceAll(RowsOf(i), of[i].shape, NodesOf(i));
      ReplayedGraph& graph = found_.graphs.emplace_back();
      graph.id = of[model].id;
      graph.nodes.assign(order.rows().begin(), order.rows().end());
      graph.replays = std::move(replays);
    }
    for (const uint32_t i : incomplete) PlaceIncomplete(i, of, orders);
    for (ReplayedGraph& graph : found_.graphs) std::ranges::sort(graph.replays);
  }

  // Moves launches outside of steps to the only graph with the same pieces.
  static void JoinPlaceless(const std::vector<Alike>& of, auto& groups) {
    std::map<decltype(Alike{}.Key(false)), std::vector<uint32_t>*> only;  // null: several
    for (auto& [key, replays] : groups) {
      const Alike& alike = of[replays.front()];
      if (alike.place == Replay::kNoPlace) continue;
      const auto [at, is_new] = only.try_emplace(alike.Key(false), &replays);
      if (!is_new) at->second = nullptr;
    }
    for (auto& [key, replays] : groups) {
      const Alike& alike = of[replays.front()];
      const auto at = only.find(alike.Key(false));
      if (alike.place != Replay::kNoPlace || at == only.end() || at->second == nullptr) continue;
      at->second->insert(at->second->end(), replays.begin(), replays.end());
      std::ranges::sort(*at->second);
      replays.clear();
    }
    std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
  }

  // The first replay with the order that most of `replays` have.
  static uint32_t UsualOrder(const std::vector<Alike>& of, const std::vector<uint32_t>& replays) {
    std::unordered_map<uint64_t, uint64_t> count;
    for (const uint32_t i : replays) ++count[of[i].shape.in_order];
    return *std::ranges::max_element(replays, {},
                                     [&](uint32_t i) { return count.at(of[i].shape.in_order); });
  }

  void PlaceIncomplete(uint32_t replay, const std::vector<Alike>& of,
                       const std::vector<ReplayOrder>& orders) {
    constexpr size_t kMostCompared = 64;
    const CutAt cut = CutOf(found_.all[replay].call);
    std::optional<size_t> graph;
    std::vector<uint32_t> nodes;
    size_t compared = 0;
    for (size_t g = 0; g < orders.size() && compared < kMostCompared; ++g) {
      const Alike& other = of[found_.graphs[g].replays.front()];
      const bool elsewhere = other.place != Replay::kNoPlace &&
                             of[replay].place != Replay::kNoPlace &&
                             other.place != of[replay].place;
      if (elsewhere || other.process != of[replay].process || other.id != of[replay].id ||
          other.pieces <= of[replay].pieces)
        continue;
      ++compared;
      auto fit = orders[g].Fit(RowsOf(replay), cut);
      if (!fit) continue;
      if (graph) {
        graph.reset();
        break;
      }
      graph = g;
      nodes = *std::move(fit);
    }
    if (!graph || compared == kMostCompared) {
      ++found_.unknown;
      return;
    }
    std::ranges::copy(nodes, NodesOf(replay).begin());
    found_.graphs[*graph].replays.push_back(replay);
  }

  // Where the work of a launch may be cut off: at the edges of the recording, or anywhere.
  [[nodiscard]] CutAt CutOf(uint32_t call) {
    if (!first_call_) {
      const auto start = [&](uint32_t of) { return trace_.host_calls.start[of]; };
      for (uint32_t other = 0; other < trace_.host_calls.size(); ++other) {
        if (!prepared_.links.first.LaunchedWork(other)) continue;
        if (!first_call_ || start(other) < start(*first_call_)) first_call_ = other;
        if (!last_call_ || start(other) > start(*last_call_)) last_call_ = other;
      }
    }
    if (call == first_call_) return CutAt::kStart;
    return call == last_call_ ? CutAt::kEnd : CutAt::kAnywhere;
  }

  const PreparedTrace& prepared_;
  const Trace& trace_;
  const GpuTable& gpu_;
  const Scope& scope_;
  Replays found_;
  std::optional<uint32_t> first_call_, last_call_;  // with work
};

}  // namespace

Replays FindReplays(const PreparedTrace& prepared, const Scope& scope) {
  return ReplayFinder(prepared, scope).Find();
}

}  // namespace tacho
