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
  // From the start of this step to the start of the next one on the same track; the last has none.
  std::optional<DurationNs> period;
  bool cut = false;  // part of it lies outside of the scope's window
  // Part of the GPU work that it launched lies outside of the scope's window. Not in results.
  bool work_cut = false;
  bool verifies = false;  // as in ParsedStep
  // Times of the GPU work that was launched during the step by its thread, or by a thread of its
  // process that has no steps of its own (PyTorch's autograd). `device_span`: from the first start
  // to the last end of this work. `device_busy`: how long it ran, as a union over all devices of
  // the scope. Absent without such work.
  std::optional<DurationNs> device_span = {}, device_busy = {};
  TrackId track{};  // the track of its annotation
  // The step and what follows its annotation (vLLM samples half a millisecond later). The step goes
  // on as long as its thread launches GPU work with pauses of at most 1 ms, but not beyond the
  // start of the thread's next step. Equal to `when` for training steps, for annotations that cover
  // only a part of a step, and if launches are not known.
  Interval lasts = when;
  // Part of its work is unknown, so it has no device times. Possible reasons: work that it launched
  // is not in the trace; work that it may have launched has no launch call in the trace; calls were
  // not recorded all the time; or it is the last step and goes on after its annotation much longer
  // than any step before it, so annotations of further steps seem to be missing.
  bool lost_work = false;
};

// Engine steps, sorted by start. An annotation inside another one on the same track is a second
// name of the same step (patched builds of SGLang write two forms). A step that overlaps the
// scope's window counts whole; periods are computed from all steps of the trace. ProfilerStep#7 is
// a step whatever its category: old files have it as an operator.
struct StepTable {
  // How steps were found. "annotated": each step has an annotation. "part": an annotation of a part
  // of each step stands for the step (rules/steps.rules). "": the trace has no step annotations. If
  // the header has vLLM's version, the value is "annotated" even without annotations: no step ran
  // then.
  std::string method;
  std::vector<Step> steps;
};
StepTable FindSteps(const Trace& trace, const Scope& scope = {});
// The same, with device times. Cost: O(n), plus sorting the work of a step if needed.
StepTable FindSteps(const TrackIndex& index, const LaunchLinks& links, const Scope& scope = {});

inline constexpr uint32_t kNoStep = 0xffffffff;
// For each host call: the index of the step in which it starts, or kNoStep. Only steps of the
// call's own thread count or, if that has none, of the thread whose steps count for it (see
// Step::device_span). If two steps overlap, calls inside both belong to the later one.
std::vector<uint32_t> StepsOfCalls(const TrackIndex& index, const std::vector<Step>& found);

// The work of a step on one device.
struct StepWork {
  uint32_t step = 0;  // index into StepTable::steps
  StringId device{};
  Interval when;  // from the first start to the last end of the step's work there
};
// All steps that launched GPU work, sorted by (step, device). `steps`: from FindSteps for the same
// trace. Cost: O(n).
std::vector<StepWork> FindStepWork(const TrackIndex& index, const LaunchLinks& links,
                                   const std::vector<Step>& steps);

// When each process was in an engine step: the union of Step::lasts over all its steps. On a CPU
// engine a step goes on as long as its thread runs operators. Training steps do not count. A
// process whose engine does not annotate its steps has no entry. Cost: O(n).
std::map<ProcessId, IntervalSet> StepExtents(const TrackIndex& index, const LaunchLinks& links,
                                             bool on_host);

// Finds the step that runs at a given time, among steps sorted by start. 8 bytes a step.
class StepFinder {
 public:
  explicit StepFinder(const std::vector<Step>& steps);
  // The index of the innermost step that runs at `t`; nullopt outside of all steps. Cost: O(log n),
  // plus a look at each step that began since the last moment without a step.
  [[nodiscard]] std::optional<uint32_t> At(TimeNs t) const;

 private:
  const std::vector<Step>* steps_;
  std::vector<TimeNs> ended_;  // by step: when this step and all before it have ended
};

// IsTrainingStep: whether a name has the form "ProfilerStep#7". TrainingStepNames: by StringId,
// which names of the trace have it; empty if none has.
bool IsTrainingStep(std::string_view name);
std::vector<bool> TrainingStepNames(const Trace& trace);

}  // namespace tacho
