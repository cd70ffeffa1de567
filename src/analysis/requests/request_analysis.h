#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/requests/request_rows.h"

namespace tacho {

// A group of completely answered requests: those of one scenario, or those whose e2e lies between
// two quantiles (a band).
struct RequestGroup {
  std::string scenario;     // "": all scenarios
  double from = 0, to = 1;  // quantiles of e2e
  uint64_t count = 0;
  RequestParts parts;  // means, rounded so that they add up to the mean e2e
  double tokens = 0;   // mean
  DurationNs e2e() const { return parts.Sum(); }
};

// By how much the means of the slowest band exceed those of the median band.
struct SlowestHave {
  DurationNs more;  // the difference of e2e
  struct Part {
    RequestPart part = RequestPart::kUnknown;
    DurationNs more;
  };
  // Only the parts that take longer in the slowest band, largest difference first. Each difference
  // is a lower bound: the unknown time of the median band is subtracted, since it may belong to any
  // part.
  std::vector<Part> parts;
  double tokens = 0, median_tokens = 0;  // means of the two bands
};

struct RequestAnalysis {
  JoinWhy why = JoinWhy::kNoRequests;
  // Of the tokens not known to be made outside of the recording: the share whose step is known.
  std::optional<double> tied_share;
  std::optional<DurationNs> clock_error;  // the largest error among the engines
  // In the order of the table, without requests that were never sent.
  std::vector<RequestRow> rows;
  // `bands` and `scenarios` are of the requests of RequestsByE2e.
  std::vector<RequestGroup> bands;      // e2e from quantile 0 to 0.4, ... 0.99 to 1; may be empty
  std::vector<RequestGroup> scenarios;  // sorted by name; empty if there is only one
  std::optional<SlowestHave> slowest;   // absent with fewer than five requests

  [[nodiscard]] bool any() const { return !rows.empty(); }
  // Counts the requests that are not known to lie outside of the recording.
  [[nodiscard]] uint64_t recorded() const;
};
// Indices into RequestAnalysis::bands: the band around the median, and the slowest band.
inline constexpr size_t kMedianBand = 1, kSlowestBand = 4;

RequestAnalysis SplitRequests(const RequestInput& input);

// The completely answered requests, sorted by e2e. Keeps only those that lie wholly in the
// recording; if there are none, only those whose time could be split into parts; if there are none
// either, all.
std::vector<const RequestRow*> RequestsByE2e(const RequestAnalysis& requests);

}  // namespace tacho
