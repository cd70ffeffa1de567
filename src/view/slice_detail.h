#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/place.h"

namespace tacho {

// As the API writes them.
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
  kMark,  // a range or an instant
};
std::string_view DrawnKindName(DrawnKind kind);

// What a slice of a lane is.
DrawnKind KindOfSlice(const ViewedRank& rank, const TimelineRow& row, SliceRef slice);

// Its category as the file has it ("cpu_op"); "" of what analyses found. And its arguments.
std::string_view CategoryInFile(const ViewedRank& rank, SliceRef slice);
ArgsOf ArgumentsOfSlice(const ViewedRank& rank, SliceRef slice);

struct SliceArgument {
  std::string key, value;  // a text without its quotes, all else as its JSON
  bool cut = false;        // the value is longer than SliceDetail::kMostValue
};

// All that is known of one slice. Times are those of the run.
struct SliceDetail {
  static constexpr size_t kMostArguments = 200, kMostValue = 4096, kMostLaunched = 200,
                          kMostStack = 1000;
  // Self time is absent for slices with more inside.
  static constexpr size_t kMostInside = 2'000'000;

  PlacedSlice slice;
  DrawnKind kind = DrawnKind::kOther;
  // Of a kernel that of the classifier ("moe.gemm"), else as in the file ("cpu_op"); "" of what
  // analyses found.
  std::string category = {};
  std::string_view name = {};   // whole, as in the file
  std::string annotation = {};  // of GPU work: GraphAnnotationOf, at most kMostValue bytes
  // Of a thread's slice: when no other one inside it ran.
  std::optional<DurationNs> self = {};
  std::vector<SliceArgument> arguments = {};
  bool arguments_cut = false;
  // Of a thread's slice: those that it lies in, outermost first; the innermost kMostStack.
  std::vector<PlacedSlice> stack = {};
  struct Launch {
    PlacedSlice call;
    // From its end to the start of the work, at least 0; absent without a common clock.
    std::optional<DurationNs> delay;
  };
  // Of device work, where it is in the trace and nothing else may be it: not of mixed ranks.
  std::optional<Launch> launch = {};
  std::vector<PlacedSlice> launched = {};  // of a call: the first of its device work by time
  size_t launched_count = 0;               // all of it
  struct OfStep {
    size_t number = 0;  // of the rank, counted from 1
    Phase phase = Phase::kOther;
    PlacedSlice slice;
  };
  // In which a host slice starts, or device work was launched. Absent in a merged trace, whose
  // ranks are in steps of their own.
  std::optional<OfStep> step = {};
};
// nullopt for a place that does not exist. Cost: O(l log n) for l lanes of its row, O(k log k) for
// k slices inside it, and of a call that launched work one pass over the device work.
std::optional<SliceDetail> DetailOf(const ReadRanks& ranks, SlicePlace at);

// The collective that a kernel is a part of.
struct CollectiveDetail {
  static constexpr size_t kMostPlaces = 64;

  size_t ranks = 0;   // with a part of it, its own among them
  uint32_t last = 0;  // the rank that starts last
  DurationNs wait;    // from the start of this part to that of the last, by the ranks' residuals
  std::vector<PlacedSlice> at = {};  // the parts of other ranks, by rank
};
// nullopt of all other slices, and where it cannot be told.
std::optional<CollectiveDetail> CollectiveOf(const ReadRanks& ranks,
                                             const MatchedCollectives& collectives, SlicePlace at);

}  // namespace tacho
