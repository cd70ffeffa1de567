#include "analysis/steps/step_times.h"

#include <map>

#include "analysis/device/kernels.h"

namespace tacho {

std::vector<Interval> StepTimes(const std::vector<Step>& steps) {
  std::map<Phase, std::vector<int64_t>> periods;
  for (const Step& step : steps) {
    if (step.period) periods[step.label.phase].push_back(step.period->ns);
  }
  std::map<Phase, int64_t> most;
  for (auto& [phase, of_phase] : periods) most[phase] = kPause * Summarize(of_phase).p50.ns;
  std::vector<Interval> times;
  for (const Step& step : steps) {
    const bool until_next = step.period && step.period->ns <= most[step.label.phase];
    times.push_back(until_next ? Interval{step.when.start, step.when.start + *step.period}
                               : step.when);
  }
  return times;
}

}  // namespace tacho
