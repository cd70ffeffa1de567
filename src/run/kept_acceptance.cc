#include "run/kept_acceptance.h"

#include <optional>

#include "base/metric_samples.h"
#include "io/read_whole.h"
#include "run/run_place.h"

namespace tacho {
namespace {

constexpr size_t kMostMetrics = size_t{1} << 26;

struct Sum {
  double value = 0;
  int count = 0;
};
// SGLang repeats values for each tensor-parallel rank. Only those of rank 0 count, and no gauge
// that is still 0.
Sum SumOf(const std::vector<MetricSample>& samples, std::string_view name) {
  Sum sum;
  for (const MetricSample& sample : samples) {
    const auto rank = sample.labels.find("tp_rank");
    if (sample.name != name || !(sample.value > 0) ||
        (rank != sample.labels.end() && rank->second != "0"))
      continue;
    sum.value += sample.value;
    ++sum.count;
  }
  return sum;
}

}  // namespace

Acceptance AcceptanceOf(std::string_view before, std::string_view after) {
  const std::vector<MetricSample> then = ParsePrometheus(before), now = ParsePrometheus(after);
  const auto grown = [&](std::string_view name) {
    return SumOf(now, name).value - SumOf(then, name).value;
  };
  const double drafts = grown("vllm:spec_decode_num_drafts_total"),
               proposed = grown("vllm:spec_decode_num_draft_tokens_total"),
               accepted = grown("vllm:spec_decode_num_accepted_tokens_total");
  if (drafts > 0 && accepted >= 0 && proposed >= accepted && proposed > 0)
    return {AcceptedFrom::kCounters, 1 + accepted / drafts, accepted / proposed};
  if (const Sum length = SumOf(now, "sglang:spec_accept_length");
      length.value >= length.count && length.count > 0)
    return {AcceptedFrom::kGauge, length.value / length.count, std::nullopt};
  return {AcceptedFrom::kNoMetrics, std::nullopt, std::nullopt};
}

namespace {

Acceptance KeptAcceptance(const std::string& trace) {
  const std::optional<PlaceInRun> place = RunPlaceOf(trace);
  if (!place) return {};
  const auto kept = [&](const char* when) {
    return ReadWholeFile(place->folder + "/metrics/" + place->worker + when, kMostMetrics)
        .value_or("");
  };
  const std::string before = kept("-before.txt"), after = kept("-after.txt");
  // Without a first reading, counters would count from the engine's start.
  if (before.empty() || after.empty()) return {AcceptedFrom::kNoMetrics, {}, {}};
  return AcceptanceOf(before, after);
}

}  // namespace

void AddKeptAcceptance(const std::string& trace, Speculation& of) {
  of.accepted = KeptAcceptance(trace);
  if (!of.accepted.share || !of.tokens || of.requests == 0) return;
  const double proposed = static_cast<double>(*of.tokens) / static_cast<double>(of.requests) - 1;
  of.accepted.tokens = 1 + *of.accepted.share * proposed;
}

}  // namespace tacho
