#include "analysis/steps/step_kernels.h"

#include <algorithm>
#include <cmath>

namespace tacho {

StepProfile::KernelUse StepKernels::Sums::Of(uint32_t kernel, uint64_t steps) const {
  const auto n = static_cast<double>(steps);
  const double mean = static_cast<double>(total.ns) / n;
  const double variance = n < 2 ? 0 : (squares - n * mean * mean) / (n - 1);
  return {kernel,
          calls,
          total,
          {std::llround(std::sqrt(std::max(variance, 0.0)))},
          place / static_cast<double>(calls)};
}

void StepKernels::Add(const DeviceWork& work, const DeviceItems& device,
                      const std::vector<StepProfile::Row>& rows) {
  auto next = device.items.begin();
  std::vector<int64_t> in_step;     // by name: the kernel time in the current step
  std::vector<uint32_t> with_time;  // names with time in the current step
  for (const StepProfile::Row& row : rows) {
    const StepBatch batch = BatchOf(steps_[row.step].label);
    ++steps_of_[batch];
    std::vector<Sums>& sums = sums_[{batch, row.device}];
    while (next != device.items.end() && next->when.start < row.when.start) ++next;
    for (; next != device.items.end() && next->when.start < row.when.end; ++next) {
      if (next->kind != WorkKind::kCompute && next->kind != WorkKind::kCommunication) continue;
      if (next->continued) continue;
      const uint32_t name = names_[next->name];
      if (name >= sums.size()) sums.resize(names_.size());
      if (name >= in_step.size()) in_step.resize(names_.size());
      ++sums[name].calls;
      sums[name].place += static_cast<double>((next->when.start - row.when.start).ns) /
                          static_cast<double>(row.when.length().ns);
      if (in_step[name] == 0) with_time.push_back(name);
      in_step[name] = AddSaturated(in_step[name], work.TimeOf(*next).ns);
    }
    for (const uint32_t name : with_time) {
      const int64_t ns = std::exchange(in_step[name], 0);
      sums[name].total += {ns};
      sums[name].squares += static_cast<double>(ns) * static_cast<double>(ns);
    }
    with_time.clear();
  }
}

std::vector<StepProfile::Batch> StepKernels::Batches(const DeviceWork& work,
                                                     const KernelTable& kernels) const {
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> row_of;
  for (uint32_t row = 0; row < kernels.rows.size(); ++row)
    row_of[{kernels.rows[row].device, kernels.rows[row].name}] = row;
  std::map<StepBatch, StepProfile::Batch> batches;
  for (const auto& [batch, steps] : steps_of_) batches[batch] = {batch, steps, {}};
  for (const auto& [key, of_names] : sums_) {
    for (size_t name = 0; name < of_names.size(); ++name) {
      if (of_names[name].calls == 0) continue;
      const auto row =
          row_of.find({work.devices[key.second].device, trace_.Text(names_.names()[name])});
      if (row == row_of.end()) continue;
      StepProfile::Batch& batch = batches[key.first];
      batch.kernels.push_back(of_names[name].Of(row->second, batch.steps));
    }
  }
  std::vector<StepProfile::Batch> result;
  for (auto& [key, batch] : batches) {
    std::ranges::sort(batch.kernels, {}, &StepProfile::KernelUse::kernel);
    result.push_back(std::move(batch));
  }
  return result;
}

}  // namespace tacho
