#include "simulate/engine/step_plan.h"

#include <algorithm>
#include <utility>

namespace tacho::simulate {
namespace {

constexpr int64_t kMostGraphRequests = 512;

// Noise that is the same for all kernels and all ranks of a step.
struct StepNoise {
  double kernels = 1, host = 1;  // factors on the times of kernels and of the host
  int64_t stall_ns = 0;          // pause of the host before the step
};

double FactorOf(double deviation, Random& random) {
  return std::clamp(1 + deviation * random.Normal(), 0.5, 2.0);
}

StepNoise NoiseOf(const Noise& noise, uint64_t seed, uint64_t step_seed) {
  StepNoise out;
  if (noise.run > 0) {
    Random run(seed, 1);
    out.kernels *= FactorOf(noise.run, run);
    out.host *= FactorOf(noise.run, run);
  }
  Random step(step_seed, 2);
  if (noise.step > 0) {
    out.kernels *= FactorOf(noise.step, step);
    out.host *= FactorOf(noise.step, step);
  }
  if (step.Uniform() < noise.stalls) out.stall_ns = step.Between(100'000, 1'000'000);
  return out;
}

// Plans one rank's part of a step.
class Rank {
 public:
  Rank(SimulatedEngine engine, double speed, uint64_t seed)
      : engine_(engine), speed_(speed), seed_(seed), random_(Random::FromState(HashNumber(seed))) {}

  int64_t Time(int64_t low, int64_t high) {
    return static_cast<int64_t>(static_cast<double>(random_.Between(low, high)) / speed_);
  }
  void Pass(int64_t low, int64_t high) { now_ += Time(low, high); }
  void BeLate(int64_t ns) { now_ += ns; }

  void Open(HostSlice::Kind kind, const char* name) {
    open_.push_back(static_cast<int32_t>(plan_.host.size()));
    plan_.host.push_back({kind, name, now_, 0});
  }
  void OpenOp(const char* name) {
    Pass(700, 1900);
    Open(HostSlice::Kind::kOp, name);
    Pass(800, 1800);
  }
  void Close() {
    Pass(300, 900);
    HostSlice& slice = plan_.host[static_cast<size_t>(open_.back())];
    slice.dur_ns = now_ - slice.start_ns;
    open_.pop_back();
  }

  // Adds a host call, which lasts at least until `not_before`. Returns the call's index.
  int32_t Call(const char* name, int64_t low, int64_t high, int64_t not_before = 0) {
    Pass(200, 700);
    const int64_t start = now_;
    now_ = std::max(now_ + Time(low, high), not_before);
    plan_.calls.push_back({&CallOf(name), start, now_ - start, open_.empty() ? -1 : open_.back()});
    return static_cast<int32_t>(plan_.calls.size() - 1);
  }

  void Copy(const char* name, int stream, int64_t bytes) {
    OpenOp("aten::copy_");
    const int32_t call = Call("cudaMemcpyAsync", 5000, 7500);
    const int64_t after =
        stream == kCopyStream ? std::max(compute_free_, copy_free_) : compute_free_;
    const int64_t start = std::max(now_ + Time(900, 2400), after + Time(640, 1150));
    const int64_t dur = Ticks(Time(960, 1400) + bytes / 24);
    (stream == kCopyStream ? copy_free_ : compute_free_) = start + dur;
    plan_.device.push_back({DeviceSlice::Kind::kCopy, KernelRole::kCount, name, stream, start, dur,
                            call, open_.back(), 0, 0, bytes});
    Close();
  }
  void Memset(int64_t bytes) {
    const int32_t call = Call("cudaMemsetAsync", 3000, 4500);
    const int64_t start = std::max(now_ + Time(900, 2400), compute_free_ + Time(640, 1150));
    const int64_t dur = Ticks(Time(900, 1300));
    compute_free_ = start + dur;
    plan_.device.push_back({DeviceSlice::Kind::kMemset, KernelRole::kCount, "Memset (Device)",
                            kComputeStream, start, dur, call, open_.empty() ? -1 : open_.back(), 0,
                            0, bytes});
  }

  // Adds a kernel together with its own launch and operator. `beside`: on kSideStream.
  void Launch(const KernelWork& work, bool beside) {
    const KernelInfo& info = KernelOf(engine_, work.role);
    const OwnDraws own(*this, work.place);
    OpenOp(info.op);
    const int32_t call = Call(info.launch, 3600, 6200);
    const int64_t launched = now_ + Time(900, 2400);
    const int64_t start = std::max(launched, FreeFor(work, beside) + Time(640, 1150));
    Add(work, info, start, call, open_.back(), 0, beside);
    Close();
  }
  void LaunchGraph(size_t kernels, int64_t graph) {
    const OwnDraws own(*this, 0);
    const int64_t nodes = static_cast<int64_t>(kernels) * Time(300, 380);
    graph_call_ = Call("cudaGraphLaunch", 9000 + nodes, 11000 + nodes);
    const HostCall& call = plan_.calls[static_cast<size_t>(graph_call_)];
    // The device begins while the host is still submitting the graph.
    compute_free_ = std::max(compute_free_, call.start_ns + call.dur_ns / 2 + Time(2000, 4000));
    graph_node_ = 0;
    graph_ = graph;
  }
  void GraphNode(const KernelWork& work, bool beside) {
    const OwnDraws own(*this, work.place);
    const int64_t start = FreeFor(work, beside) + Time(640, 1150);
    Add(work, KernelOf(engine_, work.role), start, graph_call_, -1, ++graph_node_, beside);
  }

  void SetDrafting(bool drafting) { drafting_ = drafting; }
  DeviceSlice& last() { return plan_.device.back(); }
  int64_t compute_free() const { return compute_free_; }
  void set_compute_free(int64_t ns) { compute_free_ = ns; }
  int64_t device_free() const { return std::max({compute_free_, copy_free_, side_free_}); }

  RankPlan Finish() {
    plan_.end_ns = now_;
    return std::move(plan_);
  }

 private:
  // While this object lives, the rank draws from a random sequence that belongs to one kernel. So a
  // change that adds or removes another kernel does not change this kernel's numbers.
  class OwnDraws {
   public:
    OwnDraws(Rank& rank, uint64_t place)
        : rank_(rank),
          others_(std::exchange(rank.random_,
                                Random::FromState(HashNumber(rank.seed_ ^ HashNumber(place))))) {}
    ~OwnDraws() { rank_.random_ = others_; }
    OwnDraws(const OwnDraws&) = delete;
    OwnDraws& operator=(const OwnDraws&) = delete;

   private:
    Rank& rank_;
    Random others_;
  };

  static int64_t Ticks(int64_t ns) { return std::max<int64_t>(1, ns / kTickNs) * kTickNs; }
  // When the work that a kernel needs is done. The shared expert on kSideStream needs what came
  // before it on either stream. The norm or the exchange after the experts needs both streams.
  [[nodiscard]] int64_t FreeFor(const KernelWork& work, bool beside) const {
    const bool joins = beside || work.role == KernelRole::kNorm || IsCollective(work.role);
    const bool exchanges = work.role == KernelRole::kDispatch || work.role == KernelRole::kCombine;
    return joins && !exchanges ? std::max(compute_free_, side_free_) : compute_free_;
  }
  void Add(const KernelWork& work, const KernelInfo& info, int64_t start, int32_t call,
           int32_t slice, int32_t node, bool beside) {
    plan_.device.push_back({DeviceSlice::Kind::kKernel, work.role, info.name,
                            beside ? kSideStream : kComputeStream, start, work.duration_ns, call,
                            slice, node, work.rows, 0, node == 0 ? 0 : graph_, drafting_});
    (beside ? side_free_ : compute_free_) = start + work.duration_ns;
  }

  SimulatedEngine engine_;
  double speed_;
  uint64_t seed_;
  Random random_;
  RankPlan plan_;
  std::vector<int32_t> open_;
  int64_t now_ = 0;
  int64_t compute_free_ = 0, copy_free_ = 0, side_free_ = 0;
  int32_t graph_call_ = 0, graph_node_ = 0;
  int64_t graph_ = 0;
  bool drafting_ = false;
};

// Plans all ranks of one step.
class StepPlanner {
 public:
  StepPlanner(SimulatedEngine engine, const CostModel& cost, const StepLoad& load, uint64_t seed,
              uint64_t step)
      : engine_(engine), load_(load), changes_(cost.changes), graph_(GraphOfStep(cost, load)) {
    const int64_t batch = graph_.value_or(0) == 0
                              ? load.tokens()
                              : cost.graph_sizes[static_cast<size_t>(*graph_ - 1)];
    const uint64_t base = HashNumber(seed) ^ HashNumber(step * 2 + 1);
    const StepNoise noise = NoiseOf(cost.noise, seed, base);
    stall_ns_ = noise.stall_ns;
    for (int rank = 0; rank < cost.tensor_parallel; ++rank) {
      const uint64_t own = base + static_cast<uint64_t>(rank) * 0x1f123bb5U;
      ranks_.emplace_back(engine, cost.speed / noise.host, own);
      kernels_.push_back(KernelsOfStep(
          cost, load, batch, Random::FromState(HashNumber(own ^ 0x5bd1e995U)), noise.kernels));
      SlowExperts(rank, kernels_.back().forward);
    }
  }

  StepPlan Plan() {
    EachRank([&](Rank& rank) { rank.BeLate(stall_ns_); });
    BeLate(ChangeKind::kSchedulerLate);
    for (const Change& change : changes_) {
      if (change.kind == ChangeKind::kLateRank && change.rank < static_cast<int64_t>(ranks_.size()))
        ranks_[static_cast<size_t>(change.rank)].BeLate(change.amount);
    }
    engine_ == SimulatedEngine::kVllm ? BeforeVllm() : BeforeSglang();
    EachRank([](Rank& rank) { rank.Open(HostSlice::Kind::kStep, ""); });
    if (load_.empty()) {
      EachRank([](Rank& rank) { rank.Pass(150'000, 240'000); });
      CloseAll();
    } else {
      BeLate(ChangeKind::kHostLate);
      Execute();
    }
    engine_ == SimulatedEngine::kVllm ? AfterVllm() : AfterSglang();
    StepPlan plan;
    for (Rank& rank : ranks_) {
      plan.ranks.push_back(rank.Finish());
      plan.duration_ns = std::max(plan.duration_ns, plan.ranks.back().end_ns);
    }
    return plan;
  }

 private:
  using List = std::vector<KernelWork> StepKernels::*;

  template <typename Do>
  void EachRank(Do&& what) {
    for (Rank& rank : ranks_) what(rank);
  }
  void BeLate(ChangeKind kind) {
    for (const Change& change : changes_) {
      if (change.kind == kind) EachRank([&](Rank& rank) { rank.BeLate(change.amount); });
    }
  }
  // Adds the time of the change slow-experts to the step's grouped products, in equal parts.
  void SlowExperts(int64_t rank, std::vector<KernelWork>& kernels) const {
    const int64_t count = std::ranges::count_if(
        kernels, [](const KernelWork& work) { return IsGroupedProduct(work.role); });
    for (const Change& change : changes_) {
      if (change.kind != ChangeKind::kSlowExperts || change.rank != rank) continue;
      int64_t rest = change.amount / kTickNs, left = count;
      for (KernelWork& work : kernels) {
        if (!IsGroupedProduct(work.role)) continue;
        const int64_t ticks = rest / left--;
        work.duration_ns += ticks * kTickNs;
        rest -= ticks;
      }
    }
  }
  [[nodiscard]] bool IsSerial() const {
    return std::ranges::any_of(
        changes_, [](const Change& change) { return change.kind == ChangeKind::kSerial; });
  }
  void OpenAll(const char* name) {
    EachRank([&](Rank& rank) { rank.Open(HostSlice::Kind::kScope, name); });
  }
  void CloseAll() {
    EachRank([](Rank& rank) { rank.Close(); });
  }

  // What vLLM's loop does before the step's annotation.
  void BeforeVllm() {
    EachRank([](Rank& rank) { rank.Pass(70'000, 160'000); });
  }
  void BeforeSglang() {
    for (const char* name : {"scheduler.recv_requests", "scheduler.process_input_requests",
                             "scheduler.get_next_batch_to_run"}) {
      OpenAll(name);
      EachRank([](Rank& rank) { rank.Pass(9'000, 40'000); });
      CloseAll();
      EachRank([](Rank& rank) { rank.Pass(2'000, 9'000); });
    }
    OpenAll("scheduler.run_batch");
    EachRank([](Rank& rank) { rank.Pass(20'000, 60'000); });
  }

  void Execute() {
    const bool vllm = engine_ == SimulatedEngine::kVllm;
    if (vllm) OpenAll("gpu_model_runner: preprocess");
    EachRank([&](Rank& rank) {
      rank.Copy("Memcpy HtoD (Pinned -> Device)", kComputeStream,
                16 + 8 * load_.tokens());  // token ids
      rank.Copy("Memcpy HtoD (Pinned -> Device)", kComputeStream,
                1024 * (load_.context.requests + load_.generation.requests));  // block tables
      rank.Memset(4096);
    });
    Run(&StepKernels::prepare);
    if (vllm) {
      CloseAll();
      OpenAll("gpu_model_runner: forward");
    }
    if (graph_) {
      for (size_t i = 0; i < ranks_.size(); ++i)
        ranks_[i].LaunchGraph(kernels_[i].forward.size(), *graph_);
    }
    Run(&StepKernels::forward, graph_.has_value());
    if (vllm) {
      CloseAll();
      OpenAll("gpu_model_runner: postprocess");
    }
    Run(&StepKernels::sample, false);
    if (vllm) CloseAll();
    CloseAll();  // closes the step's annotation
  }

  // Adds the kernels of one part of the step, on all ranks side by side.
  void Run(List part, bool in_graph = false) {
    const size_t count = (kernels_[0].*part).size();
    for (size_t i = 0; i < count; ++i) {
      for (size_t r = 0; r < ranks_.size(); ++r) {
        const KernelWork& work = (kernels_[r].*part)[i];
        const bool beside = IsOfSharedExpert(work.role) && !IsSerial();
        in_graph ? ranks_[r].GraphNode(work, beside) : ranks_[r].Launch(work, beside);
      }
      if (IsCollective((kernels_[0].*part)[i].role)) Join((kernels_[0].*part)[i].duration_ns);
    }
  }

  // Proposes tokens, after the step's annotation.
  void Draft() {
    if (load_.proposed == 0) return;
    const bool vllm = engine_ == SimulatedEngine::kVllm;
    EachRank([&](Rank& rank) {
      rank.SetDrafting(true);
      rank.Open(vllm ? HostSlice::Kind::kScope : HostSlice::Kind::kDraft,
                "gpu_model_runner: draft");
    });
    Run(&StepKernels::draft);
    CloseAll();
    EachRank([](Rank& rank) { rank.SetDrafting(false); });
  }

  // Ends a collective on all ranks: when the last rank has arrived and the data has moved.
  void Join(int64_t duration_ns) {
    int64_t end = 0;
    for (Rank& rank : ranks_) end = std::max(end, rank.last().start_ns + duration_ns);
    for (Rank& rank : ranks_) {
      rank.last().dur_ns = end - rank.last().start_ns;
      rank.set_compute_free(end);
    }
  }

  void ToHost() {
    EachRank([&](Rank& rank) {
      rank.Copy("Memcpy DtoH (Device -> Pinned)", kCopyStream,
                8 * std::max<int64_t>(1, load_.sampled));
      rank.Call("cudaEventRecordWithFlags", 900, 1600);
    });
  }
  void Wait() {
    EachRank([](Rank& rank) {
      rank.Call("cudaEventSynchronize", 1500, 2600, rank.device_free() + rank.Time(1500, 2300));
    });
  }

  void AfterVllm() {
    if (load_.empty()) return;
    EachRank([](Rank& rank) { rank.Pass(40'000, 90'000); });
    OpenAll("gpu_model_runner: sample");
    EachRank([](Rank& rank) { rank.Pass(20'000, 45'000); });
    CloseAll();
    Draft();
    OpenAll("gpu_model_runner: bookkeep");
    ToHost();
    Wait();
    EachRank([](Rank& rank) { rank.Pass(15'000, 40'000); });
    CloseAll();
    OpenAll("gpu_model_runner: ModelRunnerOutput");
    EachRank([](Rank& rank) { rank.Pass(6'000, 12'000); });
    CloseAll();
    EachRank([](Rank& rank) { rank.Pass(20'000, 70'000); });
  }
  void AfterSglang() {
    if (load_.empty()) {
      CloseAll();
      return;
    }
    Draft();
    OpenAll("copy_result_to_cpu");
    ToHost();
    CloseAll();
    CloseAll();  // closes run_batch
    OpenAll("scheduler.process_batch_result");
    Wait();
    EachRank([](Rank& rank) { rank.Pass(20'000, 60'000); });
    CloseAll();
    EachRank([](Rank& rank) { rank.Pass(5'000, 20'000); });
  }

  SimulatedEngine engine_;
  StepLoad load_;
  const std::vector<Change>& changes_;
  std::optional<int64_t> graph_;  // GraphOfStep
  int64_t stall_ns_ = 0;
  std::vector<Rank> ranks_;
  std::vector<StepKernels> kernels_;
};

}  // namespace

std::optional<int64_t> GraphOfStep(const CostModel& cost, const StepLoad& load) {
  const int64_t requests = load.generation.requests;
  const bool eager = std::ranges::any_of(
      cost.changes, [](const Change& change) { return change.kind == ChangeKind::kEager; });
  if (load.empty() || load.context.requests > 0 || eager) return std::nullopt;
  if (cost.graph_sizes.empty())
    return requests <= kMostGraphRequests ? std::optional<int64_t>(0) : std::nullopt;
  const auto size = std::ranges::lower_bound(cost.graph_sizes, requests);
  if (size == cost.graph_sizes.end()) return std::nullopt;
  return size - cost.graph_sizes.begin() + 1;
}

StepPlan PlanStep(SimulatedEngine engine, const CostModel& cost, const StepLoad& load,
                  uint64_t seed, uint64_t step) {
  return StepPlanner(engine, cost, load, seed, step).Plan();
}

}  // namespace tacho::simulate
