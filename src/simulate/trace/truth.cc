#include "simulate/trace/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "simulate/trace/python_frames.h"
#include "simulate/trace/speculation_truth.h"
#include "simulate/trace/trace_steps.h"

namespace tacho::simulate {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Total {
  int64_t count = 0, total_ns = 0, bytes = 0;
  void Add(const DeviceSlice& slice) {
    ++count;
    total_ns += slice.dur_ns;
    bytes += slice.bytes;
  }
};

struct Span {
  int64_t start, end;
};

// The replays of one graph.
struct GraphTruth {
  int64_t replays = 0, tokens = 0, work_ns = 0, device_ns = 0;
  int64_t batch = 0;  // 0: no graph of a fixed batch
  size_t nodes = 0;
};

// The total time that the spans cover; overlap counts once.
int64_t UnionNs(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::start);
  int64_t total = 0, reached = INT64_MIN;
  for (const Span& span : spans) {
    const int64_t from = std::max(span.start, reached);
    if (span.end > from) total += span.end - from;
    reached = std::max(reached, span.end);
  }
  return total;
}

class Truth {
 public:
  explicit Truth(const TraceSource& source) : source_(source) {}

  void Add(const TracedStep& step) {
    const StepLoad& load = step.step->load;
    speculation_.Add(step);
    if (source_.with_stack) {
      events_["python_function"] += static_cast<int64_t>(FramesOf(source_.engine, step).size());
    }
    events_["user_annotation"] += step.step->profiler_step ? 1 : 0;
    for (size_t i = 0; i < step.plan.host.size(); ++i) {
      const HostSlice& slice = step.plan.host[i];
      if (step.external_ids[i] == 0) continue;
      ++events_[slice.kind == HostSlice::Kind::kOp ? "cpu_op" : "user_annotation"];
      if (slice.kind == HostSlice::Kind::kOp) {
        Total& op = ops_[slice.name];
        ++op.count;
        op.total_ns += slice.dur_ns;
      }
      if (slice.kind != HostSlice::Kind::kStep) continue;
      steps_.push_back({{"name", step.name},
                        {"phase", PhaseOf(load)},
                        {"start_ns", step.origin_ns + slice.start_ns},
                        {"dur_ns", slice.dur_ns},
                        {"context_requests", load.context.requests},
                        {"context_tokens", load.context.tokens},
                        {"generation_requests", load.generation.requests},
                        {"generation_tokens", load.generation.tokens}});
    }
    AddGraph(step);
    std::map<int32_t, int64_t> by_call;
    // For each call in the trace with device work in the window: whether any of that work is in the
    // trace.
    std::map<int32_t, bool> calls_with_rows;
    for (size_t i = 0; i < step.plan.device.size(); ++i) {
      const int32_t call = step.plan.device[i].call;
      if (step.shows_call[static_cast<size_t>(call)] &&
          (step.lost_device[i] || step.shows_device[i])) {
        lost_events_ += step.lost_device[i] ? 1 : 0;
        calls_with_rows[call] = calls_with_rows[call] || step.shows_device[i];
      }
      if (!step.shows_device[i]) continue;
      const DeviceSlice& slice = step.plan.device[i];
      const int64_t start = step.origin_ns + slice.start_ns;
      busy_.push_back({start, start + slice.dur_ns});
      switch (slice.kind) {
        case DeviceSlice::Kind::kKernel:
          ++events_["kernel"];
          kernels_[slice.name].Add(slice);
          break;
        case DeviceSlice::Kind::kCopy:
          ++events_["gpu_memcpy"];
          copies_[CopyKind(slice.name)].Add(slice);
          break;
        case DeviceSlice::Kind::kMemset:
          ++events_["gpu_memset"];
          memsets_.Add(slice);
          break;
      }
      const bool has_launch = step.shows_call[static_cast<size_t>(slice.call)];
      (has_launch ? with_launch_ : without_launch_) += 1;
      if (has_launch) largest_launch_ = std::max(largest_launch_, ++by_call[slice.call]);
    }
    for (const auto& [call, has_rows] : calls_with_rows) lost_calls_ += has_rows ? 0 : 1;
    for (size_t c = 0; c < step.plan.calls.size(); ++c) {
      if (!step.shows_call[c]) continue;
      ++events_[step.plan.calls[c].call->category];
      Total& call = calls_[step.plan.calls[c].call->name];
      ++call.count;
      call.total_ns += step.plan.calls[c].dur_ns;
    }
  }

  std::string Text(const Recording& recording) && {
    const int64_t base = KinetoBaseNs(source_.OnClock(recording.start_ns));
    OrderedJson out = {{"schema", 1},
                       {"engine", NameOf(source_.engine)},
                       {"rank", source_.rank},
                       {"world_size", source_.world_size},
                       {"pid", source_.pid},
                       {"base_time_ns", base},
                       {"clock_skew_ns", source_.clock_skew_ns},
                       {"recorded",
                        {{"start_ns", source_.OnClock(recording.start_ns) - base},
                         {"end_ns", source_.OnClock(recording.end_ns) - base}}}};
    if (source_.with_stack && source_.has_host) {
      events_["python_function"] += static_cast<int64_t>(RootFrames(source_.engine).size());
    }
    std::erase_if(events_, [](const auto& row) { return row.second == 0; });
    out["events"] = events_;
    if (source_.names != StepNames::kNone) out["steps"] = steps_;
    OrderedJson device = {{"device", fmt::format("{}", source_.device)},
                          {"gpu_events", busy_.size()}};
    if (!busy_.empty()) {
      const int64_t start = std::ranges::min(busy_, {}, &Span::start).start;
      const int64_t end = std::ranges::max(busy_, {}, &Span::end).end;
      const int64_t busy = UnionNs(busy_);
      device["window_start_ns"] = start;
      device["window_ns"] = end - start;
      device["busy_ns"] = busy;
      device["idle_ns"] = end - start - busy;
    }
    out["device"] = device;
    out["kernels"] = Rows(kernels_, "name", "total_ns");
    out["copies"] = Rows(copies_, "kind", "total_ns");
    out["memsets"] = {
        {"count", memsets_.count}, {"total_ns", memsets_.total_ns}, {"bytes", memsets_.bytes}};
    out["launches"] = {{"gpu_events", busy_.size()},
                       {"with_launch", with_launch_},
                       {"without_launch", without_launch_},
                       {"graph_launches", calls_["cudaGraphLaunch"].count},
                       {"max_gpu_events_per_launch", largest_launch_}};
    if (speculation_.any()) {
      for (const auto& [key, value] : speculation_.Fields()) out["speculation"][key] = value;
    }
    out["lost"] = {{"calls", lost_calls_}, {"gpu_events", lost_events_}};
    out["graphs"] = Graphs();
    std::erase_if(calls_, [](const auto& call) { return call.second.count == 0; });
    out["calls"] = Rows(calls_, "name", "total_ns");
    out["ops"] = Rows(ops_, "name", "cpu_total_ns");
    return out.dump(1) + "\n";
  }

 private:
  // Adds the step's graph, if its launch and all its work are in the trace.
  void AddGraph(const TracedStep& step) {
    std::vector<Span> spans;
    const DeviceSlice* node = nullptr;
    for (size_t i = 0; i < step.plan.device.size(); ++i) {
      const DeviceSlice& slice = step.plan.device[i];
      if (slice.graph_node == 0) continue;
      if (!step.shows_device[i] || !step.shows_call[static_cast<size_t>(slice.call)]) return;
      spans.push_back({slice.start_ns, slice.start_ns + slice.dur_ns});
      node = &slice;
    }
    if (node == nullptr) return;
    GraphTruth& graph = graphs_[GraphIdOf(*node)];
    if (node->graph > 0)
      graph.batch = source_.cost.graph_sizes[static_cast<size_t>(node->graph - 1)];
    ++graph.replays;
    graph.tokens += step.step->load.tokens();
    graph.nodes = std::max(graph.nodes, spans.size());
    for (const Span& span : spans) graph.work_ns += span.end - span.start;
    graph.device_ns += UnionNs(spans);
  }
  [[nodiscard]] OrderedJson Graphs() const {
    OrderedJson rows = OrderedJson::array();
    for (const auto& [id, graph] : graphs_) {
      OrderedJson row = {{"id", fmt::format("{}", id)}, {"nodes", graph.nodes},
                         {"replays", graph.replays},    {"tokens", graph.tokens},
                         {"work_ns", graph.work_ns},    {"device_ns", graph.device_ns}};
      if (graph.batch > 0) row["batch"] = graph.batch;
      rows.push_back(std::move(row));
    }
    return rows;
  }
  // The direction in a copy's name: "HtoD" for "Memcpy HtoD (Pinned -> Device)".
  static std::string CopyKind(std::string_view name) {
    const size_t begin = name.find(' ') + 1;
    return std::string(name.substr(begin, name.find(' ', begin) - begin));
  }
  static OrderedJson Rows(const std::map<std::string, Total>& totals, const char* key,
                          const char* sum) {
    OrderedJson rows = OrderedJson::array();
    for (const auto& [name, total] : totals) {
      OrderedJson row = {{key, name}, {"count", total.count}, {sum, total.total_ns}};
      if (total.bytes > 0) row["bytes"] = total.bytes;
      rows.push_back(std::move(row));
    }
    return rows;
  }

  const TraceSource& source_;
  OrderedJson steps_ = OrderedJson::array();
  std::map<std::string, Total> kernels_, copies_, calls_, ops_;
  std::map<int64_t, GraphTruth> graphs_;   // whole replays, by id
  std::map<std::string, int64_t> events_;  // number of events by category
  Total memsets_;
  SpeculationTruth speculation_;
  std::vector<Span> busy_;
  int64_t with_launch_ = 0, without_launch_ = 0, largest_launch_ = 0;
  int64_t lost_calls_ = 0, lost_events_ = 0;
};

}  // namespace

std::string TruthOf(const TraceSource& source, const Recording& recording) {
  Truth truth(source);
  EachTracedStep(source, recording, [&](const TracedStep& step) { truth.Add(step); });
  return std::move(truth).Text(recording);
}

}  // namespace tacho::simulate
