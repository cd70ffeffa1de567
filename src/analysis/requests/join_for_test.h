#pragma once

#include <cstdint>
#include <vector>

#include "analysis/requests/join.h"

namespace tacho {

// Builds request records and engines for tests. Times are milliseconds on the client's clock.
class JoinScene {
 public:
  struct Tokens {
    int64_t at_ms;
    uint32_t count = 1;
  };

  JoinScene() { Worker(); }

  // Adds a worker that has `of_it` engines, data-parallel ones if several; returns its index.
  uint32_t Worker(int64_t of_it = 1) {
    table.workers.push_back({"", "", of_it > 1, of_it});
    table.engines = table.workers.size();
    return static_cast<uint32_t>(table.workers.size() - 1);
  }
  JoinEngine& Engine(uint32_t worker = 0, int64_t error_us = 0) {
    JoinEngine& engine = engines.emplace_back();
    engine.worker = worker;
    engine.clock_error = DurationNs{error_us * 1000};
    return engine;
  }
  // Adds a step. Of(c, ctoks, g, gtoks) makes a label: c requests read `ctoks` prompt tokens, and g
  // requests generate `gtoks` tokens.
  static void Step(JoinEngine& engine, int64_t start_ms, int64_t end_ms, StepLabel label) {
    const TimeNs end{end_ms * 1'000'000};
    engine.steps.push_back({label,
                            {TimeNs{start_ms * 1'000'000}, end},
                            end,
                            static_cast<uint32_t>(engine.steps.size())});
  }
  static StepLabel Of(int64_t c, int64_t ctoks, int64_t g, int64_t gtoks) {
    return {Phase::kMixed, c, ctoks, g, gtoks};
  }
  static StepLabel OfDecode(int64_t g) { return Of(0, 0, g, g); }
  static StepLabel Empty() { return Of(0, 0, 0, 0); }

  // Adds a request that was completely answered and reached its token limit.
  Request& Answer(int64_t sent_ms, int64_t prompt_tokens, const std::vector<Tokens>& chunks,
                  uint32_t worker = 0) {
    Request& request = table.rows.emplace_back();
    request.worker = worker;
    request.whole = request.at_limit = true;
    request.sent = TimeNs{sent_ms * 1'000'000};
    request.prompt_tokens = prompt_tokens;
    request.first_chunk = table.chunks.size();
    int64_t tokens = 0;
    for (const Tokens& chunk : chunks) {
      table.chunks.push_back({TimeNs{chunk.at_ms * 1'000'000}, chunk.count});
      tokens += chunk.count;
    }
    request.end_chunk = table.chunks.size();
    request.output_tokens = tokens;
    request.ended = chunks.empty() ? *request.sent : table.chunks.back().at;
    return request;
  }
  [[nodiscard]] RequestJoin Join(const JoinOptions& options = {}) const {
    return JoinRequests(table, engines, options);
  }

  RequestTable table;
  std::vector<JoinEngine> engines;
};

inline TokenSeat Tied(uint32_t step) { return {Fit::kTied, false, step, step}; }
inline TokenSeat OneOf(uint32_t first, uint32_t last, bool or_outside = false) {
  return {Fit::kOneOf, or_outside, first, last};
}

}  // namespace tacho
