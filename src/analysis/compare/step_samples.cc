#include "analysis/compare/step_samples.h"

#include <algorithm>
#include <cmath>

#include "analysis/compare/run_changes.h"

namespace tacho {
namespace {

constexpr double kMostBlocks = 100;

uint32_t BlocksOf(size_t steps) {
  const double blocks = std::round(std::pow(static_cast<double>(steps), 2.0 / 3.0));
  return static_cast<uint32_t>(std::clamp(blocks, 1.0, kMostBlocks));
}

uint32_t NumberOf(const std::string& part, const PartNumbers& parts) {
  const auto own = parts.find(part);
  return own == parts.end() ? parts.at(kAllIdle) : own->second;
}

// One list for each trace and device: its rows of one phase, in time order.
std::vector<std::vector<std::pair<const TraceAnalysis*, const StepProfile::Row*>>> RanksRows(
    const RunRanks& run, Phase phase) {
  std::vector<std::vector<std::pair<const TraceAnalysis*, const StepProfile::Row*>>> ranks;
  for (const TraceAnalysis* trace : run) {
    std::map<uint32_t, size_t> of_device;
    for (const StepProfile::Row& row : trace->step_profile.rows) {
      if (trace->steps.steps[row.step].label.phase != phase) continue;
      const auto [place, is_new] = of_device.try_emplace(row.device, ranks.size());
      if (is_new) ranks.emplace_back();
      ranks[place->second].emplace_back(trace, &row);
    }
  }
  return ranks;
}

}  // namespace

PartNumbers NumberParts(const SideRanks& base, const SideRanks& now, bool idle_causes) {
  PartNumbers parts;
  for (const SideRanks* side : {&base, &now}) {
    for (const RunRanks& run : *side) {
      for (const TraceAnalysis* trace : run) {
        for (const std::string& part : trace->step_profile.parts)
          parts.emplace(!idle_causes && IsIdlePart(part) ? kAllIdle : part, 0);
      }
    }
  }
  uint32_t number = 0;
  for (auto& [name, of_name] : parts) of_name = number++;
  return parts;
}

SideSamples SamplesOf(const SideRanks& runs, Phase phase, const PartNumbers& parts) {
  SideSamples side;
  for (const RunRanks& run : runs) {
    const auto ranks = RanksRows(run, phase);
    size_t longest = 0;
    for (const auto& rows : ranks) longest = std::max(longest, rows.size());
    const uint32_t first = side.blocks(), blocks = longest == 0 ? 0 : BlocksOf(longest);
    for (const auto& rows : ranks) {
      std::vector<uint32_t> numbers;  // by part of this trace: its number in `parts`
      for (const std::string& part : rows.front().first->step_profile.parts)
        numbers.push_back(NumberOf(part, parts));
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto& [trace, row] = rows[i];
        const StepLabel& label = trace->steps.steps[row->step].label;
        StepSample& sample = side.samples.emplace_back();
        sample.block = first + static_cast<uint32_t>(i * blocks / rows.size());
        sample.batch = BatchOf(label);
        sample.size = static_cast<double>(BatchSize(label).value_or(0));
        sample.ns.resize(parts.size() + 1);
        for (size_t part = 0; part < row->ns.size(); ++part)
          sample.ns[numbers[part]] += static_cast<double>(row->ns[part].ns);
        sample.ns.back() = static_cast<double>(row->when.length().ns);
      }
    }
    side.first_block.push_back(first + blocks);
  }
  return side;
}

}  // namespace tacho
