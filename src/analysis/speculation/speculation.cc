#include "analysis/speculation/speculation.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tacho {
namespace {

struct StepTime {
  DurationNs verify, draft;

  [[nodiscard]] DurationNs all() const { return verify + draft; }
};

StepTime TimeOf(const StepRoles& of) {
  StepTime time;
  EachPiece(of, [&](size_t piece, Interval own, DurationNs gap) {
    (of.IsDraft(piece) ? time.draft : time.verify) += own.length() + gap;
  });
  return time;
}

struct Plain {
  uint64_t steps = 0;
  DurationNs time;
};

}  // namespace

std::string_view DraftsFoundId(DraftsFound found) {
  return found == DraftsFound::kAnnotated ? "annotated"
         : found == DraftsFound::kByOrder ? "order"
                                          : "none";
}

std::string_view AcceptedFromId(AcceptedFrom from) {
  switch (from) {
    case AcceptedFrom::kNoMetrics:
      return "no-metrics";
    case AcceptedFrom::kCounters:
      return "counters";
    case AcceptedFrom::kGauge:
      return "gauge";
    default:
      return "no-recording";
  }
}

Speculation FindSpeculation(const PreparedTrace& prepared, const LayeredSteps& steps) {
  if (std::ranges::none_of(prepared.steps.steps, &Step::verifies)) return {};
  Speculation found;
  found.tokens = 0;
  struct Verifying {
    int64_t requests;
    DurationNs time;
  };
  std::vector<Verifying> comparable;
  std::map<int64_t, Plain> by_requests;
  for (const StepLayers& step : steps.steps) {
    const Step& at = prepared.steps.steps[step.of.step];
    const StepLabel& label = at.label;
    if (label.phase != Phase::kDecode || label.generation_requests <= 0) continue;
    const StepTime time = TimeOf(step.of);
    if (!at.verifies) {
      if (!step.counts() || !step.of.draft.empty()) continue;
      Plain& plain = by_requests[label.generation_requests];
      ++plain.steps;
      plain.time += time.all();
      continue;
    }
    ++found.steps;
    found.requests += static_cast<uint64_t>(label.generation_requests);
    if (label.generation_tokens < 0) found.tokens.reset();
    if (found.tokens) *found.tokens += static_cast<uint64_t>(label.generation_tokens);
    found.verify += time.verify;
    found.draft += time.draft;
    if (!step.of.draft.empty())
      found.drafts = step.of.draft_is_named ? DraftsFound::kAnnotated : DraftsFound::kByOrder;
    if (step.counts()) comparable.push_back({label.generation_requests, time.all()});
  }
  if (found.steps == 0) return {};
  std::map<int64_t, Plain> used;
  for (const Verifying& step : comparable) {
    const auto plain = by_requests.find(step.requests);
    if (plain == by_requests.end()) continue;
    used.insert(*plain);
    ++found.compared_steps;
    found.compared += step.time;
    found.plain += DurationNs{plain->second.time.ns / static_cast<int64_t>(plain->second.steps)};
  }
  for (const auto& [requests, plain] : used) found.plain_steps += plain.steps;
  return found;
}

}  // namespace tacho
