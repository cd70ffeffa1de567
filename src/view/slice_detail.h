#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/place.h"

namespace tacho {

// The kinds of slices; DrawnKindName gives the API's names.
enum class DrawnKind : uint8_t {
  kKernel,
  kCopy,
  kMemset,
  kAnnotation,
  kOperator,
  kCall,
  kPython,
  kOther,
  kStep,
  kBusy,
  kIdle,
  kCommunication,
  kLayer,
  kBlock,
  kMark,  // a range or an instant
};
std::string_view DrawnKindName(DrawnKind kind);

// The kind of a slice that `row` shows.
DrawnKind KindOfSlice(const ViewedRank& rank, const TimelineRow& row, SliceRef slice);

// CategoryInFile: the slice's category in the file ("cpu_op"); "" for slices that come from
// analyses. ArgumentsOfSlice: its arguments, with ids.
std::string_view CategoryInFile(const ViewedRank& rank, SliceRef slice);
ArgsOf ArgumentsOfSlice(const ViewedRank& rank, SliceRef slice);

struct SliceArgument {
  std::string key, value;  // `value`: a string without its quotes; other types as JSON text
  bool cut = false;        // the value is longer than SliceDetail::kMostValue
};

// All that is known about one slice. Times are on the run's clock.
struct SliceDetail {
  static constexpr size_t kMostArguments = 200, kMostValue = 4096, kMostLaunched = 200,
                          kMostStack = 1000;
  // Self time is not computed for a slice that has more slices inside it.
  static constexpr size_t kMostInside = 2'000'000;

  PlacedSlice slice;
  DrawnKind kind = DrawnKind::kOther;
  // For a kernel, the classifier's category ("moe.gemm"); else the category in the file ("cpu_op");
  // "" for slices that come from analyses.
  std::string category = {};
  std::string_view name = {};  // the whole name, as in the file
  // For GPU work: the result of GraphAnnotationOf, at most kMostValue bytes.
  std::string annotation = {};
  // For a slice of a thread: its time without the slices inside it.
  std::optional<DurationNs> self = {};
  std::vector<SliceArgument> arguments = {};
  bool arguments_cut = false;
  // For a slice of a thread: the slices around it, outermost first. Only the innermost kMostStack
  // of them.
  std::vector<PlacedSlice> stack = {};
  struct Launch {
    PlacedSlice call;
    // From the end of the call to the start of the work, at least 0; absent without a common clock.
    std::optional<DurationNs> delay;
  };
  // For device work: its launch. Absent if the launch is not in the trace or is ambiguous, or if
  // the file mixes several ranks.
  std::optional<Launch> launch = {};
  // For a call that launched device work: the earliest kMostLaunched pieces of that work.
  std::vector<PlacedSlice> launched = {};
  size_t launched_count = 0;  // how many pieces it launched in all
  struct OfStep {
    size_t number = 0;  // counted from 1 in the step's rank
    Phase phase = Phase::kOther;
    PlacedSlice slice;
  };
  // The step in which a host slice starts, in which device work was launched, or that a layer or a
  // block belongs to. Absent in a merged
  // trace, because each rank there has its own steps.
  std::optional<OfStep> step = {};
  // The block that a piece of device work, or an operator of a CPU engine, belongs to.
  struct InBlock {
    std::optional<uint32_t> layer = {};  // absent outside of layers
    PlacedSlice slice;
  };
  std::optional<InBlock> block = {};
  // Of a layer or a block: its work in its step, beside the mean of the steps. A block that occurs
  // twice in a layer counts with all its slices.
  struct OfLayers {
    std::optional<uint32_t> layer = {};    // absent outside of layers
    std::string_view kind = {};            // of the layer
    std::optional<LayerBlock> block = {};  // absent for a whole layer
    uint64_t count = 0;                    // pieces of work
    DurationNs device, gap;                // their time; the gaps before them
    Phase phase = Phase::kOther;
    uint64_t steps = 0;                // steps of the phase with as many layers, on all devices
    DurationNs mean_device, mean_gap;  // over these steps
  };
  std::optional<OfLayers> layers = {};
};
// nullopt if there is no such place. Cost: O(l log n) for a row with l lanes, O(k log k) for k
// slices inside the slice, and, for a call that launched work, one pass over all device work.
std::optional<SliceDetail> DetailOf(const ReadRanks& ranks, SlicePlace at);

// A collective, as one of its kernels (its "parts") sees it.
struct CollectiveDetail {
  static constexpr size_t kMostPlaces = 64;

  size_t ranks = 0;   // how many ranks have a part in it, with this one
  uint32_t last = 0;  // the rank that starts last
  // From this part's start to the start of the last part, corrected by the remaining clock errors
  // of the ranks.
  DurationNs wait;
  std::vector<PlacedSlice> at = {};  // the parts of other ranks, by rank
};
// The collective that a slice belongs to; nullopt if it belongs to no known collective.
std::optional<CollectiveDetail> CollectiveOf(const ReadRanks& ranks,
                                             const MatchedCollectives& collectives, SlicePlace at);

}  // namespace tacho
