#include "analysis/requests/engine_match.h"

#include <algorithm>
#include <set>

#include "analysis/requests/prompt_narrowing.h"
#include "analysis/requests/seat_problem.h"

namespace tacho {
namespace {

constexpr uint64_t kMostWork = 100'000'000;
constexpr int kMostRounds = 8;
constexpr DurationNs kFarOff{1'000'000'000};  // a clock that is further off is no use for joining

}  // namespace

template <typename Each>
void EngineMatch::ForFlights(DurationNs margin, const Each& each) const {
  for (const Seating& seating : seats_.seatings) {
    const TokenTimes& times = times_.requests[seating.request];
    const uint32_t from = seats_.FirstFrom({AddSaturated(times.sent.ns, -margin.ns)});
    const int64_t until = seats_.LastUntil({AddSaturated(times.over.ns, margin.ns)});
    if (until >= static_cast<int64_t>(from)) each(times, from, static_cast<uint32_t>(until));
  }
}

std::vector<int64_t> EngineMatch::InFlight(DurationNs margin) const {
  const auto steps = rooms_.prompts_before.size() - 1;
  std::vector<int64_t> count(steps + 1, 0);
  ForFlights(margin, [&](const TokenTimes&, uint32_t from, uint32_t until) {
    ++count[from];
    --count[until + 1];
  });
  for (size_t step = 1; step <= steps; ++step) count[step] += count[step - 1];
  return count;
}

bool EngineMatch::ReadsForeignPrompt() const {
  // SGLang reads a retracted request again with the tokens that it had generated.
  const auto longest = [](const TokenTimes& times) {
    return AddSaturated(times.prompt_most, AddSaturated(times.tokens, times.more));
  };
  const size_t steps = rooms_.prompts_before.size() - 1;
  std::vector<std::vector<int64_t>> begin(steps), end(steps);
  ForFlights(kFarOff, [&](const TokenTimes& times, uint32_t from, uint32_t until) {
    begin[from].push_back(longest(times));
    end[until].push_back(longest(times));
  });
  std::multiset<int64_t> in_flight;
  size_t slot = 0;
  for (size_t step = 0; step < steps && slot < rooms_.prompt_steps.size(); ++step) {
    in_flight.insert(begin[step].begin(), begin[step].end());
    if (rooms_.prompt_steps[slot] == step) {
      const int64_t least = in_flight.empty() ? 0 : *in_flight.rbegin();
      if (rooms_.prompts[slot].tokens.most == 1 && rooms_.prompt_tokens[slot] > least) return true;
      ++slot;
    }
    for (const int64_t over : end[step]) in_flight.erase(in_flight.find(over));
  }
  return false;
}

bool EngineMatch::OthersProven() const {
  const std::vector<int64_t> in_flight = InFlight(kFarOff);
  const auto more_than = [&](const std::vector<uint32_t>& steps,
                             const std::vector<SlotProblem::Slot>& slots, bool answers) {
    for (size_t slot = 0; slot < steps.size(); ++slot) {
      const CountBounds& tokens = slots[slot].tokens;
      const int32_t requests = answers ? tokens.least : tokens.most;
      if (requests < SlotProblem::kNoLimit && requests > in_flight[steps[slot]]) return true;
    }
    return false;
  };
  return more_than(rooms_.answer_steps, rooms_.answers, true) ||
         more_than(rooms_.prompt_steps, rooms_.prompts, false) || ReadsForeignPrompt();
}

bool EngineMatch::LimitProven() const {
  for (size_t i = 0; i < seats_.seatings.size(); ++i) {
    const Seating& seating = seats_.seatings[i];
    if (seating.optional && !needed_[i]) continue;
    const TokenTimes& times = times_.requests[seating.request];
    if (times.at_limit && seating.later > 0 && seating.first_token.first >= 0 &&
        seating.over + 1 < seats_.answer_slots())
      return true;
  }
  return false;
}

bool EngineMatch::AnyInside() const {
  return std::ranges::any_of(seats_.seatings, [&](const Seating& seating) {
    if (times_.requests[seating.request].tokens == 0) return true;
    const SeatRange* later = seats_.seats.data() + seating.seats;
    bool inside =
        seating.first_token.last >= 0 && seating.first_token.first < seats_.prompt_slots();
    for (uint32_t i = 0; i < seating.later && !inside; ++i)
      inside = later[i].last >= 0 && later[i].first < seats_.answer_slots();
    return inside;
  });
}

bool EngineMatch::AllFit() const {
  return std::ranges::all_of(
      seats_.seatings, [](const Seating& seating) { return seating.fits || seating.optional; });
}

void EngineMatch::OrderAll(bool& changed) {
  for (Seating& seating : seats_.seatings) {
    if (seating.fits) changed |= seats_.Order(seating);
  }
}

JoinWhy EngineMatch::Propagate(Served served, const std::vector<int64_t>& in_flight) {
  std::vector<bool> alone;
  for (const uint32_t step : rooms_.prompt_steps) alone.push_back(in_flight[step] == 0);
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    PromptNarrowing readers(rooms_, times_, alone);
    const bool others = served == Served::kOthersPrompts || served == Served::kOthersToo;
    changed |= others ? readers.Trim(seats_) : readers.Narrow(seats_);
    if (readers.lacks_readers()) return JoinWhy::kContradiction;
    if (changed) OrderAll(changed);
    if (!AllFit()) return JoinWhy::kContradiction;
  }
  return JoinWhy::kJoined;
}

JoinWhy EngineMatch::Match(Served served) {
  needed_.assign(seats_.seatings.size(), false);
  const bool gapless = served == Served::kRecordedGapless || served == Served::kOthersPrompts;
  const bool to_limit = gapless || served == Served::kRecordedToLimit;
  if (gapless) {
    seats_.gapless = true;
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; ++round) {
      changed = false;
      OrderAll(changed);
    }
  }
  if (!AllFit()) return JoinWhy::kContradiction;
  const std::vector<int64_t> in_flight = InFlight({});
  std::vector<bool> needs;
  for (const uint32_t step : rooms_.answer_steps)
    needs.push_back(served != Served::kOthersToo && in_flight[step] > 0);
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    const JoinWhy why = Propagate(served, in_flight);
    if (why != JoinWhy::kJoined) return why;
    SeatProblem problem(seats_, rooms_, times_, needs, to_limit);
    switch (problem.Solve(seats_, needed_, kMostWork)) {
      case SlotFit::kFitsNot:
        return JoinWhy::kContradiction;
      case SlotFit::kTooMuch:
        return JoinWhy::kTooMuch;
      case SlotFit::kFits:
        break;
    }
    OrderAll(changed);
    if (!AllFit()) return JoinWhy::kContradiction;
  }
  // No recorded request is in any step: the records and the steps are from different times.
  if (!AnyInside()) return JoinWhy::kContradiction;
  return served == Served::kOthersToo || served == Served::kOthersPrompts ? JoinWhy::kOthers
                                                                          : JoinWhy::kJoined;
}

TokenSeat EngineMatch::SeatOf(const Seating& seating, uint32_t token) const {
  const SeatRange range =
      token == 0 ? seating.first_token : seats_.seats[seating.seats + token - 1];
  const std::vector<uint32_t>& steps = token == 0 ? rooms_.prompt_steps : rooms_.answer_steps;
  const auto slots = static_cast<int32_t>(steps.size());
  const int32_t first = std::max(0, range.first), last = std::min(slots - 1, range.last);
  if (last < first) return {Fit::kOutside, false, 0, 0};
  const bool outside = range.first < 0 || range.last >= slots;
  return {first == last && !outside ? Fit::kTied : Fit::kOneOf, outside,
          steps[static_cast<size_t>(first)], steps[static_cast<size_t>(last)]};
}

}  // namespace tacho
