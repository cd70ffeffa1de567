#include "report/words/expert_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/words/rank_text.h"
#include "text/format_number.h"

namespace tacho {
namespace {

// The time per step, "266 us a step"; if the number of steps is unknown, the time of the whole
// recording.
std::string AStep(const ExpertBalance& experts, DurationNs of) {
  const auto a_step = experts.a_step(of);
  return a_step ? FormatDuration(*a_step) + " a step" : FormatDuration(of) + " in all";
}

// Among the ranks that stand out, the one that others waited for longest; nullptr if none stands
// out.
const ExpertBalance::Row* SlowestOf(const ExpertBalance& experts) {
  const ExpertBalance::Row* slowest = nullptr;
  for (const ExpertBalance::Row& row : experts.table) {
    if (row.stands_out && row.others > 0 && (slowest == nullptr || row.caused > slowest->caused))
      slowest = &row;
  }
  return slowest;
}

}  // namespace

std::string ExpertsText(const RankTable& ranks) {
  constexpr double kLeastShare = 0.01;
  const ExpertBalance& experts = ranks.blame.experts;
  DurationNs windows;
  for (const ExpertBalance::Row& row : experts.table) windows += ranks.rows[row.rank].window;
  if (windows.ns <= 0 || ShareOf(experts.waits, windows) < kLeastShare) return "";
  std::string text = "grouped GEMMs: ";
  if (const ExpertBalance::Row* slowest = SlowestOf(experts)) {
    const DurationNs each{slowest->caused.ns / static_cast<int64_t>(slowest->others)};
    text += fmt::format(
        "those of {} take {} longer than the mean of the others, who each wait {} for them; ",
        RankLabel(ranks, ranks.rows[slowest->rank]), AStep(experts, slowest->longer),
        AStep(experts, each));
  }
  text += fmt::format("equal experts would save up to {} (imbalance {:.2f})",
                      AStep(experts, experts.above_mean), experts.imbalance());
  if (experts.exchanged == 0)
    text += "; no combine follows them, so the waits are in all-reduces or barriers";
  return text;
}

}  // namespace tacho
