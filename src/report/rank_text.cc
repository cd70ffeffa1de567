#include "report/rank_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "report/format_number.h"
#include "report/short_paths.h"
#include "report/visible_text.h"

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

bool NamesTellApart(const RankTable& ranks) {
  std::set<std::string> names = {""};
  return std::ranges::all_of(
      ranks.rows, [&](const RankRow& row) { return names.insert(row.identity.Name()).second; });
}

std::string RankLabel(const RankTable& ranks, const RankRow& row) {
  const std::string name = row.identity.RankName();
  const bool alone = std::ranges::all_of(ranks.rows, [&](const RankRow& other) {
    return other.group == row.group || other.identity.RankName() != name;
  });
  if (!name.empty() && alone) return name;
  std::vector<std::string> paths;
  for (const RankRow& each : ranks.rows) paths.push_back(each.path);
  return VisibleText(ShortPaths(paths)[static_cast<size_t>(&row - ranks.rows.data())]);
}

}  // namespace tacho
