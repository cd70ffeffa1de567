#include "analysis/evidence/partial_graphs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/device/graph_work.h"
#include "analysis/index/of_each_call.h"

namespace tacho {
namespace {

// Compares launches by ids of nodes or graphs; nullopt if the rows have neither.
std::optional<std::vector<PartialGraph>> CompareById(const Trace& trace, const GraphWork& work) {
  const GpuTable& gpu = trace.gpu;
  if (gpu.graph_node.empty() && gpu.graph.empty()) return std::nullopt;
  // A union-find forest of launches: those with the same root are of one graph.
  std::vector<uint32_t> graph(work.calls.size());
  std::iota(graph.begin(), graph.end(), 0U);
  const auto root = [&](uint32_t launch) {
    while (graph[launch] != launch) launch = graph[launch] = graph[graph[launch]];
    return launch;
  };
  // Each process numbers its nodes and graphs on its own.
  using Seen = std::map<std::pair<ProcessId, int64_t>, uint32_t>;
  Seen launch_of_node, launch_of_graph;
  const auto join = [&](Seen& seen, int64_t id, uint32_t launch) {
    if (id == 0) return;
    const TrackId track = trace.host_calls.track[work.calls[launch]];
    const std::pair key(trace.words[track].process, id);
    graph[root(launch)] = root(seen.try_emplace(key, launch).first->second);
  };
  for (uint32_t launch = 0; launch < work.calls.size(); ++launch) {
    for (const uint32_t row : work.Of(launch)) {
      join(launch_of_node, gpu.graph_node[row], launch);
      join(launch_of_graph, gpu.graph[row], launch);
    }
  }
  // By root: the number of the graph's nodes, or of the rows of a launch if one has more.
  std::map<uint32_t, uint64_t> whole;
  for (const auto& [node, launch] : launch_of_node) ++whole[root(launch)];
  for (uint32_t launch = 0; launch < work.calls.size(); ++launch)
    whole[root(launch)] = std::max<uint64_t>(whole[root(launch)], work.Of(launch).size());
  std::vector<PartialGraph> partial;
  for (uint32_t launch = 0; launch < work.calls.size(); ++launch) {
    const uint64_t has = work.Of(launch).size();
    if (has > 0 && has < whole[root(launch)])
      partial.push_back({work.calls[launch], whole[root(launch)] - has});
  }
  return partial;
}

// The names of a launch's pieces of work, sorted.
using Names = std::vector<StringId>;
using LaunchesByNames = std::map<Names, std::vector<uint32_t>>;

// The lists of names that launches are compared with: the most frequent lists and the longest ones.
// Limited to these, because a trace that lost much may have as many lists as launches.
std::vector<LaunchesByNames::const_iterator> Patterns(const LaunchesByNames& launches) {
  constexpr size_t kMost = 64;
  std::vector<LaunchesByNames::const_iterator> all, patterns;
  for (auto i = launches.begin(); i != launches.end(); ++i) all.push_back(i);
  const auto take = [&](auto measure) {
    std::ranges::stable_sort(all, std::ranges::greater{}, measure);
    for (size_t i = 0; i < std::min(kMost, all.size()); ++i) {
      if (std::ranges::find(patterns, all[i]) == patterns.end()) patterns.push_back(all[i]);
    }
  };
  take([](auto i) { return i->second.size(); });
  take([](auto i) { return i->first.size(); });
  return patterns;
}

// What a launch lacks in comparison with another one.
struct Lack {
  uint64_t pieces = 0;
  bool whole_kernels = false;  // it has no piece of some name
};
// What `part` lacks of `whole`; nullopt if it lacks nothing, or has a piece that `whole` does not.
std::optional<Lack> LackOf(const Names& part, const Names& whole) {
  if (part.size() >= whole.size()) return std::nullopt;
  Lack lack{.pieces = whole.size() - part.size()};
  size_t i = 0;
  for (size_t k = 0; k < whole.size();) {
    const StringId name = whole[k];
    size_t in_whole = 0, in_part = 0;
    for (; k < whole.size() && whole[k] == name; ++k) ++in_whole;
    for (; i < part.size() && part[i] == name; ++i) ++in_part;
    if (in_part > in_whole) return std::nullopt;
    lack.whole_kernels = lack.whole_kernels || in_part == 0;
  }
  if (i < part.size()) return std::nullopt;
  return lack;
}

// The names of a launch's pieces of work, in the order of their start.
Names InTime(const Trace& trace, std::span<const uint32_t> rows) {
  std::vector<uint32_t> sorted(rows.begin(), rows.end());
  std::ranges::stable_sort(sorted, {}, [&](uint32_t row) { return trace.gpu.start[row]; });
  Names names;
  for (const uint32_t row : sorted) names.push_back(trace.gpu.name[row]);
  return names;
}

// Whether `part` is the beginning or the end of `whole`.
bool IsAnEndOf(const Names& part, const Names& whole) {
  return std::ranges::equal(part, std::span(whole).first(part.size())) ||
         std::ranges::equal(part, std::span(whole).last(part.size()));
}

std::vector<PartialGraph> CompareByNames(const Trace& trace, const LaunchLinks& links,
                                         const GraphWork& work,
                                         const std::vector<uint32_t>& judged) {
  std::vector<PartialGraph> partial;
  const auto size_of = [&](size_t i) { return work.Of(i).size(); };
  size_t least = SIZE_MAX, most = 0;
  for (size_t i = 0; i < work.calls.size(); ++i) {
    if (size_of(i) == 0) continue;
    least = std::min(least, size_of(i));
    most = std::max(most, size_of(i));
  }
  if (least >= most) return partial;
  LaunchesByNames launches;
  for (uint32_t i = 0; i < work.calls.size(); ++i) {
    if (size_of(i) == 0) continue;
    Names names;
    for (const uint32_t row : work.Of(i)) names.push_back(trace.gpu.name[row]);
    std::ranges::sort(names);
    launches[std::move(names)].push_back(i);
  }
  const auto first =
      std::ranges::find_if(judged, [&](uint32_t call) { return links.first.LaunchedWork(call); });
  const std::vector<LaunchesByNames::const_iterator> patterns = Patterns(launches);
  for (const auto& [names, of_names] : launches) {
    if (of_names.size() > 1) continue;
    const uint32_t launch = of_names.front(), call = work.calls[launch];
    const bool at_start = first != judged.end() && *first == call;
    const auto next = std::next(std::ranges::find(judged, call));
    const bool before_lost = next != judged.end() && !links.first.LaunchedWork(*next);
    uint64_t missing = 0;
    for (const LaunchesByNames::const_iterator other : patterns) {
      const std::optional<Lack> lack = LackOf(names, other->first);
      if (!lack) continue;
      const Names part = InTime(trace, work.Of(launch)),
                  whole = InTime(trace, work.Of(other->second.front()));
      const bool holes = 2 * names.size() >= other->first.size() && other->second.size() > 1 &&
                         !lack->whole_kernels && !IsAnEndOf(part, whole);
      const bool lacks_begin =
          at_start && std::ranges::equal(part, std::span(whole).last(part.size()));
      if ((lacks_begin || before_lost || holes) && (missing == 0 || lack->pieces < missing))
        missing = lack->pieces;
    }
    if (missing > 0) partial.push_back({call, missing});
  }
  std::ranges::sort(partial, {}, &PartialGraph::call);
  return partial;
}

}  // namespace

std::vector<PartialGraph> FindPartialGraphs(const Trace& trace, const LaunchLinks& links,
                                            const std::vector<uint32_t>& judged) {
  const std::vector<uint8_t> is_graph = OfEachCall(trace, IsGraphLaunch);
  std::vector<uint32_t> launches;
  std::ranges::copy_if(judged, std::back_inserter(launches),
                       [&](uint32_t call) { return is_graph[call] != 0; });
  if (launches.size() < 2) return {};
  const GraphWork work = CollectGraphWork(trace, links, std::move(launches));
  if (auto by_id = CompareById(trace, work)) return *std::move(by_id);
  return CompareByNames(trace, links, work, judged);
}

}  // namespace tacho
