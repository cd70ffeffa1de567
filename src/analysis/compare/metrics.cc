#include "analysis/compare/metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/device/device_work.h"
#include "analysis/device/idle_table.h"

namespace tacho {
namespace {

constexpr size_t kKernelKinds = 7;
constexpr std::array<std::pair<const char*, Change BlocksChange::*>, 4> kFiguresOfBlocks = {
    {{"step.span", &BlocksChange::span},
     {"step.gaps", &BlocksChange::gap},
     {"step.overlap", &BlocksChange::overlap},
     {"step.work", &BlocksChange::work}}};

// The groups that contain a part: for "gemm.dense.fp8", "gemm.dense" and "gemm".
std::vector<std::string> GroupsOf(const std::string& part) {
  std::vector<std::string> groups;
  for (size_t dot = part.rfind('.'); dot != std::string::npos && dot > 0;
       dot = part.rfind('.', dot - 1))
    groups.push_back(part.substr(0, dot));
  return groups;
}

void AddParts(const std::string& prefix, const std::vector<NamedChange>& parts,
              std::vector<MetricChange>& metrics) {
  std::map<std::string, Change> by_name;
  const auto add = [&](const std::string& name, const Change& change) {
    const auto [place, is_new] = by_name.try_emplace(name, change);
    if (is_new) return;
    Change& sum = place->second;
    sum.base += change.base;
    sum.now += change.now;
    if (sum.half_width && change.half_width) *sum.half_width += *change.half_width;
  };
  for (const NamedChange& part : parts) {
    add(part.name, part.change);
    for (const std::string& group : GroupsOf(part.name)) add(group, part.change);
  }
  for (const auto& [name, change] : by_name) metrics.push_back({prefix + name, change});
}

// Adds the numbers of kernels that changed. If the kernels have no `bounds`, only gone and new ones
// are known to differ.
void AddKernels(const std::string& prefix, const std::vector<KernelChange>& kernels, bool bounds,
                std::vector<MetricChange>& metrics) {
  std::array<double, kKernelKinds> counts{};
  for (const KernelChange& kernel : kernels) ++counts[static_cast<size_t>(kernel.kind)];
  for (size_t i = 1; i < kKernelKinds; ++i) {
    const auto kind = static_cast<KernelChange::Kind>(i);
    if (!bounds && kind != KernelChange::Kind::kGone && kind != KernelChange::Kind::kNew) continue;
    metrics.push_back({prefix + "kernels." + std::string(KernelChangeName(kind)),
                       Change{0, counts[i], 0.0}, true});
  }
}

void AddBlocks(const std::string& prefix, const BlocksChange& blocks,
               std::vector<MetricChange>& metrics) {
  if (!blocks.compared()) return;
  for (const auto& [name, figure] : kFiguresOfBlocks)
    metrics.push_back({prefix + name, blocks.*figure});
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    const auto block = static_cast<LayerBlock>(i);
    const auto found = std::ranges::find(blocks.blocks, block, &BlockChange::block);
    if (found != blocks.blocks.end())
      metrics.push_back({prefix + "block." + std::string(LayerBlockId(block)), found->device});
  }
}

}  // namespace

std::vector<MetricChange> MetricsOf(const RunChanges& changes) {
  std::vector<MetricChange> metrics;
  for (const PhaseChange& phase : changes.phases) {
    if (!phase.cannot_tell.empty()) continue;
    const std::string prefix = std::string(PhaseName(phase.phase)) + ".";
    metrics.push_back({prefix + "step", phase.step});
    if (phase.p50) metrics.push_back({prefix + "step.p50", *phase.p50});
    if (phase.p99) metrics.push_back({prefix + "step.p99", *phase.p99});
    metrics.push_back({prefix + "mean", phase.mean});
    metrics.push_back({prefix + "mix", phase.mix});
    AddParts(prefix, phase.parts, metrics);
    if (!changes.across) AddKernels(prefix, phase.kernels, true, metrics);
    AddBlocks(prefix, phase.blocks, metrics);
  }
  if (changes.whole) {
    metrics.push_back({"whole.window", changes.whole->window});
    metrics.push_back({"whole.kernel-time", changes.whole->kernels});
    AddParts("whole.", changes.whole->parts, metrics);
    AddKernels("whole.", changes.whole->rows, false, metrics);
  }
  for (const NamedChange& load : changes.load)
    metrics.push_back({"load." + load.name, load.change});
  return metrics;
}

std::vector<std::string> MetricNames(const std::vector<std::string>& categories) {
  std::set<std::string> names = {"step",   "step.p50",    "step.p99", "mean", "mix",
                                 "window", "kernel-time", "compute",  "comm"};
  const auto add = [&](const std::string& part) {
    names.insert(part);
    for (std::string& group : GroupsOf(part)) names.insert(std::move(group));
  };
  for (const std::string& category : categories) add(category);
  for (const WorkKind kind : {WorkKind::kCopy, WorkKind::kMemset})
    add(std::string(WorkKindName(kind)));
  for (uint32_t cause = 0; cause < static_cast<uint32_t>(IdleCause::kCount); ++cause)
    add("idle." + std::string(IdleCauseId(static_cast<IdleCause>(cause))));
  for (const auto& [name, figure] : kFiguresOfBlocks) names.insert(name);
  for (size_t i = 0; i < kLayerBlocks; ++i)
    names.insert("block." + std::string(LayerBlockId(static_cast<LayerBlock>(i))));
  for (size_t kind = 1; kind < kKernelKinds; ++kind)
    names.insert("kernels." + std::string(KernelChangeName(static_cast<KernelChange::Kind>(kind))));
  return {names.begin(), names.end()};
}

std::vector<std::string> LoadMetricNames() {
  return {"load.ttft.p50",   "load.ttft.p99", "load.tpot.p50", "load.tpot.p99",
          "load.throughput", "load.requests", "load.failed"};
}

bool IsLoadMetric(std::string_view metric) { return metric.starts_with("load."); }
bool IsLoadTime(std::string_view metric) {
  return metric.starts_with("load.ttft.") || metric.starts_with("load.tpot.");
}
bool IsLoadCount(std::string_view metric) { return metric == "load.failed"; }

}  // namespace tacho
