#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/requests/request_parts.h"
#include "model/clocks.h"
#include "model/requests.h"

namespace tacho {

// One engine that the requests may have been at, by one of its ranks.
struct RequestEngine {
  uint32_t trace = 0;   // of that rank, by index in its run
  uint32_t worker = 0;  // in RequestTable::workers
  std::string name;     // of the worker, and where it has several engines, which of them
  ClockShift to_steps;  // from the client's clock to that of the trace
  const std::vector<DigestStep>* steps = nullptr;
  const StepCells* cells = nullptr;
};

// Which steps of which engine made the tokens of a request: what the join found.
struct RequestTie {
  static constexpr uint32_t kNoEngine = 0xffffffff;
  uint32_t engine = kNoEngine;  // index into the engines
  // Each way in which the request fits: the step of each token. Empty: it fits none, or too many.
  std::vector<std::vector<uint32_t>> fits;
};

// Why a request's time is not split by the steps of an engine.
enum class RequestLacks : uint8_t {
  kNothing,
  kTokens,  // no token came
  kTie,     // its tokens fit no steps, or too many
  kClock,   // its times contradict the engine's by more than the clocks' error
  kCount,
};
std::string_view RequestLacksId(RequestLacks lacks);  // "tokens", "tie", "clock"; "" for kNothing

struct RequestRow {
  std::string id, scenario;
  std::string worker;  // the engine's name; "" if that is not known
  bool whole = false;  // answered as expected, to the end
  uint64_t tokens = 0;
  std::optional<int64_t> prompt_tokens;
  // From when the request was due: to its first token, and to its last one (to its end, if it is
  // not whole). The parts add up to these times.
  std::optional<DurationNs> ttft;
  DurationNs e2e;
  RequestParts parts, ttft_parts;
  RequestLacks lacks = RequestLacks::kNothing;
  bool sure = false;  // it fits in one way only
  // If `lacks` is kNothing: the trace of the engine, and the steps of its first and last token.
  std::optional<uint32_t> trace;
  uint32_t first_step = 0, last_step = 0;
};

// Requests that are whole, by their e2e or by their scenario.
struct RequestGroup {
  std::string scenario;     // "": all
  double from = 0, to = 1;  // quantiles of e2e
  uint64_t count = 0;
  RequestParts parts;  // means, rounded so that they add up to that of e2e
  double tokens = 0;   // mean
  DurationNs e2e() const { return parts.Sum(); }
};

// What the slowest band has more than the median one.
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
  std::string method;                     // of the join; "" without requests or without engines
  std::optional<double> tied_share;       // of all tokens that came
  std::optional<DurationNs> clock_error;  // the largest of the engines
  std::vector<RequestRow> rows;         // in the order of the table; those never sent are left out
  std::vector<RequestGroup> bands;      // by e2e: [0, 0.4), ... [0.99, 1]; empty without whole ones
  std::vector<RequestGroup> scenarios;  // by name, if there are several
  std::optional<SlowestHave> slowest;   // with five requests or more

  [[nodiscard]] bool any() const { return !rows.empty(); }
};
// The band around the median, and the slowest one.
inline constexpr size_t kMedianBand = 1, kSlowestBand = 4;

// `ties`: by request of the table. Cost: O(tokens + steps), times the ways in which they fit.
RequestAnalysis SplitRequests(const RequestTable& table, const std::vector<RequestEngine>& engines,
                              const std::vector<RequestTie>& ties);

// Everything about one request of the table.
struct RequestDetail {
  struct Gap {
    size_t chunk = 0;  // the number of the chunk that ends it, from 1 on
    DurationNs length;
    RequestParts parts;
    uint32_t step = 0;  // that made the last token of the chunk, in the first fit
  };
  std::vector<Gap> gaps;        // between two chunks, in order
  std::vector<uint32_t> reads;  // the steps that read its prompt, in the first fit
  bool reads_known = false;     // false: it may also have been read before
  std::vector<uint32_t> steps;  // by token, in the first fit
  size_t fits = 0;
};
std::optional<RequestDetail> DetailOf(const RequestTable& table,
                                      const std::vector<RequestEngine>& engines,
                                      const std::vector<RequestTie>& ties, size_t request);

}  // namespace tacho
