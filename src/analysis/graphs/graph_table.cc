#include "analysis/graphs/graph_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/graphs/graph_batch.h"
#include "analysis/graphs/replays.h"
#include "analysis/graphs/row_places.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(GraphsState::kCount)> kGraphsStateIds = {
    "found", "no-launches", "no-work", "as-one", "times-refused"};
constexpr size_t kListedEagerSteps = 10;

// The spread of durations around one of them, so that little is lost by rounding.
class Spread {
 public:
  void Add(DurationNs duration) {
    if (first_ < 0) first_ = duration.ns;
    const auto off = static_cast<double>(duration.ns - first_);
    squares_ += off * off;
  }
  // The standard deviation of all durations: `count` of them, which add up to `total`.
  [[nodiscard]] DurationNs Deviation(uint64_t count, DurationNs total) const {
    if (count == 0) return {};
    const auto n = static_cast<double>(count);
    const double mean = static_cast<double>(total.ns) / n - static_cast<double>(first_);
    return {std::llround(std::sqrt(std::max(0.0, squares_ / n - mean * mean)))};
  }

 private:
  int64_t first_ = -1;
  double squares_ = 0;
};

class GraphTabulator {
 public:
  GraphTabulator(const PreparedTrace& prepared, const Scope& scope, const LayeredSteps& layers)
      : prepared_(prepared),
        trace_(prepared.index.trace()),
        steps_(prepared.steps.steps),
        replays_(FindReplays(prepared, scope)),
        batches_(trace_),
        places_(prepared, layers) {}

  GraphTable Tabulate() {
    table_.launches = replays_.all.size();
    table_.without_work = replays_.without_work;
    table_.unknown = replays_.unknown;
    table_.by_id = replays_.by_id;
    table_.state = State();
    if (table_.launches > 0) FindEagerSteps();
    if (table_.state != GraphsState::kFound) return std::move(table_);
    for (const ReplayedGraph& graph : replays_.graphs) Add(graph);
    for (size_t i = 0; i < table_.list.size(); ++i) AddPadding(i);
    AddPaddingOfSteps();
    AddDecodePadding();
    return std::move(table_);
  }

 private:
  [[nodiscard]] GraphsState State() const {
    if (table_.launches == 0) return GraphsState::kNoLaunches;
    if (!prepared_.integrity.device_times()) return GraphsState::kTimes;
    if (trace_.notes.CountOf(NoteId::kGraphAsOne) > 0) return GraphsState::kAsOne;
    return replays_.graphs.empty() ? GraphsState::kNoWork : GraphsState::kFound;
  }

  [[nodiscard]] const Step* StepOf(const Replay& replay) const {
    return replay.step == kNoStep ? nullptr : &steps_[replay.step];
  }
  [[nodiscard]] std::optional<int64_t> TokensOf(const Replay& replay) const {
    const Step* step = StepOf(replay);
    return step == nullptr ? std::nullopt : TokensOfStep(step->label);
  }

  void Add(const ReplayedGraph& graph) {
    GraphRow& row = table_.list.emplace_back();
    if (graph.id != 0) row.id = std::to_string(graph.id);
    row.device = trace_.Text(DeviceOf(graph.nodes.front()));
    if (graph.place) row.place = *graph.place;
    for (const uint32_t node : graph.nodes) {
      GraphNodeRow& of = row.nodes.emplace_back();
      of.name = NumberOf(trace_.gpu.name[node]);
      of.stream = trace_.Text(trace_.words[trace_.gpu.stream[node]].stream);
    }
    AddSteps(graph, row);
    AddPlaces(graph, row);
    std::vector<Spread> spreads(graph.nodes.size());
    Spread times;
    for (const uint32_t i : graph.replays) {
      const Replay& replay = replays_.all[i];
      const DurationNs busy = AddWork(replay, spreads, row);
      if (!replay.whole) {
        ++row.partial;
        continue;
      }
      times.Add(busy);
      row.least = row.replays == 0 ? busy : std::min(row.least, busy);
      row.most = std::max(row.most, busy);
      row.device_time += busy;
      ++row.replays;
    }
    row.deviation = times.Deviation(row.replays, row.device_time);
    row.work = row.unplaced_work;
    for (size_t k = 0; k < spreads.size(); ++k) {
      GraphNodeRow& node = row.nodes[k];
      row.work += node.total;
      node.deviation = spreads[k].Deviation(node.count, node.total);
    }
    row.batch = batches_.BatchOf(replays_, graph);
    if (row.batch && row.most_tokens && *row.batch < *row.most_tokens) row.batch.reset();
  }

  // Phase and tokens of the graph's steps.
  void AddSteps(const ReplayedGraph& graph, GraphRow& row) const {
    bool several = false;
    for (const uint32_t i : graph.replays) {
      const Step* step = StepOf(replays_.all[i]);
      if (step == nullptr) continue;
      several = several || (row.phase && *row.phase != step->label.phase);
      row.phase = step->label.phase;
      const std::optional<int64_t> tokens = TokensOfStep(step->label);
      if (!tokens) continue;
      row.least_tokens = std::min(row.least_tokens.value_or(*tokens), *tokens);
      row.most_tokens = std::max(row.most_tokens.value_or(*tokens), *tokens);
    }
    if (several) row.phase.reset();
  }

  // The layer and the block of each node.
  void AddPlaces(const ReplayedGraph& graph, GraphRow& row) const {
    std::vector<RowPlaces::Common> places(row.nodes.size());
    for (const uint32_t i : graph.replays) {
      const Replay& replay = replays_.all[i];
      for (size_t at = replay.begin; at < replay.end; ++at) {
        if (const uint32_t node = replays_.nodes[at]; node != Replays::kUnplaced)
          places[node].Add(places_.Of(replays_.rows[at]));
      }
    }
    for (size_t k = 0; k < places.size(); ++k) {
      row.nodes[k].layer = places[k].layer();
      row.nodes[k].block = places[k].block();
    }
  }

  // Adds the work of one replay to the nodes. Returns how long it ran.
  DurationNs AddWork(const Replay& replay, std::vector<Spread>& spreads, GraphRow& row) const {
    struct OnDevice {
      StringId device;
      TimeNs first, until;
    };
    std::vector<OnDevice> devices;
    DurationNs gaps, span;
    std::optional<StreamId> stream;
    size_t on = 0;  // the device of `stream`
    for (size_t at = replay.begin; at < replay.end; ++at) {
      const uint32_t piece = replays_.rows[at], node = replays_.nodes[at];
      const Interval when = trace_.gpu.When(piece);
      if (stream != trace_.gpu.stream[piece]) {
        stream = trace_.gpu.stream[piece];
        const StringId device = DeviceOf(piece);
        const auto of = std::ranges::find(devices, device, &OnDevice::device);
        on = static_cast<size_t>(of - devices.begin());
        if (of == devices.end()) devices.push_back({device, when.start, when.start});
      }
      TimeNs& until = devices[on].until;
      const DurationNs gap = std::max(DurationNs{}, when.start - until);
      until = std::max(until, when.end);
      gaps += gap;
      if (node == Replays::kUnplaced) {
        ++row.unplaced;
        row.unplaced_work += when.length();
        continue;
      }
      GraphNodeRow& of = row.nodes[node];
      ++of.count;
      of.total += when.length();
      spreads[node].Add(when.length());
      if (replay.whole) of.gap += gap;
    }
    for (const OnDevice& each : devices) span += each.until - each.first;
    if (replay.whole) row.span += span;
    return span - gaps;
  }

  // The cost of a graph's padding, by the smaller graphs in its place.
  void AddPadding(size_t number) {
    GraphRow& row = table_.list[number];
    if (!row.batch || !row.most_tokens) return;
    const std::map<int64_t, int64_t> smaller = MeansOfSmaller(number);
    GraphPadding padding;
    padding.cost.emplace();
    for (const uint32_t i : replays_.graphs[number].replays) {
      const std::optional<int64_t> tokens = TokensOf(replays_.all[i]);
      if (!tokens) continue;
      ++padding.replays;
      if (*tokens >= *row.batch) continue;
      ++padding.padded;
      padding.tokens += *row.batch - *tokens;
      const auto above = smaller.upper_bound(*tokens);
      if (above == smaller.begin() || row.replays == 0)
        padding.cost.reset();
      else if (padding.cost)
        *padding.cost += DurationNs{std::max<int64_t>(0, MeanOf(row) - std::prev(above)->second)};
    }
    row.padding = padding;
  }
  // By batch: how long a replay of the smaller graphs takes that run in the same way as graph
  // `number`. Empty if it has no place of its own in the steps.
  [[nodiscard]] std::map<int64_t, int64_t> MeansOfSmaller(size_t number) const {
    const GraphRow& of = table_.list[number];
    std::map<int64_t, int64_t> means;
    for (size_t i = 0; of.place && i < table_.list.size(); ++i) {
      const GraphRow& other = table_.list[i];
      if (other.batch && *other.batch < *of.batch && other.replays > 0 && other.place == of.place &&
          other.phase == of.phase && other.device == of.device &&
          replays_.graphs[i].process == replays_.graphs[number].process)
        means.emplace(*other.batch, MeanOf(other));
    }
    return means;
  }
  static int64_t MeanOf(const GraphRow& row) {
    return row.device_time.ns / static_cast<int64_t>(row.replays);
  }

  void AddPaddingOfSteps() {
    struct Batch {
      int64_t size = 0;
      bool agrees = true;
    };
    std::map<uint32_t, Batch> of_step;
    for (size_t g = 0; g < table_.list.size(); ++g) {
      const std::optional<int64_t> batch = table_.list[g].batch;
      if (!batch) continue;
      for (const uint32_t i : replays_.graphs[g].replays) {
        const Replay& replay = replays_.all[i];
        if (!TokensOf(replay)) continue;
        Batch& of = of_step[replay.step];
        of.agrees = of.agrees && (of.size == 0 || of.size == *batch);
        of.size = *batch;
      }
    }
    for (const auto& [step, batch] : of_step) {
      if (!batch.agrees) continue;
      table_.batch_tokens += batch.size;
      table_.padding_tokens += batch.size - *TokensOfStep(steps_[step].label);
    }
  }

  void AddDecodePadding() {
    DecodePadding total;
    bool any = false;
    for (const GraphRow& row : table_.list) {
      if (row.phase != Phase::kDecode || !row.padding || row.padding->padded == 0) continue;
      any = true;
      if (row.padding->cost)
        total.cost += *row.padding->cost;
      else
        total.uncompared += row.padding->padded;
    }
    if (!any) return;
    for (const Step& step : steps_) {
      if (step.label.phase == Phase::kDecode)
        total.device_time += step.device_busy.value_or(DurationNs{});
    }
    table_.decode_padding = total;
  }

  void FindEagerSteps() {
    std::vector<bool> has_graph(steps_.size());
    for (const Replay& replay : replays_.all) {
      if (replay.step != kNoStep) has_graph[replay.step] = true;
    }
    EagerSteps eager;
    bool any = false;
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (step.label.phase != Phase::kDecode || step.cut || !step.device_busy) continue;
      ++eager.of;
      any = any || has_graph[i];
      if (has_graph[i]) continue;
      ++eager.count;
      if (eager.indexes.size() < kListedEagerSteps) eager.indexes.push_back(i);
    }
    if (any) table_.eager = std::move(eager);
  }

  [[nodiscard]] StringId DeviceOf(uint32_t row) const {
    return trace_.words[trace_.gpu.stream[row]].device;
  }
  uint32_t NumberOf(StringId name) {
    const auto [at, is_new] =
        numbers_.try_emplace(name, static_cast<uint32_t>(table_.names.size()));
    if (is_new) table_.names.emplace_back(trace_.Text(name));
    return at->second;
  }

  const PreparedTrace& prepared_;
  const Trace& trace_;
  const std::vector<Step>& steps_;
  Replays replays_;
  GraphBatches batches_;
  const RowPlaces places_;
  std::unordered_map<StringId, uint32_t> numbers_;
  GraphTable table_;
};

}  // namespace

std::string_view GraphsStateId(GraphsState state) {
  return kGraphsStateIds.at(static_cast<size_t>(state));
}

std::optional<int64_t> TokensOfStep(const StepLabel& label) {
  if (label.context_tokens < 0 || label.generation_tokens < 0) return std::nullopt;
  return label.context_tokens + label.generation_tokens;
}

GraphTable TabulateReplays(const PreparedTrace& prepared, const Scope& scope,
                           const LayeredSteps& layers) {
  return GraphTabulator(prepared, scope, layers).Tabulate();
}

}  // namespace tacho
