#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "report/answers/answer_parts.h"
#include "report/documents/report_parts.h"
#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kFewestForDrift = 8;  // steps
constexpr double kOutlier = 2;         // a step this many times the median is an outlier

constexpr const char* kNoSteps = "the traces hold no step annotation";

std::string_view PhaseOf(const std::vector<PlacedStep>& steps) {
  return PhaseName(steps.front().step->label.phase);
}

Evidence PlaceOf(const PlacedStep& placed) { return {placed.trace, placed.step->when}; }

std::vector<int64_t> HostTimes(const std::vector<PlacedStep>& steps) {
  std::vector<int64_t> times;
  for (const PlacedStep& placed : steps) times.push_back(placed.step->when.length().ns);
  return times;
}

// The phase of the steps in words: "decode steps".
std::string StepNoun(const std::vector<PlacedStep>& steps) {
  return steps.front().step->label.phase == Phase::kOther ? "steps of unknown phase"
                                                          : fmt::format("{} steps", PhaseOf(steps));
}

// The times from the start of each step to the start of the next; the last step has none.
std::vector<int64_t> Periods(const std::vector<PlacedStep>& steps) {
  std::vector<int64_t> periods;
  for (const PlacedStep& placed : steps) {
    if (placed.step->period) periods.push_back(placed.step->period->ns);
  }
  return periods;
}

const PlacedStep& LongestOnHost(const std::vector<PlacedStep>& steps) {
  return *std::ranges::max_element(
      steps, {}, [](const PlacedStep& placed) { return placed.step->when.length(); });
}

DurationNs MedianOf(std::span<const int64_t> times) {
  std::vector<int64_t> copy(times.begin(), times.end());
  return Summarize(copy).p50;
}

// How many requests, or tokens, are in a step; -1: unknown.
int64_t RequestsOf(const StepLabel& label) {
  if (label.context_requests < 0 && label.generation_requests < 0) return -1;
  return AddSaturated(std::max<int64_t>(label.context_requests, 0),
                      std::max<int64_t>(label.generation_requests, 0));
}
int64_t TokensOf(const StepLabel& label) {
  if (label.context_tokens < 0 && label.generation_tokens < 0) return -1;
  return AddSaturated(std::max<int64_t>(label.context_tokens, 0),
                      std::max<int64_t>(label.generation_tokens, 0));
}

// The median, the least and the most: "64 (8 to 72)".
std::string SpreadText(std::vector<int64_t> values) {
  const DurationStats stats = Summarize(values);  // here the values are counts, not times
  if (stats.min == stats.max) return FormatCount(stats.p50.ns);
  return fmt::format("{} ({} to {})", FormatCount(stats.p50.ns), FormatCount(stats.min.ns),
                     FormatCount(stats.max.ns));
}

}  // namespace

std::string StepsText(const std::vector<PlacedStep>& steps) {
  return StepsInWords(steps.size(), PhaseOf(steps));
}

Answer AnswerSteps(const AnswerInput& in) {
  const std::vector<PlacedStep> steps = MainSteps(in.steps);
  if (steps.empty()) return CannotTell(kNoSteps);
  std::vector<int64_t> host = HostTimes(steps);
  const DurationStats stats = Summarize(host);
  const std::vector<int64_t> periods = Periods(steps);
  const std::string what = StepsText(steps);
  Answer answer;
  if (periods.empty()) {
    answer.figure = FormatDuration(stats.p50);
    answer.of = what + " on the host, median";
  } else {
    answer.figure = FormatDuration(MedianOf(periods));
    answer.of = what + " from start to start, median";
  }
  answer.sentence =
      fmt::format("On the host, {} take {} (median), {} (p99), {} at most", StepNoun(steps),
                  FormatDuration(stats.p50), FormatDuration(stats.p99), FormatDuration(stats.max));
  answer.at = PlaceOf(LongestOnHost(steps));
  return answer;
}

Answer AnswerLoad(const AnswerInput& in) {
  if (in.steps.empty()) return CannotTell(kNoSteps);
  std::vector<int64_t> requests, tokens;
  const PlacedStep* most = nullptr;
  for (const PlacedStep& placed : in.steps) {
    const StepLabel& label = placed.step->label;
    if (label.phase == Phase::kEmpty) continue;
    const int64_t now = RequestsOf(label);
    if (now >= 0) requests.push_back(now);
    if (now >= 0 && (most == nullptr || now > RequestsOf(most->step->label))) most = &placed;
    if (TokensOf(label) >= 0) tokens.push_back(TokensOf(label));
  }
  if (requests.empty() && tokens.empty())
    return CannotTell("the steps state neither requests nor tokens");
  Answer answer;
  const std::vector<int64_t>& values = requests.empty() ? tokens : requests;
  const std::string_view unit = requests.empty() ? "token" : "request";
  const DurationNs median = MedianOf(values);
  answer.figure = FormatCounted(static_cast<uint64_t>(median.ns), unit);
  answer.of = FormatCounted(values.size(), "step") + ", median";
  std::string text;
  if (!requests.empty()) text = "requests in a step: " + SpreadText(requests);
  if (!tokens.empty())
    text += (text.empty() ? "" : "; ") + fmt::format("tokens in a step: {}", SpreadText(tokens));
  answer.sentence = Sentence(std::move(text));
  if (most != nullptr) answer.at = PlaceOf(*most);
  return answer;
}

Answer AnswerDrift(const AnswerInput& in) {
  const std::vector<PlacedStep> steps = MainSteps(in.steps);
  if (steps.empty()) return CannotTell(kNoSteps);
  std::vector<int64_t> times = Periods(steps);
  const bool periods = times.size() >= kFewestForDrift;
  if (!periods) times = HostTimes(steps);
  if (times.size() < kFewestForDrift) {
    return CannotTell(StepsText(steps) + (steps.size() == 1 ? " is" : " are") + " too few");
  }
  const size_t quarter = times.size() / 4;
  const std::span<const int64_t> all(times);
  const DurationNs first = MedianOf(all.first(quarter)), last = MedianOf(all.last(quarter));
  const auto median = static_cast<double>(MedianOf(all).ns);
  const auto outliers = static_cast<uint64_t>(std::ranges::count_if(
      times, [&](int64_t time) { return static_cast<double>(time) > kOutlier * median; }));
  if (first.ns <= 0) return CannotTell("the first steps last no time");
  Answer answer;
  const double change = ShareOf(last - first, first);
  const std::string size = FormatPercent(std::abs(change));
  const char* sign = size.starts_with('<') || change == 0 ? "" : change > 0 ? "+" : "-";
  answer.figure = fmt::format("{}{} %", sign, size);
  answer.of = FormatDuration(first) + ", the median of the first quarter of " + StepNoun(steps);
  answer.sentence =
      fmt::format("The last quarter's median is {}; {} of {} steps {} more than twice the median{}",
                  FormatDuration(last), FormatCount(outliers), FormatCount(times.size()),
                  outliers == 1 ? "takes" : "take", periods ? ", from start to start" : "");
  answer.at = PlaceOf(LongestOnHost(steps));
  return answer;
}

}  // namespace tacho
