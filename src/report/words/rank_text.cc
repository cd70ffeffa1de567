#include "report/words/rank_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "analysis/ranks/sessions.h"
#include "text/format_number.h"
#include "text/short_paths.h"
#include "text/visible_text.h"

namespace tacho {

std::string MissingRanksText(const MissingRanks& missing) {
  constexpr size_t kMostRanges = 8;
  std::string out = missing.worker.empty() ? "" : VisibleText(missing.worker) + " ";
  out += "rank ";
  for (size_t i = 0; i < missing.ranks.size() && i < kMostRanges; ++i) {
    const auto [first, last] = missing.ranks[i];
    out += i == 0 ? "" : ", ";
    out += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  if (missing.ranks.size() > kMostRanges) out += ", ...";
  const bool counted_by_eye =
      missing.count == std::ssize(missing.ranks) && missing.ranks.size() <= kMostRanges;
  if (!counted_by_eye) out += fmt::format(" ({} in all)", FormatCount(missing.count));
  if (missing.engines > 1) out += fmt::format(" of {} engines", FormatCount(missing.engines));
  return out;
}

std::string MissingRanksText(const RankTable& ranks) {
  constexpr size_t kMostEngines = 8;
  std::string out;
  for (size_t i = 0; i < ranks.missing.size() && i < kMostEngines; ++i)
    out += (i == 0 ? "" : "; ") + MissingRanksText(ranks.missing[i]);
  if (ranks.missing.size() <= kMostEngines) return out;
  return out + fmt::format("; ... ({} in all)", FormatCount(ranks.missing_count()));
}

std::string MissingCountText(const RankTable& ranks) {
  if (ranks.missing.empty()) return "";
  return fmt::format("{} of {} ranks missing", FormatCount(ranks.missing_count()),
                     FormatCount(ranks.ranks_in_all));
}

bool NamesTellApart(const RankTable& ranks) {
  std::set<std::string> names = {""};
  return std::ranges::all_of(
      ranks.rows, [&](const RankRow& row) { return names.insert(row.identity.Name()).second; });
}

std::vector<std::string> SessionsOfRanks(const RankTable& ranks) {
  constexpr size_t kLongest = 32;  // parts that are never shortened must be short
  std::vector<std::string> sessions;
  std::set<std::pair<std::string, std::string>> rows;
  for (const RankRow& row : ranks.rows) {
    sessions.push_back(SessionKey(row.path));
    const std::string& session = sessions.back();
    if (session.empty() || session.size() > kLongest ||
        !rows.emplace(row.identity.Name(), session).second) {
      return {};
    }
  }
  return sessions;
}

std::string RankLabel(const RankTable& ranks, const RankRow& row) {
  std::string name = row.identity.RankName();
  const bool alone = std::ranges::all_of(ranks.rows, [&](const RankRow& other) {
    return other.group == row.group || other.identity.RankName() != name;
  });
  if (!name.empty() && alone) return name;
  std::vector<std::string> paths;
  for (const RankRow& each : ranks.rows) paths.push_back(each.path);
  return VisibleText(ShortPaths(paths)[static_cast<size_t>(&row - ranks.rows.data())]);
}

std::string RankLabel(const RankTable& ranks, const std::string& path) {
  const auto row = std::ranges::find(ranks.rows, path, &RankRow::path);
  return row == ranks.rows.end() ? path : RankLabel(ranks, *row);
}

std::string ComparedText(const RankTable& ranks) {
  const auto compared = std::ranges::count_if(
      ranks.rows, [](const RankRow& row) { return row.complete && row.window.ns > 0; });
  if (compared == std::ssize(ranks.rows)) return "";
  return fmt::format("of the {} of {} ranks {}, ", compared, ranks.rows.size(),
                     std::ranges::all_of(ranks.rows, &RankRow::complete)
                         ? "with device work"
                         : "with whole device times");
}

std::string StragglerText(const RankTable& ranks) {
  const std::optional<Straggler> straggler = FindStraggler(ranks);
  if (!straggler) return "";
  const std::string label = RankLabel(ranks, ranks.rows[straggler->row]);
  if (straggler->sign == Straggler::Sign::kLeastCollectives) {
    return fmt::format(
        "{} is in collectives for {}, the median of the others for {}: they may be waiting for "
        "it",
        label, FormatDuration(straggler->time), FormatDuration(straggler->others));
  }
  std::string clause =
      fmt::format("{} computes longest: {}", label, FormatDuration(straggler->time));
  if (straggler->others.ns > 0) {
    clause +=
        fmt::format(", {} % more than the median of the others",
                    FormatPercent(ShareOf(straggler->time - straggler->others, straggler->others)));
  }
  return clause;
}

}  // namespace tacho
