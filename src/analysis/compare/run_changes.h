#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/block_change.h"
#include "analysis/compare/change.h"
#include "analysis/compare/collective_changes.h"
#include "analysis/compare/compared_ranks.h"
#include "analysis/compare/side_evidence.h"
#include "analysis/steps/step_batch.h"
#include "base/time.h"

namespace tacho {

// What changed between the two sides of a comparison: the result of CompareRuns.

// A phase is compared if each side has at least this many steps in the groups of batches that both
// sides have.
inline constexpr uint64_t kFewestSteps = 8;
// The p99 of a phase needs this many steps on each side.
inline constexpr uint64_t kFewestForP99 = 200;

struct NamedChange {
  std::string name;
  Change change;
};

// How one kernel changed. In a phase, figures are averages over the devices that run the kernel.
struct KernelChange {
  enum class Kind : uint8_t { kSame, kSlower, kFaster, kMoreCalls, kFewerCalls, kGone, kNew };
  std::string name, category;
  Kind kind = Kind::kSame;               // kSame unless the change is beyond noise
  Change time;                           // per step
  double base_calls = 0, now_calls = 0;  // per step
  double base_place = 0, now_place = 0;  // where it runs: 0 is the start of the step, 1 its end
  // How much the calls per step change if each recording has one more or one less of the steps that
  // run the kernel; 0 if it runs in all steps.
  double calls_half_width = 0;
};
std::string_view KernelChangeName(KernelChange::Kind kind);  // "slower", "more-calls", ...

// A kernel that is gone and a new one that may be the same under another name.
struct RenamedKernel {
  std::string before, after, reason;
};

// The steps of one group of batches.
struct BatchChange {
  StepBatch batch;
  std::array<uint64_t, 2> steps{};  // number of steps, by side
  Change time;                      // mean time of a step; without bounds
};

// The changes in the steps of one phase. Times are means per step. They are compared at equal batch
// (step_differences.h), except `mean`, `p50` and `p99`, which are of all steps.
struct PhaseChange {
  Phase phase = Phase::kOther;
  std::string cannot_tell;  // why the phase cannot be compared; then only `steps` is set
  // By side: the steps of the phase, and those in groups of batches that both sides have. A step
  // counts once for each rank and device.
  std::array<uint64_t, 2> steps{}, shared_steps{};
  Change step, mean, mix;  // the difference of `mean` is that of `step` plus that of `mix`
  // Whether the bounds include how much one run differs from the next. False with one run on each
  // side, which cannot show it.
  bool bounds_hold_runs = false;
  std::optional<Change> p50, p99;
  // Sorted by difference, largest first. The differences add up to that of `step`.
  std::vector<NamedChange> parts;
  std::vector<BatchChange> batches;   // only groups that both sides have
  std::vector<KernelChange> kernels;  // sorted by difference, largest first
  std::vector<RenamedKernel> renamed;
  BlocksChange blocks;
};

// The changes of whole recordings, which are compared if no side names steps. Figures are averages
// over devices. They have no bounds, because there is only one measurement.
struct WholeChange {
  Change window, kernels;          // `kernels`: the sum of the kernels' durations
  std::vector<NamedChange> parts;  // they add up to the window
  std::vector<KernelChange> rows;  // times and calls of the whole recording
};

// What is known of one side.
struct SideFacts {
  std::vector<std::string> names;  // of its runs, as the user typed them; empty: not known
  std::vector<std::string> paths;  // of its traces
  std::vector<Interval> spans;     // by trace: the window that was read, or all of the trace
  // Number of runs, and the numbers of ranks and of devices with work in one run.
  uint64_t runs = 0, ranks = 0, devices = 0;
  std::string engine, version, gpus, phases;
  std::string options;           // profiler options; "none"; "" if no trace reports them
  bool has_device_work = false;  // some trace has a device, or a thread that stands for one
  bool on_host = false;          // a CPU engine
  bool speculates = false;       // some steps verify proposed tokens
  // These cover the ranks whose figures are compared. `lost_data`: some trace is cut off or
  // damaged. `has_holes`: some trace is damaged so that even recorded steps may lack work.
  bool lost_data = false, has_holes = false;
  bool has_overflows = false;  // NoteId::kLongOverlap
  SideEvidence evidence;
  // How many prompt tokens a request reads in a step, averaged over the steps that report it.
  std::optional<double> prompt_tokens;
  // Paths of results files that an older tacho wrote without the parts of steps.
  std::vector<std::string> results_without_parts;
};

inline constexpr const char* kNothingCommon = "nothing-common";
// A reason for which the comparison would be wrong. `id` is for programs, `text` for the user.
struct Obstacle {
  std::string id, text;
};

// Something that is not compared across engines and GPUs.
struct LeftOut {
  std::string what, why;
};

struct RunChanges {
  SideFacts base, now;
  // The sides may have other engines, GPUs, numbers of ranks and recording options. Then what has
  // no meaning on both sides is in `left_out`, and has no figures.
  bool across = false;
  std::vector<LeftOut> left_out;
  // For each run of new that shares a recording with a run of base: the path of one such trace, or
  // "a part of PATH". Empty if the two sides are the same runs.
  std::vector<std::string> on_both_sides;
  std::vector<UnequalRank> unequal;  // ranks that are left out, or whose figures count less
  bool other_ranks = false;          // the sides have no compared rank in common
  std::vector<Obstacle> obstacles;   // why the sides are not comparable
  std::vector<std::string> remarks;  // other differences of the two sides
  std::vector<PhaseChange> phases;
  std::optional<WholeChange> whole;  // set if no side names steps
  // It covers all ranks, so it is absent if a rank is left out. Also absent if CompareCollectives
  // returns none.
  std::optional<CollectiveChange> collectives;
  std::vector<NamedChange> launches;   // numbers per step, without bounds
  std::vector<NamedChange> operators;  // self time on the host per step, without bounds
  std::vector<NamedChange> load;       // named as in metrics.h; only figures that all runs have
  std::string why_no_load;             // why `load` is empty
  // By name of a load figure that some runs lack: why it is not compared.
  std::map<std::string, std::string> load_lacks;

  // Whether some phase, or the whole recording, was compared.
  [[nodiscard]] bool AnythingCompared() const;
  // Whether kNothingCommon is among the obstacles: nothing could be compared.
  [[nodiscard]] bool NothingCommon() const;
  // Such as "new is incomplete, so its sums are lower bounds"; "" if nothing is lost. If only GPU
  // work is lost, says how much and what the figures cover.
  [[nodiscard]] std::string WhyIncomplete() const;
  // Such as "new is damaged, so its steps may lack work"; "" if no trace is damaged.
  [[nodiscard]] std::string WhyDamaged() const;
  // Such as "1 of 4 ranks of new has no times of GPU work"; "" if this holds for no rank or for
  // all.
  [[nodiscard]] std::string WhyUntimed() const;
  // Whether a trace is cut off or damaged, by more than the loss of GPU work.
  [[nodiscard]] bool IsCut() const;
  // Such as "the new run lost GPU work of 400 of 929 calls"; "" if no side lost any.
  [[nodiscard]] std::string WhyLost() const { return LossText(base.evidence, now.evidence); }
  // Why idle time is not split by cause; "" if it is.
  [[nodiscard]] std::string WhyNoIdleCauses() const {
    return WhyNoCauses(base.evidence, now.evidence);
  }
  // Whether both sides know when their devices were idle.
  [[nodiscard]] bool KnowsIdleTime() const {
    return base.evidence.idle_known && now.evidence.idle_known;
  }
  // Drops all figures, and keeps what describes the two sides and why they cannot be compared.
  void DropFigures();
  // Drops the figures that other engines or GPUs do not have in common, and fills `left_out`.
  void LeaveOut();
};

// Names of parts. kAllIdle: idle time of all causes, used if a side does not know the causes.
// kNotCompute: all time without compute, used if a side does not know when its devices were idle.
inline constexpr const char* kAllIdle = "idle";
inline constexpr const char* kNotCompute = "not compute";
bool IsIdlePart(std::string_view part);  // "idle", "idle.host-late"
inline constexpr const char* kBatchMix = "batch mix";
// The bars of a chart that leads from base's mean step to that of new: differences in whole ns that
// add up exactly to the difference of the two rounded means. The last bar is kBatchMix, unless its
// difference is below 1 ns.
struct Waterfall {
  struct Bar {
    std::string name;
    int64_t ns = 0;
    bool beyond_noise = false;
  };
  int64_t base = 0, now = 0;
  std::vector<Bar> bars;
};
Waterfall WaterfallOf(const PhaseChange& phase);
Waterfall WaterfallOf(const WholeChange& whole);

}  // namespace tacho
