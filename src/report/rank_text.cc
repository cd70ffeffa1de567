#include "report/rank_text.h"

#include <fmt/format.h>

#include "report/format_number.h"

namespace tacho {

std::string MissingRanksText(const RankTable& ranks) {
  constexpr size_t kMostRanges = 8;
  std::string out;
  for (size_t i = 0; i < ranks.missing.size() && i < kMostRanges; ++i) {
    const auto [first, last] = ranks.missing[i];
    out += out.empty() ? "" : ", ";
    out += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  if (ranks.missing.size() > kMostRanges) out += ", ...";
  const bool counted_by_eye = ranks.missing_count == static_cast<int64_t>(ranks.missing.size()) &&
                              ranks.missing.size() <= kMostRanges;
  return counted_by_eye ? out : out + fmt::format(" ({} in all)", FormatCount(ranks.missing_count));
}

std::string MissingCountText(const RankTable& ranks) {
  if (ranks.missing.empty()) return "";
  return fmt::format("{} of {} ranks missing", FormatCount(ranks.missing_count),
                     FormatCount(ranks.world_size.value_or(0)));
}

}  // namespace tacho
