#include "analysis/launches.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/gpu_scope.h"
#include "analysis/name_index.h"

namespace tacho {
namespace {

constexpr DurationNs k1Ms{1'000'000}, k5Ms{5'000'000};

// Whether a call of this name puts work onto a device: cudaLaunchKernel, hipMemcpyAsync, ...
bool PutsWork(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("launch") != std::string::npos || lower.find("memcpy") != std::string::npos ||
         lower.find("memset") != std::string::npos;
}

bool IsGraphLaunch(std::string_view name) {
  return name.find("GraphLaunch") != std::string_view::npos;
}

// A property of names, found once for each name that occurs.
template <typename Property>
std::vector<uint8_t> OfEachCall(const Trace& trace, Property property) {
  NameIndex names(trace);
  std::vector<uint8_t> of_name, of_call(trace.host_calls.size());
  for (size_t row = 0; row < of_call.size(); ++row) {
    const uint32_t number = names[trace.host_calls.name[row]];
    if (number == of_name.size())
      of_name.push_back(property(trace.Text(trace.host_calls.name[row])));
    of_call[row] = of_name[number];
  }
  return of_call;
}

// The host call of each correlation. Profilers count correlations up, so that an array is nearly
// always the smallest table; a file with scattered ones gets a hash map.
class CallIndex {
 public:
  explicit CallIndex(const Trace& trace) {
    const NarrowColumn& ids = trace.host_calls.correlation;
    size_t with_id = 0;
    int64_t last = 0;
    for (size_t row = 0; row < ids.size(); ++row) {
      if (ids[row] < 0) continue;
      first_ = with_id == 0 ? ids[row] : std::min(first_, ids[row]);
      last = with_id == 0 ? ids[row] : std::max(last, ids[row]);
      ++with_id;
    }
    if (with_id == 0) return;
    const auto spread = static_cast<uint64_t>(last - first_);
    if (spread < 16 * with_id + 4096) {
      dense_.assign(spread + 1, LaunchLinks::kNone);
    } else {
      sparse_.reserve(with_id);
    }
    const std::vector<uint8_t> puts_work = OfEachCall(trace, PutsWork);
    for (size_t row = 0; row < ids.size(); ++row) {
      if (ids[row] < 0) continue;
      uint32_t& call = dense_.empty()
                           ? sparse_.try_emplace(ids[row], LaunchLinks::kNone).first->second
                           : dense_[static_cast<size_t>(ids[row] - first_)];
      const bool better = call == LaunchLinks::kNone || puts_work[call] < puts_work[row];
      if (better) call = static_cast<uint32_t>(row);
    }
  }

  [[nodiscard]] uint32_t Find(int64_t correlation) const {
    if (correlation < 0) return LaunchLinks::kNone;
    if (!dense_.empty()) {
      const int64_t at = correlation - first_;
      return at < 0 || at >= static_cast<int64_t>(dense_.size()) ? LaunchLinks::kNone
                                                                 : dense_[static_cast<size_t>(at)];
    }
    const auto found = sparse_.find(correlation);
    return found == sparse_.end() ? LaunchLinks::kNone : found->second;
  }

 private:
  int64_t first_ = 0;
  std::vector<uint32_t> dense_;  // by correlation - first_
  std::unordered_map<int64_t, uint32_t> sparse_;
};

// By host call: its piece of GPU work that starts first, or kNone.
std::vector<uint32_t> FirstPieces(const Trace& trace, const LaunchLinks& links) {
  std::vector<uint32_t> first(trace.host_calls.size(), LaunchLinks::kNone);
  for (size_t row = 0; row < links.call_of_gpu.size(); ++row) {
    if (links.call_of_gpu[row] == LaunchLinks::kNone) continue;
    uint32_t& piece = first[links.call_of_gpu[row]];
    if (piece == LaunchLinks::kNone || trace.gpu.start[row] < trace.gpu.start[piece]) {
      piece = static_cast<uint32_t>(row);
    }
  }
  return first;
}

// How long launched work waits on one stream. A wait is [launch call's start, work's start).
LaunchTable::QueueDepth DepthOf(std::vector<Interval>& waits, const Scope& scope) {
  LaunchTable::QueueDepth queue;
  Interval whole = waits.front();
  std::vector<TimeNs> up, down;
  for (const Interval& wait : waits) {
    whole = {std::min(whole.start, wait.start), std::max(whole.end, wait.end)};
    const Interval clipped = scope.Clip(wait);
    if (clipped.empty()) continue;
    up.push_back(clipped.start);
    down.push_back(clipped.end);
  }
  std::sort(up.begin(), up.end());
  std::sort(down.begin(), down.end());
  int64_t waited = 0;
  for (size_t i = 0, ended = 0; i < up.size(); ++i) {
    while (down[ended] <= up[i]) ++ended;
    queue.max = std::max<uint64_t>(queue.max, i + 1 - ended);
    waited += (down[i] - up[i]).ns;  // the sum over all pairs, whatever their order
  }
  const Interval seen = scope.Clip(whole);
  if (!seen.empty())
    queue.mean = static_cast<double>(waited) / static_cast<double>(seen.length().ns);
  return queue;
}

// CUDA and HIP calls, or all others.
std::vector<ApiRow> TabulateApis(const Trace& trace, const Scope& scope, bool cuda) {
  NameIndex names(trace);
  std::vector<std::vector<int64_t>> durations;
  const HostCallTable& calls = trace.host_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    const std::string_view category = trace.Text(trace.words[calls.category[row]].name);
    if (!scope.Counts(calls.start[row]) || category.starts_with("cuda_") != cuda) continue;
    const uint32_t number = names[calls.name[row]];
    if (number == durations.size()) durations.emplace_back();
    durations[number].push_back(calls.duration[row]);
  }
  std::vector<ApiRow> rows;
  for (size_t i = 0; i < durations.size(); ++i) {
    rows.push_back({std::string(trace.Text(names.names()[i])), Summarize(durations[i])});
  }
  std::sort(rows.begin(), rows.end(), [](const ApiRow& a, const ApiRow& b) {
    return a.stats.total != b.stats.total ? a.stats.total > b.stats.total : a.name < b.name;
  });
  return rows;
}

void TabulateGraphs(const Trace& trace, const LaunchLinks& links,
                    const std::vector<uint8_t>& is_graph, const Scope& scope, LaunchTable& table) {
  const GpuScope counts(trace, scope);
  std::vector<uint32_t> number_of_call(trace.host_calls.size(), LaunchLinks::kNone);
  std::vector<int64_t> durations;
  for (size_t call = 0; call < number_of_call.size(); ++call) {
    if (!is_graph[call] || !scope.Counts(trace.host_calls.start[call])) continue;
    number_of_call[call] = static_cast<uint32_t>(table.graphs.size());
    table.graphs.emplace_back().call = trace.host_calls.When(call);
    const DurationNs duration = table.graphs.back().call.length();
    durations.push_back(duration.ns);
    ++(duration < k1Ms    ? table.graphs_under_1ms
       : duration <= k5Ms ? table.graphs_1_to_5ms
                          : table.graphs_over_5ms);
  }
  if (table.graphs.empty()) return;
  table.graph_calls = Summarize(durations);
  for (size_t row = 0; row < links.call_of_gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone || number_of_call[call] == LaunchLinks::kNone ||
        !counts.Counts(row)) {
      continue;
    }
    GraphLaunch& graph = table.graphs[number_of_call[call]];
    const Interval when = trace.gpu.When(row);
    graph.work = graph.gpu_events == 0 ? when
                                       : Interval{std::min(graph.work.start, when.start),
                                                  std::max(graph.work.end, when.end)};
    ++graph.gpu_events;
  }
  std::ranges::sort(table.graphs, [](const GraphLaunch& a, const GraphLaunch& b) {
    return std::tie(a.call.start, a.call.end, a.work.start, a.work.end, a.gpu_events) <
           std::tie(b.call.start, b.call.end, b.work.start, b.work.end, b.gpu_events);
  });
}

}  // namespace

LaunchLinks LinkLaunches(const Trace& trace) {
  LaunchLinks links;
  links.call_of_gpu.assign(trace.gpu.size(), LaunchLinks::kNone);
  links.gpu_of_call.assign(trace.host_calls.size(), 0);
  const CallIndex calls(trace);
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = calls.Find(trace.gpu.correlation[row]);
    links.call_of_gpu[row] = call;
    if (call != LaunchLinks::kNone) ++links.gpu_of_call[call];
  }
  return links;
}

LaunchTable TabulateLaunches(const Trace& trace, const LaunchLinks& links, const Scope& scope) {
  LaunchTable table;
  const GpuTable& gpu = trace.gpu;
  const HostCallTable& calls = trace.host_calls;
  const GpuScope counts(trace, scope);
  const std::vector<uint8_t> is_graph = OfEachCall(trace, IsGraphLaunch);

  std::vector<uint32_t> counted_of_call(calls.size());
  for (size_t row = 0; row < gpu.size(); ++row) {
    if (!counts.Counts(row)) continue;
    if (gpu.correlation[row] < 0) {
      ++table.without_correlation;
      continue;
    }
    ++table.gpu_events;
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone) {
      ++table.without_launch;
      continue;
    }
    ++table.with_launch;
    table.max_gpu_events_per_launch =
        std::max<uint64_t>(table.max_gpu_events_per_launch, ++counted_of_call[call]);
    if (is_graph[call]) {
      ++table.graph_gpu_events;
    } else if (gpu.kind[row] == SliceKind::kKernel && gpu.duration[row] < calls.duration[call]) {
      ++table.shorter_than_launch;
    }
  }

  std::vector<int64_t> delays;
  std::vector<std::vector<Interval>> waits(trace.words.streams().size());
  const std::vector<uint32_t> first = FirstPieces(trace, links);
  for (size_t call = 0; call < calls.size(); ++call) {
    const uint32_t piece = first[call];
    if (piece == LaunchLinks::kNone || !counts.OnDevice(piece)) continue;
    const Interval launch = calls.When(call);
    const TimeNs start = gpu.start[piece];
    // Clocks of host and device differ a little: work may seem to start before its launch.
    waits[Index(gpu.stream[piece])].push_back({launch.start, std::max(launch.start, start)});
    if (counts.Counts(piece)) delays.push_back(std::max<int64_t>(0, (start - launch.end).ns));
  }
  table.delay = Summarize(delays);
  TabulateGraphs(trace, links, is_graph, scope, table);

  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].empty()) continue;
    LaunchTable::QueueDepth queue = DepthOf(waits[i], scope);
    queue.device = trace.Text(trace.words.streams()[i].device);
    queue.stream = trace.Text(trace.words.streams()[i].stream);
    table.queues.push_back(std::move(queue));
  }
  std::sort(table.queues.begin(), table.queues.end(), [](const auto& a, const auto& b) {
    return a.device != b.device ? IdLess(a.device, b.device) : IdLess(a.stream, b.stream);
  });
  table.apis = TabulateApis(trace, scope, true);
  table.other_apis = TabulateApis(trace, scope, false);
  return table;
}

}  // namespace tacho
