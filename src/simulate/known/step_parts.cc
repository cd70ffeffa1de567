#include "simulate/known/step_parts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "simulate/trace/trace_steps.h"

namespace tacho::simulate {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool IsComm(const DeviceSlice& slice) {
  return slice.kind == DeviceSlice::Kind::kKernel && IsCollective(slice.role);
}
bool IsCopy(const DeviceSlice& slice) { return slice.kind == DeviceSlice::Kind::kCopy; }

// The time covered by slices for which `takes` is true. Where they overlap, time counts once.
template <typename Takes>
int64_t BusyNs(const std::vector<DeviceSlice>& device, Takes&& takes) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (const DeviceSlice& slice : device) {
    if (takes(slice)) spans.emplace_back(slice.start_ns, slice.start_ns + slice.dur_ns);
  }
  std::ranges::sort(spans);
  int64_t total = 0, reached = INT64_MIN;
  for (const auto& [start, end] : spans) {
    total += std::max<int64_t>(0, end - std::max(start, reached));
    reached = std::max(reached, end);
  }
  return total;
}

void AddWork(const RankPlan& plan, PhaseParts& parts) {
  std::set<int32_t> calls;
  for (const DeviceSlice& slice : plan.device) {
    calls.insert(slice.call);
    if (slice.kind == DeviceSlice::Kind::kKernel) {
      PhaseParts::Kernel& kernel = parts.kernels[slice.name];
      ++kernel.count;
      kernel.total_ns += slice.dur_ns;
      if (IsComm(slice)) parts.comm_ns += slice.dur_ns;
    } else {
      (IsCopy(slice) ? parts.copy_ns : parts.memset_ns) += slice.dur_ns;
    }
  }
  parts.launches += static_cast<int64_t>(calls.size());
}

void AddTime(const RankPlan& plan, int64_t step_ns, PhaseParts& parts) {
  const int64_t compute =
      BusyNs(plan.device, [](const auto& s) { return !IsComm(s) && !IsCopy(s); });
  const int64_t work = BusyNs(plan.device, [](const auto& s) { return !IsCopy(s); });
  const int64_t busy = BusyNs(plan.device, [](const auto&) { return true; });
  ++parts.steps;
  parts.step_ns += step_ns;
  parts.compute_ns += compute;
  parts.exposed_comm_ns += work - compute;
  parts.exposed_copy_ns += busy - work;
  parts.idle_ns += step_ns - busy;
  parts.overlap_ns -= busy;
  for (const DeviceSlice& slice : plan.device) parts.overlap_ns += slice.dur_ns;
}

// When the step's annotation starts, counted from the start of the plan.
int64_t AnnotationStart(const RankPlan& plan) {
  const auto step = std::ranges::find(plan.host, HostSlice::Kind::kStep, &HostSlice::kind);
  return step == plan.host.end() ? 0 : step->start_ns;
}

constexpr struct {
  const char* name;
  int64_t PhaseParts::*of;
} kParts[] = {{"step_ns", &PhaseParts::step_ns},
              {"compute_ns", &PhaseParts::compute_ns},
              {"exposed_comm_ns", &PhaseParts::exposed_comm_ns},
              {"exposed_copy_ns", &PhaseParts::exposed_copy_ns},
              {"idle_ns", &PhaseParts::idle_ns},
              {"comm_ns", &PhaseParts::comm_ns},
              {"copy_ns", &PhaseParts::copy_ns},
              {"memset_ns", &PhaseParts::memset_ns},
              {"overlap_ns", &PhaseParts::overlap_ns},
              {"launches", &PhaseParts::launches}};

// A row with the sums with and without the changes, and the difference of the means per step.
OrderedJson Row(int64_t with, int64_t with_steps, int64_t without, int64_t without_steps) {
  const auto mean = [](int64_t total, int64_t steps) {
    return static_cast<double>(total) / static_cast<double>(std::max<int64_t>(1, steps));
  };
  OrderedJson row = {{"without", without}, {"with", with}};
  if (with_steps > 0 && without_steps > 0)
    row["difference"] = mean(with, with_steps) - mean(without, without_steps);
  return row;
}

OrderedJson PhaseJson(const PhaseParts& with, const PhaseParts& without) {
  OrderedJson out = {{"steps", {{"without", without.steps}, {"with", with.steps}}}};
  for (const auto& part : kParts) {
    out[part.name] = Row(with.*part.of, with.steps, without.*part.of, without.steps);
  }
  std::set<std::string> names;
  for (const auto* side : {&with, &without}) {
    for (const auto& [name, kernel] : side->kernels) names.insert(name);
  }
  out["kernels"] = OrderedJson::array();
  const auto of = [](const PhaseParts& side, const std::string& name) {
    const auto found = side.kernels.find(name);
    return found == side.kernels.end() ? PhaseParts::Kernel{} : found->second;
  };
  for (const std::string& name : names) {
    const PhaseParts::Kernel a = of(without, name), b = of(with, name);
    out["kernels"].push_back(
        {{"name", name},
         {"count", Row(b.count, with.steps, a.count, without.steps)},
         {"total_ns", Row(b.total_ns, with.steps, a.total_ns, without.steps)}});
  }
  return out;
}

}  // namespace

std::vector<RankParts> PartsOf(const KnownRun& run) {
  std::vector<RankParts> ranks(run.sources.size());
  const Recording& recording = run.recording;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const auto start_of = [&](size_t step) {
      return recording.steps[step].start_ns + AnnotationStart(recording.plans[step].ranks[r]);
    };
    for (size_t i = 0; i + 1 < recording.steps.size(); ++i) {
      PhaseParts& parts = ranks[r].phases[PhaseOf(recording.steps[i].load)];
      const RankPlan& plan = recording.plans[i].ranks[r];
      AddWork(plan, parts);
      AddTime(plan, start_of(i + 1) - start_of(i), parts);
    }
  }
  return ranks;
}

std::string KnownTruth(const KnownRun& run, const KnownRun& without) {
  OrderedJson out = {{"schema", 1},
                     {"engine", NameOf(run.options.engine)},
                     {"ranks", run.options.ranks},
                     {"steps", run.options.steps},
                     {"seed", run.options.seed},
                     {"load_seed", run.options.load_seed}};
  out["changes"] = OrderedJson::array();
  for (const Change& change : run.options.changes) {
    OrderedJson row = {{"change", TextOf(change)}, {"whole_run", ChangesWholeRun(change.kind)}};
    if (change.role != KernelRole::kCount)
      row["kernel"] = KernelOf(run.options.engine, change.role).name;
    out["changes"].push_back(std::move(row));
  }
  const std::vector<RankParts> with = PartsOf(run), base = PartsOf(without);
  out["parts"] = OrderedJson::array();
  for (size_t rank = 0; rank < with.size(); ++rank) {
    std::set<std::string> phases;
    for (const RankParts* side : {&with[rank], &base[rank]}) {
      for (const auto& [phase, parts] : side->phases) phases.insert(phase);
    }
    OrderedJson row = {{"rank", rank}};
    for (const std::string& phase : phases) {
      const auto of = [&](const RankParts& side) {
        const auto found = side.phases.find(phase);
        return found == side.phases.end() ? PhaseParts{} : found->second;
      };
      row["phases"][phase] = PhaseJson(of(with[rank]), of(base[rank]));
    }
    out["parts"].push_back(std::move(row));
  }
  return out.dump(1) + "\n";
}

}  // namespace tacho::simulate
