#include "analysis/device/launches.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/device/profiler_overhead.h"
#include "analysis/index/dense_index.h"
#include "analysis/index/gpu_scope.h"
#include "analysis/index/name_index.h"
#include "analysis/index/of_each_call.h"
#include "analysis/index/ranked_ids.h"
#include "base/words.h"
#include "model/track_index.h"

namespace tacho {
namespace {

constexpr DurationNs k1Ms{1'000'000}, k5Ms{5'000'000};

// Whether a call of this name puts work onto a device: cudaLaunchKernel, hipMemcpyAsync, ...
bool PutsWork(std::string_view name) {
  const std::string lower = AsciiLowered(name);
  return lower.find("launch") != std::string::npos || lower.find("memcpy") != std::string::npos ||
         lower.find("memset") != std::string::npos;
}

// Finds the host call for each correlation id. `puts_work`: by host call, whether it puts work onto
// a device.
DenseIndex CallsByCorrelation(const Trace& trace, const RankedIds& ids,
                              const std::vector<uint8_t>& puts_work) {
  const HostCallTable& table = trace.host_calls;
  const auto id_of = [&](size_t row) { return ids.Of(table.track[row], table.correlation[row]); };
  DenseIndex calls(table.size(), id_of);
  const auto rank = [&](size_t row) {
    return std::tuple(puts_work[row] == 0, table.start[row], trace.Text(table.name[row]),
                      table.duration[row]);
  };
  for (size_t row = 0; row < table.size(); ++row) {
    const int64_t id = id_of(row);
    if (id < 0) continue;
    uint32_t& call = calls[id];
    if (call == DenseIndex::kNone || rank(row) < rank(call)) call = static_cast<uint32_t>(row);
  }
  return calls;
}

// How many launched pieces wait on one stream. A wait is [start of the launch call, start of the
// work).
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
  for (std::vector<TimeNs>* times : {&up, &down}) {  // mostly sorted already
    if (!std::ranges::is_sorted(*times)) std::ranges::sort(*times);
  }
  int64_t waited = 0;
  for (size_t i = 0, ended = 0; i < up.size(); ++i) {
    while (down[ended] <= up[i]) ++ended;
    queue.max = std::max<uint64_t>(queue.max, i + 1 - ended);
    // The sum does not depend on which start is paired with which end.
    waited = AddSaturated(waited, (down[i] - up[i]).ns);
  }
  const Interval seen = scope.Clip(whole);
  if (!seen.empty())
    queue.mean = static_cast<double>(waited) / static_cast<double>(seen.length().ns);
  return queue;
}

// Fills table.apis (CUDA and HIP calls) and table.other_apis.
template <typename Counts>
void TabulateApis(const Trace& trace, Counts counts, LaunchTable& table) {
  std::vector<uint8_t> is_cuda;  // indexed by CategoryId
  for (const Category& category : trace.words.categories()) {
    is_cuda.push_back(trace.Text(category.name).starts_with("cuda_") ? 1 : 0);
  }
  const HostCallTable& calls = trace.host_calls;
  NameIndex names(trace);
  // By the name's number n: [2n] other calls, [2n + 1] CUDA and HIP calls.
  std::vector<std::vector<int64_t>> durations;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (!counts(row)) continue;
    const uint32_t number = names[calls.name[row]];
    if (2 * number == durations.size()) durations.resize(durations.size() + 2);
    durations[2 * number + is_cuda[Index(calls.category[row])]].push_back(calls.duration[row]);
  }
  for (size_t i = 0; i < durations.size(); ++i) {
    if (durations[i].empty()) continue;
    (i % 2 == 1 ? table.apis : table.other_apis)
        .push_back({std::string(trace.Text(names.names()[i / 2])), Summarize(durations[i])});
  }
  for (std::vector<ApiRow>* rows : {&table.apis, &table.other_apis}) {
    std::ranges::sort(*rows, [](const ApiRow& a, const ApiRow& b) {
      return a.stats.total != b.stats.total ? a.stats.total > b.stats.total : a.name < b.name;
    });
  }
}

// Overheads may nest: each row counts all of its time inside the call, but `total` is the time of
// their union.
template <typename Counts>
std::optional<OverheadInCalls> OverheadOf(const Trace& trace, Counts counts) {
  const ProfilerOverhead overhead(trace);
  if (!overhead.is_recorded()) return std::nullopt;
  const HostCallTable& calls = trace.host_calls;
  const std::vector<uint8_t> puts_work = OfEachCall(trace, PutsWork);
  std::map<TrackId, std::vector<Interval>> by_thread;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (puts_work[row] != 0 && counts(row)) by_thread[calls.track[row]].push_back(calls.When(row));
  }
  OverheadInCalls found;
  std::map<std::string_view, OverheadInCalls::Row> rows;
  for (auto& [thread, when] : by_thread) {
    std::ranges::sort(when, IsOuter);
    TimeNs reach{std::numeric_limits<int64_t>::min()};
    for (const Interval& call : when) {
      if (call.end <= reach) continue;  // inside another call
      const Interval outer{std::max(call.start, reach), call.end};
      reach = call.end;
      const DurationNs held_up = overhead.On(thread).Covered(outer);
      ++found.calls;
      found.call_time += outer.length();
      found.total += held_up;
      if (held_up.ns == 0) continue;
      ++found.held_up;
      overhead.ForEachIn(thread, outer, [&](const ProfilerOverhead::Row& row, Interval part) {
        OverheadInCalls::Row& into = rows[trace.Text(row.name)];
        ++into.count;
        into.total += part.length();
      });
    }
  }
  for (auto& [name, row] : rows) {
    row.name = name;
    found.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(found.rows, std::ranges::greater{}, &OverheadInCalls::Row::total);
  return found;
}

// Fills the rows of LaunchTable::graphs, and remembers which call has which row.
class GraphRows {
 public:
  template <typename Counts>
  GraphRows(const Trace& trace, Counts counts, std::vector<GraphLaunch>& rows)
      : rows_(rows), is_graph_(OfEachCall(trace, IsGraphLaunch)) {
    const HostCallTable& calls = trace.host_calls;
    if (std::ranges::find(is_graph_, 1) == is_graph_.end()) return;
    row_of_call_.assign(calls.size(), LaunchLinks::kNone);
    for (size_t call = 0; call < calls.size(); ++call) {
      if (is_graph_[call] == 0 || !counts(call)) continue;
      row_of_call_[call] = static_cast<uint32_t>(rows.size());
      rows.emplace_back().call = calls.When(call);
    }
  }

  [[nodiscard]] bool IsGraph(uint32_t call) const { return is_graph_[call] != 0; }

  void AddPiece(uint32_t call, Interval when) {
    // No row: the call starts outside of the window.
    if (row_of_call_[call] == LaunchLinks::kNone) return;
    GraphLaunch& graph = rows_[row_of_call_[call]];
    graph.work = graph.gpu_events == 0 ? when
                                       : Interval{std::min(graph.work.start, when.start),
                                                  std::max(graph.work.end, when.end)};
    ++graph.gpu_events;
  }

 private:
  std::vector<GraphLaunch>& rows_;
  std::vector<uint8_t> is_graph_;      // indexed by host call
  std::vector<uint32_t> row_of_call_;  // by host call; kNone: the call has no row
};

void SumUpGraphs(LaunchTable& table) {
  std::vector<int64_t> durations;
  for (const GraphLaunch& graph : table.graphs) {
    const DurationNs duration = graph.call.length();
    durations.push_back(duration.ns);
    ++(duration < k1Ms    ? table.graphs_under_1ms
       : duration <= k5Ms ? table.graphs_1_to_5ms
                          : table.graphs_over_5ms);
  }
  table.graph_calls = Summarize(durations);
  std::ranges::sort(table.graphs, [](const GraphLaunch& a, const GraphLaunch& b) {
    return std::tie(a.call.start, a.call.end, a.work.start, a.work.end, a.gpu_events) <
           std::tie(b.call.start, b.call.end, b.work.start, b.work.end, b.gpu_events);
  });
}

// Orders two rows of Trace::gpu by start, then by name and stream.
bool StartsBefore(const Trace& trace, uint32_t a, uint32_t b) {
  const GpuTable& gpu = trace.gpu;
  if (gpu.start[a] != gpu.start[b]) return gpu.start[a] < gpu.start[b];
  if (gpu.name[a] != gpu.name[b]) return trace.Text(gpu.name[a]) < trace.Text(gpu.name[b]);
  return gpu.stream[a] != gpu.stream[b] && IdLess(trace.Text(trace.words[gpu.stream[a]].stream),
                                                  trace.Text(trace.words[gpu.stream[b]].stream));
}

}  // namespace

bool IsGraphLaunch(std::string_view call) {
  return call.find("GraphLaunch") != std::string_view::npos;
}

LaunchLinks LinkLaunches(const Trace& trace) {
  LaunchLinks links;
  links.call_of_gpu.resize(trace.gpu.size());
  links.first = FirstPieces(trace);
  const RankedIds ids(trace);
  links.puts_work = OfEachCall(trace, PutsWork);
  const DenseIndex calls = CallsByCorrelation(trace, ids, links.puts_work);
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = calls.Find(ids.Of(trace.gpu.track[row], trace.gpu.correlation[row]));
    links.call_of_gpu[row] = call;
    if (call != LaunchLinks::kNone) links.first.Add(trace, call, static_cast<uint32_t>(row));
  }
  const HostCallTable& table = trace.host_calls;
  for (uint32_t call = 0; call < table.size(); ++call) {
    if (links.puts_work[call] == 0) continue;
    links.puts_work[call] =
        calls.Find(ids.Of(table.track[call], table.correlation[call])) == call ? 1 : 0;
  }
  return links;
}

FirstPieces::FirstPieces(const Trace& trace) : first_(trace.host_calls.size(), kNone) {
  std::unordered_map<StringId, uint32_t> numbers;
  for (const Stream& stream : trace.words.streams()) {
    const auto next = static_cast<uint32_t>(numbers.size());
    device_of_stream_.push_back(numbers.try_emplace(stream.device, next).first->second);
  }
}

void FirstPieces::Add(const Trace& trace, uint32_t call, uint32_t piece) {
  const GpuTable& gpu = trace.gpu;
  uint32_t* first = &first_[call];
  if (*first != kNone && DeviceOf(gpu, *first) != DeviceOf(gpu, piece)) {
    first = &elsewhere_.try_emplace({call, DeviceOf(gpu, piece)}, kNone).first->second;
  }
  if (*first == kNone || StartsBefore(trace, piece, *first)) *first = piece;
}

void ForgetDelays(LaunchTable& table) {
  table.delay = {};
  table.queues.clear();
  for (GraphLaunch& graph : table.graphs) graph.work = {};
}

// Long: one pass over the launches.
LaunchTable TabulateLaunches(const Trace& trace, const LaunchLinks& links, const Scope& scope) {
  LaunchTable table;
  const GpuTable& gpu = trace.gpu;
  const HostCallTable& calls = trace.host_calls;
  const GpuScope counts(trace, scope);
  const FirstPieces& first = links.first;
  // By call: 1 if it puts work only onto other devices, 2 if it puts work onto this device.
  std::vector<uint8_t> elsewhere(scope.device.empty() ? 0 : calls.size());
  if (!scope.device.empty()) {
    first.ForEach([&](uint32_t call, uint32_t piece) {
      elsewhere[call] = counts.OnDevice(piece) ? 2 : std::max<uint8_t>(elsewhere[call], 1);
    });
  }
  const auto call_counts = [&](size_t call) {
    return scope.Counts(calls.start[call]) && (elsewhere.empty() || elsewhere[call] != 1);
  };
  GraphRows graphs(trace, call_counts, table.graphs);

  std::vector<uint32_t> counted_of_call(calls.size());
  for (uint32_t row = 0; row < gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (!counts.Counts(row)) continue;
    if (call == LaunchLinks::kNone) {
      ++(gpu.correlation[row] < 0 ? table.without_correlation : table.without_launch);
      continue;
    }
    ++table.with_launch;
    table.max_gpu_events_per_launch =
        std::max<uint64_t>(table.max_gpu_events_per_launch, ++counted_of_call[call]);
    if (graphs.IsGraph(call)) {
      ++table.graph_gpu_events;
      graphs.AddPiece(call, gpu.When(row));
    } else if (gpu.kind[row] == SliceKind::kKernel && gpu.duration[row] < calls.duration[call]) {
      ++table.shorter_than_launch;
    }
  }
  table.gpu_events = table.with_launch + table.without_launch;
  SumUpGraphs(table);

  std::vector<int64_t> delays;
  std::vector<std::vector<Interval>> waits(trace.words.streams().size());
  first.ForEach([&](uint32_t call, uint32_t piece) {
    if (!counts.OnDevice(piece)) return;
    const Interval launch = calls.When(call);
    const TimeNs start = gpu.start[piece];
    // The clocks of host and device may differ a little, so work may seem to start before its
    // launch.
    waits[Index(gpu.stream[piece])].push_back({launch.start, std::max(launch.start, start)});
    if (counts.Counts(piece)) delays.push_back(std::max<int64_t>(0, (start - launch.end).ns));
  });
  table.delay = Summarize(delays);

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
  TabulateApis(trace, call_counts, table);
  table.overhead = OverheadOf(trace, call_counts);
  return table;
}

}  // namespace tacho
