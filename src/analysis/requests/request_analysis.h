#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/requests/request_rows.h"

namespace tacho {

// A group of whole requests: a band of e2e, or a scenario.
struct RequestGroup {
  std::string scenario;     // "": all
  double from = 0, to = 1;  // quantiles of e2e
  uint64_t count = 0;
  RequestParts parts;  // means, rounded so that they add up to that of e2e
  double tokens = 0;   // mean
  DurationNs e2e() const { return parts.Sum(); }
};

// How much more the slowest band has than the median one.
struct SlowestHave {
  DurationNs more;  // of e2e
  struct Part {
    RequestPart part = RequestPart::kUnknown;
    DurationNs more;
  };
  std::vector<Part> parts;  // those with more, most first
  double tokens = 0, median_tokens = 0;
};

struct RequestAnalysis {
  JoinWhy why = JoinWhy::kNoRequests;
  std::optional<double> tied_share;       // of the tokens that steps of the recording made
  std::optional<DurationNs> clock_error;  // the largest of the engines
  std::vector<RequestRow> rows;  // in the order of the table; those never sent are left out
  // Groups leave out requests that lie outside of the recording, unless all do.
  std::vector<RequestGroup> bands;      // by e2e: [0, 0.4), ... [0.99, 1]; empty without whole ones
  std::vector<RequestGroup> scenarios;  // by name, if there are several
  std::optional<SlowestHave> slowest;   // with five requests or more

  [[nodiscard]] bool any() const { return !rows.empty(); }
  // How many requests do not lie outside of the recording, as far as that is known.
  [[nodiscard]] uint64_t recorded() const;
};
// The band around the median, and the slowest one.
inline constexpr size_t kMedianBand = 1, kSlowestBand = 4;

RequestAnalysis SplitRequests(const RequestInput& input);

// The whole requests by e2e: those inside of the recording; if none is, those whose time is split;
// if none is, all.
std::vector<const RequestRow*> RequestsByE2e(const RequestAnalysis& requests);

}  // namespace tacho
