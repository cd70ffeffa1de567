#include "simulate/trace/speculation_truth.h"

#include <algorithm>
#include <set>

namespace tacho::simulate {

void SpeculationTruth::Add(const TracedStep& step) {
  const StepLoad& load = step.step->load;
  if (load.context.requests > 0 || load.generation.requests == 0) return;
  std::vector<const DeviceSlice*> slices;
  for (size_t i = 0; i < step.plan.device.size(); ++i) {
    if (!step.shows_device[i]) return;
    slices.push_back(&step.plan.device[i]);
  }
  std::ranges::stable_sort(slices, {}, &DeviceSlice::start_ns);
  Verifying sum{load.generation.requests, load.generation.tokens, load.accepted, 0, 0};
  // Each nanosecond belongs to the running work that began first, or else to the next work.
  int64_t until = slices.front()->start_ns;
  for (const DeviceSlice* slice : slices) {
    const int64_t end = std::max(until, slice->start_ns + slice->dur_ns);
    (slice->draft ? sum.draft_ns : sum.verify_ns) += end - until;
    until = end;
  }
  if (load.proposed > 0) return verifying_.push_back(sum);
  Plain& plain = plain_[load.generation.requests];
  ++plain.steps;
  plain.ns += sum.verify_ns;
}

std::vector<std::pair<std::string_view, int64_t>> SpeculationTruth::Fields() const {
  int64_t requests = 0, tokens = 0, accepted = 0, verify = 0, draft = 0, compared = 0, all = 0,
          instead = 0;
  std::set<int64_t> used;
  for (const Verifying& step : verifying_) {
    requests += step.requests;
    tokens += step.tokens;
    accepted += step.accepted;
    verify += step.verify_ns;
    draft += step.draft_ns;
    const auto plain = plain_.find(step.requests);
    if (plain == plain_.end()) continue;
    used.insert(step.requests);
    ++compared;
    all += step.verify_ns + step.draft_ns;
    instead += plain->second.ns / plain->second.steps;
  }
  int64_t plain_steps = 0;
  for (const int64_t of : used) plain_steps += plain_.at(of).steps;
  std::vector<std::pair<std::string_view, int64_t>> fields{
      {"steps", static_cast<int64_t>(verifying_.size())},
      {"requests", requests},
      {"tokens", tokens},
      {"verify_ns", verify},
      {"draft_ns", draft},
      {"plain_steps", plain_steps},
      {"compared_steps", compared},
      {"compared_ns", all},
      {"plain_ns", instead}};
  if (accepted >= 0) fields.emplace_back("accepted", accepted);
  return fields;
}

}  // namespace tacho::simulate
