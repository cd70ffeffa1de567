#include "report/words/speculation_words.h"

#include <fmt/format.h>

#include <cmath>

#include "text/format_number.h"

namespace tacho {

namespace {

// What is known of the accepted tokens, as sentences after the first.
std::string AcceptedText(const Speculation& of) {
  const Acceptance& accepted = of.accepted;
  if (!accepted.tokens)
    return fmt::format(". How many tokens are accepted is unknown: {}",
                       accepted.from == AcceptedFrom::kNoMetrics
                           ? "the engine's metrics in the run folder do not say it"
                           : "only a run folder of tacho record has the engine's metrics");
  std::string text =
      fmt::format(". It brings {:.2f}, by the engine's {}", *accepted.tokens,
                  accepted.from == AcceptedFrom::kGauge ? "own mean at the end of the recording"
                                                        : "counters over the recording");
  if (accepted.share)
    text +=
        fmt::format(" ({} % of the proposed tokens are accepted)", FormatPercent(*accepted.share));
  text += fmt::format(": {} a token", FormatDuration(DurationNs{std::llround(*of.token_ns())}));
  if (const auto break_even = of.break_even())
    text += fmt::format(", {:.2f} times as fast as plain decoding", *accepted.tokens / *break_even);
  return text;
}

}  // namespace

std::string SpeculationText(const Speculation& of) {
  if (of.steps == 0) return "";
  const auto steps = static_cast<int64_t>(of.steps);
  const auto mean = [](DurationNs sum, int64_t count) {
    return FormatDuration(DurationNs{sum.ns / count});
  };
  std::string text =
      fmt::format("speculative decoding, {} for {:.1f} requests on average: a step takes {}",
                  FormatCounted(of.steps, "step"),
                  static_cast<double>(of.requests) / static_cast<double>(of.steps),
                  mean(of.verify + of.draft, steps));
  if (of.tokens)
    text += fmt::format(" and verifies {:.1f} tokens a request",
                        static_cast<double>(*of.tokens) / static_cast<double>(of.requests));
  if (of.drafts == DraftsFound::kNone) {
    text += "; no work of a draft model was found in it";
  } else {
    text += fmt::format("; {} are the model's, {} the draft model's", mean(of.verify, steps),
                        mean(of.draft, steps));
    if (of.drafts == DraftsFound::kByOrder) text += " (found by the order of the kernels)";
  }
  if (const auto break_even = of.break_even()) {
    const auto compared = static_cast<int64_t>(of.compared_steps);
    text += fmt::format(
        ". Of these steps {} have plain steps for as many requests beside them: they take {}, a "
        "plain step {}, so speculation is faster if a step brings a request more than {:.2f} "
        "tokens",
        FormatCount(of.compared_steps), mean(of.compared, compared), mean(of.plain, compared),
        *break_even);
    if (const auto share = of.break_even_share())
      text += *share > 1 ? ", which is more than it verifies"
                         : fmt::format(" ({} % of the proposed ones)", FormatPercent(*share));
  } else {
    text += "; no plain step for as many requests to compare with";
  }
  return text + AcceptedText(of);
}

}  // namespace tacho
