#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/scope.h"
#include "analysis/steps/step_grammar.h"
#include "base/interval_set.h"
#include "model/track_index.h"

namespace tacho {

struct Step {
  StepLabel label;
  Interval when;
  // Start to start of the next step on the same track; the last has none.
  std::optional<DurationNs> period;
  bool cut = false;  // part of it lies outside of the scope's window
  // The GPU work launched while it lasts, by its thread, or by a thread of its process that has no
  // step of its own (PyTorch's autograd): first start to last end, and its union over all devices
  // of the scope. Absent without any.
  std::optional<DurationNs> device_span = {}, device_busy = {};
  TrackId track{};  // of its annotation
  // A step goes on after its annotation (vLLM samples half a millisecond later): as long as its
  // thread launches GPU work with pauses of 1 ms or less, until the thread's next step. Equal to
  // `when` for training steps, for parts, and if launches are not known.
  Interval lasts = when;
  // Not all its work is known, so it has no times on the device. Either work that it launched is
  // not in the trace, or work that it may have launched has no launch there, or calls were not
  // recorded all the while; or it is the last step and goes on for longer after its annotation than
  // any before, as if more steps without an annotation followed.
  bool lost_work = false;
};

// Engine steps in the order of their start. An annotation inside another one of the same track is
// the same step under a second name (patched builds of SGLang write two forms). A step counts,
// whole, when it touches the scope's window; its period is taken before that, from all steps.
// ProfilerStep#7 is a step under any category: old files have it as an operator.
struct StepTable {
  // "annotated" (also if the header has the version of vLLM, but no step ran); "part" if a range
  // that is only a part stands for each step (rules/steps.rules); "" if the trace has no step
  // annotation.
  std::string method;
  std::vector<Step> steps;
};
StepTable FindSteps(const Trace& trace, const Scope& scope = {});
// The same, with the times on the device. Cost: O(n), and a sort of the work of each step.
StepTable FindSteps(const TrackIndex& index, const LaunchLinks& links, const Scope& scope = {});

inline constexpr uint32_t kNoStep = 0xffffffff;
// By host call: the step that it starts in, as an index, or kNoStep. The step is of its thread, or
// of the thread that counts for it (see Step::device_span). If two steps overlap, the calls in both
// are the later one's.
std::vector<uint32_t> StepsOfCalls(const TrackIndex& index, const std::vector<Step>& found);

// The work of a step on one device.
struct StepWork {
  uint32_t step = 0;  // index into StepTable::steps
  StringId device{};
  Interval when;  // first start to last end of what the step launched there
};
// For all steps that launched GPU work, by (step, device). `steps`: from FindSteps, of the same
// trace. Cost: O(n).
std::vector<StepWork> FindStepWork(const TrackIndex& index, const LaunchLinks& links,
                                   const std::vector<Step>& steps);

// When the engine was in a step: by process, the time that all its steps last (Step::lasts; on a
// CPU engine a step lasts as long as its thread runs operators). No entry where no engine names its
// steps; training steps do not count. Cost: O(n).
std::map<ProcessId, IntervalSet> StepExtents(const TrackIndex& index, const LaunchLinks& links,
                                             bool on_host);

// Finds the step at a time, of steps in the order of their starts. 8 bytes a step.
class StepFinder {
 public:
  explicit StepFinder(const std::vector<Step>& steps);
  // The innermost step that lasts at `t`, as an index; nullopt outside of all. Cost: O(log n),
  // and a look at the steps that began since the last moment without any.
  [[nodiscard]] std::optional<uint32_t> At(TimeNs t) const;

 private:
  const std::vector<Step>* steps_;
  std::vector<TimeNs> ended_;  // by step: when it and all before it are over
};

// Whether a name is like "ProfilerStep#7"; and by StringId, which names of the trace are, empty if
// none is.
bool IsTrainingStep(std::string_view name);
std::vector<bool> TrainingStepNames(const Trace& trace);

}  // namespace tacho
