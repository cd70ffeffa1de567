#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/change.h"
#include "analysis/compare/collective_changes.h"
#include "analysis/compare/compared_ranks.h"
#include "analysis/compare/side_evidence.h"
#include "analysis/steps/step_batch.h"
#include "base/time.h"

namespace tacho {

// What changed from one run to another: the result of CompareRuns.

// A phase is compared if each side has at least this many steps in the groups of batches that both
// sides have.
inline constexpr uint64_t kFewestSteps = 8;
// The p99 of a phase needs this many steps on each side.
inline constexpr uint64_t kFewestForP99 = 200;

struct NamedChange {
  std::string name;
  Change change;
};

// One kernel, by its name in the traces. The figures of a phase are averages over the devices that
// run it.
struct KernelChange {
  enum class Kind : uint8_t { kSame, kSlower, kFaster, kMoreCalls, kFewerCalls, kGone, kNew };
  std::string name, category;
  Kind kind = Kind::kSame;               // other than kSame: beyond noise
  Change time;                           // in one step
  double base_calls = 0, now_calls = 0;  // in one step
  double base_place = 0, now_place = 0;  // where in the step: 0 is its start, 1 its end
  // How much the calls in a step change if each recording has one more or one less of the steps
  // that run it; 0 for kernels that run in every step.
  double calls_half_width = 0;
};
std::string_view KernelChangeName(KernelChange::Kind kind);  // "slower", "more-calls", ...

// A kernel that is gone and a new one that may be the same under another name.
struct RenamedKernel {
  std::string before, after, reason;
};

// Steps of one group of batches.
struct BatchChange {
  StepBatch batch;
  std::array<uint64_t, 2> steps{};
  Change time;  // mean; without bounds
};

// The changes in the steps of one phase. Times are means per step. All but `mean`, `p50` and `p99`
// are at equal batch.
struct PhaseChange {
  Phase phase = Phase::kOther;
  std::string cannot_tell;  // why the phase cannot be compared; then only `steps` is set
  // By side, counted for each rank and device: steps of the phase, and those in groups of batches
  // that both sides have.
  std::array<uint64_t, 2> steps{}, shared_steps{};
  Change step, mean, mix;  // mean = step + mix, as differences
  // The bounds include how much one run differs from the next. With one run a side they cannot.
  bool bounds_hold_runs = false;
  std::optional<Change> p50, p99;
  std::vector<NamedChange> parts;    // their differences add up to the one of `step`; largest first
  std::vector<BatchChange> batches;  // those that both sides have
  std::vector<KernelChange> kernels;  // largest difference first
  std::vector<RenamedKernel> renamed;
};

// A whole recording, compared in place of its steps if it names none: averages over devices. There
// is one measurement, so nothing has bounds.
struct WholeChange {
  Change window, kernels;          // kernels: sum of durations
  std::vector<NamedChange> parts;  // add up to the window
  std::vector<KernelChange> rows;  // times and calls of the whole recording
};

// What is known of one side.
struct SideFacts {
  std::vector<std::string> names;  // of its runs, as the user typed them; empty: not known
  std::vector<std::string> paths;  // of its traces
  std::vector<Interval> spans;     // of its traces, or the windows that were read of them
  uint64_t runs = 0, ranks = 0, devices = 0;  // ranks, and devices with work: those of one run
  std::string engine, version, gpus, phases;
  std::string options;           // profiler options; "none"; "" if no trace reports them
  bool has_device_work = false;  // some trace has a device, or a thread that stands for one
  bool on_host = false;          // a CPU engine
  // Of the ranks whose figures are compared. `lost_data`: some trace is cut off or damaged.
  // `has_holes`: some trace is damaged so that even recorded steps may lack work.
  bool lost_data = false, has_holes = false;
  bool has_overflows = false;  // NoteId::kLongOverlap
  SideEvidence evidence;
  // Prompt tokens that a request reads in a step, averaged over the steps that report both.
  std::optional<double> prompt_tokens;
  // Results files of an older tacho, which do not hold the parts of steps.
  std::vector<std::string> results_without_parts;
};

inline constexpr const char* kNothingCommon = "nothing-common";
// Why a comparison would be false, or what a reader should know.
struct Obstacle {
  std::string id, text;
};

struct RunChanges {
  SideFacts base, now;
  // One trace for each run that shares a recording with a run of the other side: "PATH", or "a part
  // of PATH". Empty if the two sides are the same runs.
  std::vector<std::string> on_both_sides;
  std::vector<UnequalRank> unequal;  // ranks that are left out, or whose figures count less
  bool other_ranks = false;          // ComparedRanks::none_common
  std::vector<Obstacle> obstacles;   // why the sides are not comparable
  std::vector<std::string> remarks;  // other differences of the two sides
  std::vector<PhaseChange> phases;
  std::optional<WholeChange> whole;  // set if no side names steps
  // Covers all ranks, so it is absent if one is left out; also absent if it is not known.
  std::optional<CollectiveChange> collectives;
  std::vector<NamedChange> launches;   // figures of one step, without bounds
  std::vector<NamedChange> operators;  // self time on the host in one step, without bounds
  std::vector<NamedChange> load;       // named as in metrics.h; only the figures that runs have
  std::string why_no_load;             // if `load` is empty
  // Load figures that some runs lack: by name, which runs.
  std::map<std::string, std::string> load_lacks;

  // Some phase, or the whole, was compared.
  [[nodiscard]] bool AnythingCompared() const;
  // One of the obstacles is that nothing could be compared.
  [[nodiscard]] bool NothingCommon() const;
  // "new is incomplete, so its sums are lower bounds"; "" if no trace is cut off or damaged. If
  // only GPU work is lost: how much, and what the figures cover.
  [[nodiscard]] std::string WhyIncomplete() const;
  // "new is damaged, so its steps may lack work"; "" if no trace is damaged.
  [[nodiscard]] std::string WhyDamaged() const;
  // "1 of 4 ranks of new has no times of GPU work"; "" if this holds for no rank, or for all.
  [[nodiscard]] std::string WhyUntimed() const;
  // A trace is cut off or damaged by more than the loss of GPU work.
  [[nodiscard]] bool IsCut() const;
  // "the new run lost GPU work of 400 of 929 calls"; "" if no side lost any.
  [[nodiscard]] std::string WhyLost() const { return LossText(base.evidence, now.evidence); }
  // Why idle time is a single part, not split by cause; "" if it is split.
  [[nodiscard]] std::string WhyNoIdleCauses() const {
    return WhyNoCauses(base.evidence, now.evidence);
  }
  // Whether both sides know when their devices were idle.
  [[nodiscard]] bool KnowsIdleTime() const {
    return base.evidence.idle_known && now.evidence.idle_known;
  }
  // Keeps only what the two sides are, and why they cannot be compared.
  void DropFigures();
};

// kAllIdle: idle time of all causes, where a side does not know them. kNotCompute: all time in
// which nothing computes, where a side does not know what was idle.
inline constexpr const char* kAllIdle = "idle";
inline constexpr const char* kNotCompute = "not compute";
bool IsIdlePart(std::string_view part);  // "idle", "idle.host-late"
inline constexpr const char* kBatchMix = "batch mix";
// The bars from base's mean step to now's: differences in whole ns that add up exactly to the
// difference of the two rounded means. kBatchMix, unless it is 0, is last.
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
