#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/layers/step_layers.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// How the work of the draft model was found (StepRoles::draft).
enum class DraftsFound : uint8_t { kNone, kAnnotated, kByOrder, kCount };
std::string_view DraftsFoundId(DraftsFound found);  // "none", "annotated", "order"

// Where it is from how many proposed tokens were accepted, or why that is unknown.
enum class AcceptedFrom : uint8_t {
  kNoRecording,  // the trace is in no run folder, which would have the engine's metrics
  kNoMetrics,    // the metrics in the run folder do not say it
  kCounters,     // the engine's counters, over the recording
  kGauge,        // the engine's own mean of its last steps, at the end of the recording
  kCount
};
std::string_view AcceptedFromId(AcceptedFrom from);  // "no-recording", "counters", ...

struct Acceptance {
  AcceptedFrom from = AcceptedFrom::kNoRecording;
  // Tokens that a step that verifies brings a request: the accepted ones and one more.
  std::optional<double> tokens;
  std::optional<double> share;  // of the proposed tokens
};

// What speculative decoding costs: the decode steps that verify tokens which a draft model
// proposed, beside plain decode steps. Only steps whose work is all known count. A step's time is
// from its first work to its last on a device. Each nanosecond of it belongs to the running work
// that began first, or, if nothing runs, to the next work. So `verify` + `draft` is the whole time.
struct Speculation {
  DraftsFound drafts = DraftsFound::kNone;
  uint64_t steps = 0;     // steps that verify, once for each device
  uint64_t requests = 0;  // sum of their requests
  // Sum of the tokens that they compute: for each request one more than were proposed for it.
  // Absent if a step does not say it.
  std::optional<uint64_t> tokens;
  DurationNs verify, draft;
  // Plain decode steps of the same model (with as many layers) are compared with those steps that
  // verify for as many requests. `plain_steps`: plain steps that are compared. `compared_steps`:
  // steps that verify and have such a plain step; `compared`: their time. `plain`: what plain steps
  // would take in their place: for each, the mean of the plain steps with as many requests.
  uint64_t plain_steps = 0, compared_steps = 0;
  DurationNs compared, plain;
  Acceptance accepted;  // not from the trace: FindSpeculation leaves it unknown

  // How many tokens a step must bring each request so that speculation is as fast as plain
  // decoding. Absent without plain steps.
  [[nodiscard]] std::optional<double> break_even() const {
    if (plain.ns == 0) return std::nullopt;
    return static_cast<double>(compared.ns) / static_cast<double>(plain.ns);
  }
  // The share of the proposed tokens that must be accepted for that; above 1 if all are too few.
  // Absent also if it is unknown how many were proposed.
  [[nodiscard]] std::optional<double> break_even_share() const {
    const auto needed = break_even();
    if (!needed || !tokens || *tokens <= requests) return std::nullopt;
    const double proposed = static_cast<double>(*tokens - requests) / static_cast<double>(requests);
    return (*needed - 1) / proposed;
  }
  // Mean time of a step that verifies, for each token that it brings a request: of the compared
  // steps if there are any. Absent if the number of accepted tokens is unknown.
  [[nodiscard]] std::optional<double> token_ns() const {
    if (!accepted.tokens) return std::nullopt;
    const bool all = compared_steps == 0;
    return static_cast<double>(all ? (verify + draft).ns : compared.ns) /
           static_cast<double>(all ? steps : compared_steps) / *accepted.tokens;
  }
};

// `steps`: LayersOfSteps for the same trace. Empty if no layers were found. Cost: O(n).
Speculation FindSpeculation(const PreparedTrace& prepared, const LayeredSteps& steps);

}  // namespace tacho
