#include "analysis/compare/unequal_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace tacho {
namespace {

using Why = UnequalRank::Why;

constexpr size_t kMostRanksNamed = 4;

std::string NamesOf(const std::set<std::string>& names) {
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kMostRanksNamed)
      return fmt::format("{} and {} more", text, names.size() - kMostRanksNamed);
    const bool is_last = count == names.size() && count > 1;
    text += (count == 1 ? "" : is_last ? " and " : ", ") + name;
  }
  return text;
}

// Ranks that one clause of the sentence names together.
struct AlikeRanks {
  std::set<std::string> names;
  double least = 1, most = 0;  // range of UnequalRank::share

  void Add(const UnequalRank& rank) {
    names.insert(rank.name);
    least = std::min(least, rank.share);
    most = std::max(most, rank.share);
  }
  [[nodiscard]] std::string_view Verb(std::string_view one, std::string_view several) const {
    return names.size() == 1 ? one : several;
  }
  // Such as "holds 20 % of the recording", for `of` = "recording".
  [[nodiscard]] std::string Holds(std::string_view of) const {
    const std::string low = fmt::format("{:.0f}", 100 * least),
                      high = fmt::format("{:.0f}", 100 * most);
    return fmt::format("{} {} % of the {}", Verb("holds", "hold"),
                       low == high ? low : low + " to " + high, of);
  }
  [[nodiscard]] std::string Text(Why why) const {
    switch (why) {
      case Why::kCut:
        return fmt::format("{} incomplete", Verb("is", "are"));
      case Why::kOverflow:
        return fmt::format("{} GPU work whose duration cannot be right", Verb("has", "have"));
      case Why::kUntimed:
        return fmt::format("{} no times of GPU work", Verb("has", "have"));
      case Why::kLostWork:
        return "lost GPU work";
      case Why::kLostCalls:
        return "lost launch calls";
      case Why::kNoSteps:
        return fmt::format("{} no step with all of its GPU work", Verb("has", "have"));
      case Why::kShort:
        return Holds("recording");
      case Why::kFewSteps:
        return most == 0 ? fmt::format("{} no step", Verb("has", "have")) : Holds("steps");
      case Why::kMissing:
        break;
    }
    return "";
  }
};

std::string_view SideName(bool of_base) { return of_base ? "base" : "new"; }

}  // namespace

std::string LeftOutText(const std::vector<UnequalRank>& ranks) {
  enum Sides : uint8_t { kNone, kBase, kNew, kBaseAndNew };
  struct Clause {
    Sides sides;  // the sides on which the same ranks are unequal for the same reason
    Why why;
    bool on_both, is_left_out, in_all_runs;
    auto operator<=>(const Clause&) const = default;
  };
  const auto where = [&](const UnequalRank& rank) {
    uint8_t sides = kNone;
    for (const UnequalRank& row : ranks) {
      if (row.name == rank.name && row.why == rank.why) sides |= row.of_base ? kBase : kNew;
    }
    return static_cast<Sides>(sides);
  };
  std::map<Clause, std::array<AlikeRanks, 2>> clauses;
  for (const UnequalRank& rank : ranks) {
    if (!rank.is_left_out && rank.why != Why::kMissing) continue;
    clauses[{where(rank), rank.why, rank.on_both, rank.is_left_out, rank.in_all_runs}]
           [rank.of_base ? 0 : 1]
               .Add(rank);
  }
  std::string text;
  for (const auto& [key, of_sides] : clauses) {
    for (const bool of_base : {true, false}) {
      const AlikeRanks& alike = of_sides[of_base ? 0 : 1];
      if (alike.names.empty()) continue;
      const std::string_view side = SideName(of_base);
      if (key.on_both && !of_base && key.sides == kBaseAndNew) {
        text += fmt::format(", and new's {}", alike.Text(key.why));
        continue;
      }
      text += fmt::format("{}{} ", text.empty() ? "" : "; ", NamesOf(alike.names));
      const std::string_view is = alike.Verb("is", "are");
      if (key.why == Why::kMissing)
        text += fmt::format("{} {}: {}{} has no trace of {}", is,
                            key.is_left_out ? "left out" : "compared with other ranks",
                            key.in_all_runs ? "" : "a run of ", side, alike.Verb("it", "them"));
      else if (key.on_both)
        text += fmt::format("{} left out on both sides: {}'s {}", is, side, alike.Text(key.why));
      else
        text += fmt::format("of {} {} left out: {} {}", side, is, alike.Verb("it", "they"),
                            alike.Text(key.why));
    }
  }
  return text;
}

std::string ShortRanksText(const std::vector<UnequalRank>& ranks) {
  std::string text;
  for (const bool of_base : {true, false}) {
    AlikeRanks alike;
    for (const UnequalRank& rank : ranks) {
      if (rank.why != Why::kShort || rank.is_left_out || rank.of_base != of_base) continue;
      alike.Add(rank);
    }
    if (alike.names.empty()) continue;
    text += fmt::format("{}{} of {} {}", text.empty() ? "" : ", and ", NamesOf(alike.names),
                        SideName(of_base), alike.Holds("recording"));
  }
  return text;
}

}  // namespace tacho
