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

// The figures of a set of requests. Latencies are those of done requests, in nanoseconds, as
// docs/metrics.md defines them.
struct LoadFigures {
  uint64_t sent = 0, done = 0, failed = 0, partial = 0, cancelled = 0;
  int64_t duration_ns = 0;
  int64_t prompt_tokens = 0, output_tokens = 0;  // those of done requests
  int64_t lost_tokens = 0;                       // output of requests that are not done
  std::optional<int64_t> cached_tokens;          // absent unless the server reports it
  uint64_t wrong_length = 0;  // done requests whose output is not as long as planned
  double requests_per_s = 0, prompt_tokens_per_s = 0, output_tokens_per_s = 0;
  double received_tokens_per_s = 0;  // output, including that of requests that are not done
  // Requests that kept all SLOs; absent without SLOs or if times are unsure.
  std::optional<uint64_t> good;
  double good_per_s = 0;
  Distribution ttft, tpot, chunk_gap, itl, e2e;
  // `intended_*`: latencies counted from the scheduled time. `queue` and `lateness`: how long the
  // user's queue and then the client delayed the sending.
  Distribution intended_ttft, intended_e2e, queue, lateness;
  uint64_t chunks = 0, coalesced_chunks = 0;  // coalesced: has the time of the chunk before it
  // Done requests whose first token, chunks or end have unsure times because the client was late.
  // Those times are left out; if more than one in twenty is unsure, all are left out.
  uint64_t unsure_first = 0, unsure_gaps = 0, unsure_end = 0;
  // Done requests that were in flight while profilers flushed their traces. Their times are left
  // out, and `duration_ns` does not include the flush. Whether these requests kept the SLOs is
  // unknown.
  uint64_t met_flush = 0;

  bool TtftIsUnsure() const { return TooManyUnsure(unsure_first, done); }
  bool GapsAreUnsure() const { return TooManyUnsure(unsure_gaps, done); }
  bool EndToEndIsUnsure() const { return TooManyUnsure(unsure_end, done); }
};

// Whether the figures show the server or were limited by the client.
struct ClientVerdict {
  bool judged = false;  // false if no request was answered
  bool client_bound = false;
  std::string why;  // one sentence, given even if the client kept up
};

// Errors of one kind: their texts differ at most in numbers.
struct ErrorCount {
  std::string error;  // the text of the first such error
  uint64_t count = 0;
  bool figures_differ = false;
};

struct LoadSummary {
  LoadFigures whole;
  // Counts and times of the requests sent inside the steady window, without the warm-up and the
  // end; rates are those of the output inside the window (SetRates). Absent if there is no steady
  // window, if all requests were sent in it, or if it is too short: shorter than a second or than
  // the median request, or with fewer done requests than are in flight at once.
  std::optional<LoadFigures> steady;
  std::optional<SteadyWindow> window;
  struct Class {
    std::string scenario;
    LoadFigures figures;
  };
  std::vector<Class> classes;  // filled only if there is more than one scenario
  Concurrency concurrency;
  uint64_t peak_chunks_per_s = 0;  // vLLM's max_output_tokens_per_s
  ClientHealth client;
  ClientVerdict verdict;
  std::vector<ErrorCount> errors;  // the most frequent first
};

struct SummaryOptions {
  std::vector<double> percents = {50, 90, 99};
  std::vector<Slo> slos = {};
  uint64_t most_at_once = 0;  // the plan's limit on in-flight requests
};

LoadSummary Summarise(const LoadRecords& records, const SummaryOptions& options);

}  // namespace tacho
