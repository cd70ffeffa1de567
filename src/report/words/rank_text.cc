#include "report/words/rank_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  constexpr size_t kLongest = 32;  // the column of sessions is never cut, so they must be short
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

namespace {

// Up to ten in words: "seven ranks'"; more as a number: "12 ranks'".
std::string OfRanksInWords(size_t count) {
  constexpr std::array<std::string_view, 11> kWords = {
      "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
  const std::string number =
      count < kWords.size() ? std::string(kWords[count]) : FormatCount(static_cast<int64_t>(count));
  return number + (count == 1 ? " rank's" : " ranks'");
}

// Why others wait for the rank: ", whose host was late by 264 us a step".
std::string WhyLate(const Straggler& straggler) {
  constexpr double kNearlyAll = 0.8;
  const std::string by = straggler.late_a_step
                             ? " by " + FormatDuration(*straggler.late_a_step) + " a step"
                             : std::string();
  const std::string later =
      straggler.late_a_step
          ? " came " + FormatDuration(*straggler.late_a_step) + " a step later: it"
          : std::string();
  if (straggler.why_share < kNearlyAll || straggler.why == Straggler::Why::kUnknown) {
    const std::string mostly =
        straggler.why == Straggler::Why::kUnknown
            ? std::string()
            : fmt::format(", {} % of it for {}", FormatPercent(straggler.why_share),
                          SkewCauseText(straggler.main));
    return ", which was late" + by + mostly;
  }
  switch (straggler.why) {
    case Straggler::Why::kHost:
      return ", whose host was late" + by;
    case Straggler::Why::kCompute:
      return fmt::format(", which{} computes longer, mostly {}", later, straggler.main.category);
    case Straggler::Why::kCopies:
      return fmt::format(", which{} copies longer", later);
    case Straggler::Why::kCollectives:
      return fmt::format(", which{} is in other collectives longer", later);
    case Straggler::Why::kIdle:
      return fmt::format(", which{} is idle longer, mostly {}", later,
                         IdleCauseId(straggler.main.idle));
    case Straggler::Why::kUnknown:
      break;
  }
  return "";
}

}  // namespace

std::string SkewCauseText(const SkewCause& cause) {
  switch (cause.kind) {
    case SkewCause::Kind::kIdle:
      return "idle time (" + std::string(IdleCauseId(cause.idle)) + ")";
    case SkewCause::Kind::kCompute:
      return "compute (" + cause.category + ")";
    case SkewCause::Kind::kCopies:
      return "copies";
    case SkewCause::Kind::kCollectives:
      return "other collectives";
    case SkewCause::Kind::kPace:
      return "launches, as slow on each rank";
    case SkewCause::Kind::kUnknown:
    case SkewCause::Kind::kTooShort:
      break;
  }
  return "unknown causes";
}

std::string ApartText(const RanksApart::Apart& apart) {
  const auto against = [&](std::string_view what) {
    return fmt::format("{} {} %, others {} %", what, FormatPercent(apart.own),
                       FormatPercent(apart.others));
  };
  switch (apart.figure) {
    case RanksApart::Figure::kWaitedFor:
      return fmt::format("waited for: {} % of the others' time", FormatPercent(apart.own));
    case RanksApart::Figure::kLost:
      return "work is missing";
    case RanksApart::Figure::kNoWork:
      return "no device time";
    case RanksApart::Figure::kBusy:
      return against("busy");
    case RanksApart::Figure::kCompute:
      return against("compute");
    case RanksApart::Figure::kExposedComm:
      return against("exposed comm.");
    case RanksApart::Figure::kIdle:
      break;
  }
  return against("idle");
}

std::vector<std::string> RestTexts(const RanksApart& ranks) {
  constexpr size_t kMostWorkers = 8;
  std::vector<RanksApart::Rest> rest = ranks.rest;
  const size_t workers = rest.size();
  if (workers > kMostWorkers) {
    for (size_t i = 1; i < workers; ++i) {
      rest[0].ranks += rest[i].ranks;
      rest[0].least_busy = std::min(rest[0].least_busy, rest[i].least_busy);
      rest[0].most_busy = std::max(rest[0].most_busy, rest[i].most_busy);
    }
    rest.resize(1);
  }
  std::vector<std::string> texts;
  for (const RanksApart::Rest& of : rest) {
    const std::string worker = rest.size() > 1 ? VisibleText(of.worker) + ": " : "";
    const std::string in = workers > kMostWorkers ? fmt::format(" in {} workers", workers) : "";
    texts.push_back(fmt::format("{}{} {}{}: busy {} to {} %", worker,
                                FormatCount(static_cast<int64_t>(of.ranks)),
                                ranks.apart.empty() ? "ranks" : "others", in,
                                FormatPercent(of.least_busy), FormatPercent(of.most_busy)));
  }
  return texts;
}

std::string StragglerText(const RankTable& ranks, const Straggler& straggler) {
  const std::string label = RankLabel(ranks, ranks.rows[straggler.row]);
  if (straggler.sign == Straggler::Sign::kCausesWaiting)
    return fmt::format("{} of {} time is waiting for {}{}",
                       FormatShare(straggler.time, straggler.others),
                       OfRanksInWords(straggler.waiting_ranks), label, WhyLate(straggler));
  const std::string other =
      straggler.only_other ? RankLabel(ranks, ranks.rows[*straggler.only_other]) : "";
  if (straggler.sign == Straggler::Sign::kLeastCollectives && !other.empty())
    return fmt::format("{0} is in collectives for {1}, {2} for {3}: {2} may be waiting for {0}",
                       label, FormatDuration(straggler.time), other,
                       FormatDuration(straggler.others));
  if (straggler.sign == Straggler::Sign::kLeastCollectives)
    return fmt::format(
        "{} is in collectives for {}, the median of the others for {}: they may be waiting for it",
        label, FormatDuration(straggler.time), FormatDuration(straggler.others));
  std::string clause =
      fmt::format("{} computes longest: {}", label, FormatDuration(straggler.time));
  if (straggler.others.ns > 0) {
    clause += fmt::format(", {} more than {}",
                          FormatShare(straggler.time - straggler.others, straggler.others),
                          other.empty() ? "the median of the others" : other);
  }
  return clause;
}

}  // namespace tacho
