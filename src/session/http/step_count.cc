#include "session/http/step_count.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/monotonic_clock.h"

namespace tacho {

std::vector<std::optional<int64_t>> StepsBetween(const MetricsSnapshot& before,
                                                 const MetricsSnapshot& after,
                                                 std::optional<double> EngineCounters::*counter) {
  // The key is the length of the engine's number as text, and the text: so "2" sorts before "10".
  std::map<std::pair<size_t, std::string>, std::optional<int64_t>> steps;
  for (const EngineCounters& now : after.engines) {
    for (const EngineCounters& then : before.engines) {
      const std::optional<double> to = now.*counter, from = then.*counter;
      if (now.engine != then.engine || !(to || from)) continue;
      auto& of_engine = steps[{now.engine.size(), now.engine}];
      if (to && from) of_engine = static_cast<int64_t>(*to - *from);
    }
  }
  std::vector<std::optional<int64_t>> in_order;
  for (const auto& [engine, count] : steps) in_order.push_back(count);
  return in_order;
}

std::optional<bool> CountersMoved(const MetricsSnapshot& before, const MetricsSnapshot& after) {
  std::optional<bool> moved;
  for (const auto counter : {&EngineCounters::steps, &EngineCounters::passes,
                             &EngineCounters::prompt_tokens, &EngineCounters::generation_tokens})
    for (const std::optional<int64_t>& more : StepsBetween(before, after, counter))
      if (more) moved = moved.value_or(false) || *more > 0;
  return moved;
}

std::optional<int64_t> StepsToFlush(const ProfileOptions& profile) {
  if (!profile.steps || profile.IsOn("profile_by_stage")) return std::nullopt;
  const auto delay = profile.fields.find("delay_iterations");
  return *profile.steps + 1 + (delay == profile.fields.end() ? 0 : std::stoll(delay->second));
}

StepCount::StepCount(HttpClient& client, std::vector<Worker> workers,
                     std::chrono::milliseconds patience, int64_t needed, std::stop_token stop)
    : client_(client),
      workers_(std::move(workers)),
      patience_(patience),
      needed_(needed),
      stop_(std::move(stop)),
      from_(Look()) {}

bool StepCount::Taken() {
  if (MonotonicNs() < next_look_ns_) return false;
  next_look_ns_ = MonotonicNs() + 500'000'000;
  const std::vector<Result<MetricsSnapshot>> now = Look();
  bool all = true;
  fewest_.reset();
  for (size_t i = 0; i < now.size(); ++i) {
    if (left_out_.contains(i)) continue;
    bool taken = now[i] && from_[i] && !now[i]->engines.empty() &&
                 now[i]->engines.size() == from_[i]->engines.size();
    for (size_t e = 0; taken && e < now[i]->engines.size(); ++e) {
      const std::optional<double> from = from_[i]->engines[e].steps, to = now[i]->engines[e].steps;
      taken = from && to && *to - *from > static_cast<double>(needed_);
      if (from && to && *to > *from)
        fewest_ = std::min(fewest_.value_or(INT64_MAX), static_cast<int64_t>(*to - *from));
    }
    all = all && taken;
    any_taken_ = any_taken_ || taken;
  }
  return all;
}

}  // namespace tacho
