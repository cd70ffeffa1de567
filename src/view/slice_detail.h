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
  kMark,  // a range or an instant
};
std::string_view DrawnKindName(DrawnKind kind);

// What a slice of a lane is.
DrawnKind KindOfSlice(const ViewedRank& rank, const TimelineRow& row, SliceRef slice);

// A slice's category as the file has it ("cpu_op"), "" for slices that analyses found; and its
// arguments.
std::string_view CategoryInFile(const ViewedRank& rank, SliceRef slice);
ArgsOf ArgumentsOfSlice(const ViewedRank& rank, SliceRef slice);

struct SliceArgument {
  std::string key, value;  // `value`: a string without its quotes, all else as JSON text
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
  // For a kernel, the classifier's ("moe.gemm"); else as in the file ("cpu_op"); "" for slices that
  // analyses found.
  std::string category = {};
  std::string_view name = {};   // in full, as in the file
  std::string annotation = {};  // of GPU work: GraphAnnotationOf, at most kMostValue bytes
  // For a slice of a thread: the time in which no other slice inside it ran.
  std::optional<DurationNs> self = {};
  std::vector<SliceArgument> arguments = {};
  bool arguments_cut = false;
  // For a slice of a thread: the slices around it, outermost first; only the innermost kMostStack.
  std::vector<PlacedSlice> stack = {};
  struct Launch {
    PlacedSlice call;
    // From the end of the call to the start of the work, at least 0; absent without a common clock.
    std::optional<DurationNs> delay;
  };
  // For device work: its launch, if that is in the trace and unambiguous. Absent for mixed ranks.
  std::optional<Launch> launch = {};
  // For a call: the first pieces of its device work by time.
  std::vector<PlacedSlice> launched = {};
  size_t launched_count = 0;  // the number of all pieces
  struct OfStep {
    size_t number = 0;  // in its rank, counted from 1
    Phase phase = Phase::kOther;
    PlacedSlice slice;
  };
  // The step in which a host slice starts, or device work was launched. Absent in a merged trace,
  // whose ranks have steps of their own.
  std::optional<OfStep> step = {};
};
// nullopt for a place that does not exist. Cost: O(l log n) for l lanes of its row, O(k log k) for
// k slices inside it, and, for a call that launched work, one pass over the device work.
std::optional<SliceDetail> DetailOf(const ReadRanks& ranks, SlicePlace at);

// The collective that a kernel is a part of.
struct CollectiveDetail {
  static constexpr size_t kMostPlaces = 64;

  size_t ranks = 0;   // ranks with a part of it, including this one
  uint32_t last = 0;  // the rank that starts last
  // From this part's start to the start of the last part, corrected by the ranks' residuals.
  DurationNs wait;
  std::vector<PlacedSlice> at = {};  // the parts of other ranks, by rank
};
// The collective that a slice is part of; nullopt if the slice is part of no known collective.
std::optional<CollectiveDetail> CollectiveOf(const ReadRanks& ranks,
                                             const MatchedCollectives& collectives, SlicePlace at);

}  // namespace tacho
