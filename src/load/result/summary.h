#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "load/drive/drive.h"
#include "load/result/concurrency.h"
#include "load/result/distribution.h"
#include "load/result/request_times.h"
#include "load/result/slo.h"

namespace tacho {

// What a set of requests came to. Times of requests are those of the ones that are done; all in
// nanoseconds, by the definitions of docs/metrics.md.
struct LoadFigures {
  uint64_t sent = 0, done = 0, failed = 0, partial = 0, cancelled = 0;
  int64_t duration_ns = 0;
  int64_t prompt_tokens = 0, output_tokens = 0;  // of the done ones
  int64_t lost_tokens = 0;                       // output of the others
  std::optional<int64_t> cached_tokens;          // where the server told
  uint64_t wrong_length = 0;                     // done, but not as long as planned
  double requests_per_s = 0, prompt_tokens_per_s = 0, output_tokens_per_s = 0;
  double received_tokens_per_s = 0;  // output, of requests that are not done too
  std::optional<uint64_t> good;  // kept all SLOs; absent without any, and where times are unsure
  double good_per_s = 0;
  Distribution ttft, tpot, chunk_gap, itl, e2e;
  // From the intended time, and what lies between: the user's queue and the client.
  Distribution intended_ttft, intended_e2e, queue, lateness;
  uint64_t chunks = 0, coalesced_chunks = 0;  // with the time of the one before it
  // Done requests of which it is not sure when the first token, each chunk, the end came: the
  // client came late. Their times are left out; of more than one in twenty, so are all.
  uint64_t unsure_first = 0, unsure_gaps = 0, unsure_end = 0;

  bool TtftIsUnsure() const { return TooManyUnsure(unsure_first, done); }
  bool GapsAreUnsure() const { return TooManyUnsure(unsure_gaps, done); }
  bool EndToEndIsUnsure() const { return TooManyUnsure(unsure_end, done); }
};

// Whether the figures are the server's, or the client's own.
struct ClientVerdict {
  bool judged = false;  // not where nothing was answered
  bool client_bound = false;
  std::string why;  // in words, also when it kept up
};

// Errors of one kind: they differ in their figures at most.
struct ErrorCount {
  std::string error;  // the first one
  uint64_t count = 0;
  bool figures_differ = false;
};

struct LoadSummary {
  LoadFigures whole;
  // Counts and times of the requests sent inside the steady window, rates of what came inside it
  // (SetRates): the warm-up and the end are left out. Absent when there is no such window, when it
  // is all there is, when it is shorter than a second or than the median request, and when fewer
  // requests were sent in it and done than it takes at once: then no place saw a second one.
  std::optional<LoadFigures> steady;
  std::optional<SteadyWindow> window;
  struct Class {
    std::string scenario;
    LoadFigures figures;
  };
  std::vector<Class> classes;  // where there is more than one scenario
  Concurrency concurrency;
  uint64_t peak_chunks_per_s = 0;  // vLLM's max_output_tokens_per_s
  ClientHealth client;
  ClientVerdict verdict;
  std::vector<ErrorCount> errors;  // the most frequent first
};

struct SummaryOptions {
  std::vector<double> percents = {50, 90, 99};
  std::vector<Slo> slos = {};
  uint64_t most_at_once = 0;  // of the plan
};

LoadSummary Summarise(const LoadRecords& records, const SummaryOptions& options);

}  // namespace tacho
