#include "simulate/known/known_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/random.h"
#include "simulate/engine/step_plan.h"

namespace tacho::simulate {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kMostTraffic = 100'000, kMostEngines = 64, kMostGapNs = 60'000'000'000;
constexpr int64_t kFirstNs = 2'000'000;      // from the recording's start to the first request
constexpr int64_t kWakeNs = 60'000;          // how long an idle engine takes to begin a step
constexpr int64_t kMostSkewNs = 40'000'000;  // most by which the clocks of two hosts differ
constexpr int64_t kLateMostNs = 3'000'000;
constexpr int64_t kPidsOfEngine = 100;

int64_t AboutMean(int64_t mean, Random& random) {
  return std::max<int64_t>(1, random.Between(mean / 2, mean + mean / 2));
}

Result<void> CheckTraffic(const KnownTrafficOptions& o) {
  const auto bound = [](std::string_view what, auto value, auto least, auto most) -> Result<void> {
    if (value >= least && value <= most) return {};
    return Fail(ErrorKind::kUsage, fmt::format("{} is {} to {}, not {}", what, least, most, value));
  };
  TACHO_RETURN_IF_ERROR(bound("the number of requests", o.requests, int64_t{1}, kMostTraffic));
  TACHO_RETURN_IF_ERROR(bound("the number of engines", o.engines, int64_t{1}, kMostEngines));
  TACHO_RETURN_IF_ERROR(bound("the mean gap in ns", o.gap_ns, int64_t{0}, kMostGapNs));
  TACHO_RETURN_IF_ERROR(
      bound("the error of the clocks in ns", o.clock_error_ns, int64_t{0}, kMostGapNs));
  for (const double share : {o.cached, o.failed, o.merged, o.late, o.recorded_from, o.recorded_to})
    TACHO_RETURN_IF_ERROR(bound("a share", share, 0.0, 1.0));
  if (o.recorded_from < o.recorded_to) return {};
  return Fail(ErrorKind::kUsage, "the recorded part ends before it begins");
}

// What TrafficPlanner decides about a request besides KnownRequest.
struct PlannedRequest {
  int64_t arrival_ns = 0;     // when it reaches the engine, by the clock of the engine's host
  int64_t aborts_after = -1;  // tokens after which the client leaves; -1: never
};
class TrafficPlanner {
 public:
  TrafficPlanner(KnownTraffic& traffic, std::vector<PlannedRequest>& planned)
      : traffic_(traffic), planned_(planned), random_(traffic.options.load_seed, 11) {}

  void Plan(int64_t start_ns) {
    const KnownTrafficOptions& o = traffic_.options;
    double now = 0;
    for (int64_t i = 0; i < o.requests; ++i) {
      now += random_.Exponential() * static_cast<double>(o.gap_ns);
      PlanOne(i, start_ns + kFirstNs + static_cast<int64_t>(now));
    }
  }

 private:
  void PlanOne(int64_t index, int64_t intended_ns) {
    const KnownTrafficOptions& o = traffic_.options;
    KnownRequest& request = traffic_.requests.emplace_back();
    PlannedRequest& planned = planned_.emplace_back();
    request.id = fmt::format("traffic-{}-{}", o.load_seed, index);
    const bool is_long = random_.Uniform() < 0.25;
    request.scenario = is_long ? "rag" : "chat";
    request.engine = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(o.engines)));
    request.prompt_tokens = AboutMean(o.run.mix.prompt_tokens * (is_long ? 4 : 1), random_);
    request.output_tokens = AboutMean(o.run.mix.output_tokens, random_);
    if (random_.Uniform() < o.cached) request.cached_tokens = request.prompt_tokens / 32 * 16;
    const bool is_late = random_.Uniform() < o.late;
    request.intended_ns = intended_ns;
    request.handed_ns = intended_ns + random_.Between(3'000, 30'000) +
                        (is_late ? random_.Between(0, kLateMostNs) : 0);
    request.sent_ns = request.handed_ns + random_.Between(5'000, 40'000);
    const int64_t on_the_way =
        random_.Between(60'000, 200'000) + request.prompt_tokens * random_.Between(50, 150);
    request.failed = random_.Uniform() < o.failed;
    const bool at_once = random_.Uniform() < 0.5;
    const auto tokens = static_cast<uint64_t>(request.output_tokens);
    const auto taken = static_cast<int64_t>(random_.Below(tokens));
    if (request.failed && at_once) {
      request.ended_ns = request.sent_ns + 2 * on_the_way;
      return;
    }
    if (request.failed) planned.aborts_after = taken;
    planned.arrival_ns = request.arrived_ns =
        request.sent_ns + on_the_way + traffic_.true_offset_ns[static_cast<size_t>(request.engine)];
  }

  KnownTraffic& traffic_;
  std::vector<PlannedRequest>& planned_;
  Random random_;
};

// Runs one engine's requests through its batcher.
class EngineTraffic {
 public:
  EngineTraffic(KnownTraffic& traffic, const std::vector<PlannedRequest>& planned, int64_t engine)
      : traffic_(traffic),
        planned_(planned),
        run_(traffic.engines[static_cast<size_t>(engine)]),
        batcher_(traffic.options.limits) {
    for (size_t i = 0; i < planned.size(); ++i) {
      if (traffic.requests[i].engine == engine && planned[i].arrival_ns != 0)
        arrivals_.push_back(i);
    }
    std::ranges::stable_sort(arrivals_, {}, [&](size_t i) { return planned[i].arrival_ns; });
  }

  void Run() {
    int64_t now = run_.recording.start_ns + kAroundNs;
    bool after_idle = true;
    while (next_ < arrivals_.size() || !batcher_.idle()) {
      if (batcher_.idle()) {
        const int64_t wakes = planned_[arrivals_[next_]].arrival_ns + kWakeNs;
        after_idle |= wakes > now;
        now = std::max(now, wakes);
      }
      Admit(now);
      const StepBatch batch = batcher_.Schedule();
      now = RunStep(batch, now, after_idle);
      after_idle = false;
    }
  }

 private:
  void Admit(int64_t now) {
    for (; next_ < arrivals_.size() && planned_[arrivals_[next_]].arrival_ns <= now; ++next_) {
      const KnownRequest& request = traffic_.requests[arrivals_[next_]];
      batcher_.Add({.id = arrivals_[next_],
                    .prompt_tokens = request.prompt_tokens,
                    .cached_tokens = request.cached_tokens,
                    .output_tokens = request.output_tokens,
                    .arrival_ns = now});
    }
  }

  // Runs one step. Returns when it ends.
  int64_t RunStep(const StepBatch& batch, int64_t now, bool after_idle) {
    const auto step = static_cast<int64_t>(run_.recording.steps.size());
    const int64_t duration = AddKnownStep(run_, batch.load, now, after_idle).duration_ns;
    const int64_t end = now + duration;
    // How much longer the step takes because it reads prompts.
    int64_t longer = batch.load.context.requests == 0 ? 0 : duration;
    if (longer > 0 && batch.load.generation.requests > 0)
      longer = std::max<int64_t>(0, duration - WithoutPrompts(batch.load, step));
    for (const BatchShare& share : batch.shares) {
      if (share.is_context) traffic_.requests[share.id].reads.push_back({step, share.tokens});
    }
    AddWaits(batch, duration, longer);
    for (const BatchOutput& output : batcher_.Complete(batch)) {
      KnownRequest& request = traffic_.requests[output.id];
      const int64_t most = planned_[output.id].aborts_after;
      if (most >= 0 && static_cast<int64_t>(request.tokens.size()) == most) {
        // The client leaves before it gets this token.
        batcher_.Abort(output.id);
        waits_.erase(output.id);
        continue;
      }
      request.tokens.push_back({step, end, 0});
      const Wait wait = std::exchange(waits_[output.id], {});
      request.wait_prefill_ns += wait.prefill_ns;
      request.preempted_ns += wait.preempted_ns;
      if (output.finished) waits_.erase(output.id);
    }
    return end;
  }

  [[nodiscard]] int64_t WithoutPrompts(const StepLoad& load, int64_t step) const {
    StepLoad alone;
    alone.generation = load.generation;
    alone.sampled = load.generation.requests;
    return PlanStep(run_.options.engine, run_.sources.front().cost, alone, run_.options.seed,
                    static_cast<uint64_t>(step))
        .duration_ns;
  }

  // Adds a step to the waits of all requests that have a first token and want another.
  void AddWaits(const StepBatch& batch, int64_t duration, int64_t longer) {
    std::map<uint64_t, bool> takes_part;
    for (const BatchShare& share : batch.shares) takes_part[share.id] = true;
    for (auto& [id, wait] : waits_) {
      if (takes_part.contains(id))
        wait.prefill_ns += longer;
      else
        (batch.load.context.requests > 0 ? wait.prefill_ns : wait.preempted_ns) += duration;
    }
  }

  KnownTraffic& traffic_;
  const std::vector<PlannedRequest>& planned_;
  KnownRun& run_;
  Batcher batcher_;
  std::vector<size_t> arrivals_;  // indices of requests, in the order of their arrival
  size_t next_ = 0;
  // For each request that has a first token and wants another: what it waited for since its last
  // token.
  struct Wait {
    int64_t prefill_ns = 0, preempted_ns = 0;
  };
  std::map<uint64_t, Wait> waits_;
};

// Sets when the client sees the tokens, and when the answers end.
void Deliver(KnownTraffic& traffic) {
  Random random(traffic.options.load_seed, 12);
  for (KnownRequest& request : traffic.requests) {
    const int64_t offset = traffic.true_offset_ns[static_cast<size_t>(request.engine)];
    int64_t before = 0;
    for (KnownToken& token : request.tokens) {
      const int64_t takes =
          random.Between(80'000, 160'000) + static_cast<int64_t>(random.Exponential() * 40'000);
      token.seen_ns = std::max(before + 1'000, token.made_ns - offset + takes);
      before = token.seen_ns;
    }
    // Goes from the last token to the first, so that several tokens may merge into one chunk.
    for (size_t i = request.tokens.size(); i-- > 1;) {
      if (random.Uniform() < traffic.options.merged)
        request.tokens[i - 1].seen_ns = request.tokens[i].seen_ns;
    }
    if (request.ended_ns == 0)
      request.ended_ns = before != 0 ? before + (request.failed ? 5'000'000 : 20'000)
                                     : request.sent_ns + 5'000'000;
  }
}

// Keeps only the recorded steps. Step indices then count from the first of them.
void CutRecording(KnownTraffic& traffic) {
  const KnownTrafficOptions& o = traffic.options;
  for (KnownRun& run : traffic.engines) {
    Recording& recording = run.recording;
    const auto count = static_cast<double>(recording.steps.size());
    const auto from = static_cast<int64_t>(std::floor(o.recorded_from * count));
    const auto to = static_cast<int64_t>(std::ceil(o.recorded_to * count));
    traffic.first_step.push_back(from);
    if (to < static_cast<int64_t>(recording.steps.size()))
      recording.end_ns = recording.steps[static_cast<size_t>(to)].start_ns;
    if (from > 0) recording.start_ns = recording.steps[static_cast<size_t>(from)].start_ns;
    const auto cut = [&](auto& list) {
      list.erase(list.begin() + to, list.end());
      list.erase(list.begin(), list.begin() + from);
    };
    cut(recording.steps);
    cut(recording.plans);
  }
  for (KnownRequest& request : traffic.requests) {
    const int64_t from = traffic.first_step[static_cast<size_t>(request.engine)];
    for (KnownRead& read : request.reads) read.step -= from;
    for (KnownToken& token : request.tokens) token.step -= from;
  }
}

Result<void> BeginEngines(KnownTraffic& traffic) {
  const KnownTrafficOptions& o = traffic.options;
  const bool together = o.front == TrafficFront::kDataParallel;
  Random clocks(o.load_seed, 13);
  for (int64_t engine = 0; engine < o.engines; ++engine) {
    KnownRunOptions one = o.run;
    one.seed = o.run.seed + static_cast<uint64_t>(engine);
    TACHO_ASSIGN_OR_RETURN(KnownRun run, BeginKnownRun(one));
    const bool same_clock = together && engine > 0;
    const int64_t skew = clocks.Between(-kMostSkewNs, kMostSkewNs);
    const int64_t wrong = clocks.Between(-o.clock_error_ns, o.clock_error_ns);
    traffic.true_offset_ns.push_back(same_clock ? traffic.true_offset_ns[0] : skew);
    traffic.stated_offset_ns.push_back(same_clock ? traffic.stated_offset_ns[0] : skew + wrong);
    if (engine > 0) {
      const int64_t first = traffic.engines[0].recording.start_ns - traffic.true_offset_ns[0];
      run.recording.start_ns = run.recording.end_ns = first + traffic.true_offset_ns.back();
    }
    for (TraceSource& source : run.sources) {
      source.pid += engine * kPidsOfEngine;
      if (!together) continue;
      source.device += static_cast<int>(engine * o.run.ranks);
      source.visible_devices = static_cast<int>(o.engines * o.run.ranks);
    }
    traffic.engines.push_back(std::move(run));
  }
  return {};
}

}  // namespace

Result<KnownTraffic> MakeKnownTraffic(const KnownTrafficOptions& options) {
  TACHO_RETURN_IF_ERROR(CheckTraffic(options));
  KnownTraffic traffic;
  traffic.options = options;
  traffic.options.limits.mixes = options.run.engine == SimulatedEngine::kVllm;
  TACHO_RETURN_IF_ERROR(BeginEngines(traffic));
  std::vector<PlannedRequest> planned;
  TrafficPlanner(traffic, planned)
      .Plan(traffic.engines[0].recording.start_ns - traffic.true_offset_ns[0]);
  for (int64_t engine = 0; engine < options.engines; ++engine)
    EngineTraffic(traffic, planned, engine).Run();
  Deliver(traffic);
  CutRecording(traffic);
  return traffic;
}

std::string TrafficWorker(const KnownTraffic& traffic, int64_t engine) {
  return fmt::format("w{}", traffic.options.front == TrafficFront::kDataParallel ? 0 : engine);
}

std::string TrafficTruth(const KnownTraffic& traffic) {
  const KnownTrafficOptions& o = traffic.options;
  OrderedJson out = {{"schema", 1},          {"engine", NameOf(o.run.engine)},
                     {"engines", o.engines}, {"ranks", o.run.ranks},
                     {"seed", o.run.seed},   {"load_seed", o.load_seed}};
  out["clocks"] = OrderedJson::array();
  for (int64_t engine = 0; engine < o.engines; ++engine) {
    const auto at = static_cast<size_t>(engine);
    out["clocks"].push_back({{"engine", engine},
                             {"worker", TrafficWorker(traffic, engine)},
                             {"true_offset_ns", traffic.true_offset_ns[at]},
                             {"stated_offset_ns", traffic.stated_offset_ns[at]},
                             {"stated_error_ns", o.clock_error_ns}});
  }
  OrderedJson& rows = out["requests"] = OrderedJson::array();
  for (const KnownRequest& request : traffic.requests) {
    OrderedJson row = {
        {"id", request.id},
        {"engine", request.engine},
        {"worker", TrafficWorker(traffic, request.engine)},
        {"trace", KnownTraceName(traffic.engines[static_cast<size_t>(request.engine)], 0)},
        {"failed", request.failed},
        {"prompt_tokens", request.prompt_tokens},
        {"cached_tokens", request.cached_tokens}};
    if (request.arrived_ns != 0) row["arrived_ns"] = request.arrived_ns;
    const auto step = [&](int64_t index) {
      return traffic.IsRecorded(request.engine, index) ? OrderedJson(index) : OrderedJson();
    };
    row["reads"] = OrderedJson::array();
    for (const KnownRead& read : request.reads)
      row["reads"].push_back({{"step", step(read.step)}, {"tokens", read.tokens}});
    row["tokens"] = OrderedJson::array();
    for (const KnownToken& token : request.tokens)
      row["tokens"].push_back({{"step", step(token.step)}, {"made_ns", token.made_ns}});
    row["wait_prefill_ns"] = request.wait_prefill_ns;
    row["preempted_ns"] = request.preempted_ns;
    rows.push_back(std::move(row));
  }
  return out.dump(1) + "\n";
}

}  // namespace tacho::simulate
