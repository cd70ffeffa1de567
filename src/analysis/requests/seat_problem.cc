#include "analysis/requests/seat_problem.h"

#include <algorithm>

namespace tacho {

SeatProblem::SeatProblem(const PossibleSeats& seats, const StepRooms& rooms,
                         const TokenTimesOf& times, const std::vector<bool>& needs,
                         bool knows_limit)
    : times_(times),
      knows_limit_(knows_limit),
      answers_(seats.answer_slots()),
      prompts_(seats.prompt_slots()) {
  problem_.slots = rooms.answers;
  for (size_t slot = 0; slot < rooms.answers.size(); ++slot) {
    if (!needs[slot]) problem_.slots[slot].tokens.least = 0;
  }
  problem_.slots.insert(problem_.slots.end(), rooms.prompts.begin(), rooms.prompts.end());
  for (uint32_t i = 0; i < seats.seatings.size(); ++i) {
    if (!seats.seatings[i].fits) continue;
    if (times.requests[seats.seatings[i].request].tokens > 0) AddFirst(seats, i);
    AddLater(seats, i);
  }
  for (SlotProblem::Slot& slot : problem_.slots) slot.tokens.least = std::max(0, slot.tokens.least);
}

void SeatProblem::AddFirst(const PossibleSeats& seats, uint32_t seating) {
  const Seating& of = seats.seatings[seating];
  AddRun({seating, 0, 1}, &of.first_token, static_cast<uint32_t>(answers_), prompts_, {},
         of.optional);
}

void SeatProblem::AddLater(const PossibleSeats& seats, uint32_t seating) {
  const Seating& of = seats.seatings[seating];
  const SeatRange* later = seats.seats.data() + of.seats;
  const TokenTimes& times = times_.requests[of.request];
  const More more{knows_limit_ && times.at_limit ? 0 : times.more, of.more_first, of.over};
  const bool any_more = more.tokens > 0 && more.first <= more.last;
  for (uint32_t first = 0; first < of.later;) {
    uint32_t end = first + 1;
    while (end < of.later && later[end].first <= later[end - 1].last) ++end;
    const bool joins = any_more && end == of.later && more.first <= later[end - 1].last;
    AddRun({seating, first + 1, end + 1}, later + first, 0, answers_, joins ? more : More{},
           of.optional);
    if (joins) return;
    first = end;
  }
  if (any_more)
    AddRun({seating, of.later + 1, of.later + 1}, nullptr, 0, answers_, more, of.optional);
}

void SeatProblem::AddRun(const Part& part, const SeatRange* ranges, uint32_t base, int32_t slots,
                         const More& more, bool optional) {
  const uint32_t tokens = part.end - part.first;
  const int32_t first = std::max(0, tokens > 0 ? ranges[0].first : more.first);
  const int32_t last =
      std::min(slots - 1, std::max(tokens > 0 ? ranges[tokens - 1].last : -1, more.last));
  if (last < first) return;
  if (tokens == 1 && ranges[0].fixed() && more.last < 0 && !optional) {
    CountBounds& room = problem_.slots[base + static_cast<uint32_t>(first)].tokens;
    --room.least;
    if (room.most < SlotProblem::kNoLimit) --room.most;
    return;
  }
  problem_.runs.push_back({base + static_cast<uint32_t>(first),
                           static_cast<uint32_t>(last - first + 1), problem_.placed.size(), false});
  parts_.push_back(part);
  uint32_t begun = 0, due = 0;
  int32_t extra = 0;
  for (int32_t slot = first - 1; slot <= last; ++slot) {
    // -1 stands for all slots before the first one of the engine.
    while (begun < tokens && ranges[begun].first <= slot) ++begun;
    while (due < tokens && ranges[due].last <= slot) ++due;
    if (slot >= more.first && slot <= more.last && slot >= 0)
      extra = std::min(more.tokens,
                       extra + problem_.slots[base + static_cast<uint32_t>(slot)].most_of_one);
    problem_.placed.push_back(
        {optional ? 0 : static_cast<int32_t>(due), static_cast<int32_t>(begun) + extra});
  }
}

void SeatProblem::ReadBack(PossibleSeats& seats, size_t run) const {
  const SlotProblem::Run& of = problem_.runs[run];
  const CountBounds* placed = problem_.placed.data() + of.placed;
  const Part& part = parts_[run];
  Seating& seating = seats.seatings[part.seating];
  const int32_t base = of.first_slot >= static_cast<uint32_t>(answers_) ? answers_ : 0;
  const int32_t before = static_cast<int32_t>(of.first_slot) - base - 1;
  uint32_t begun = 0, due = 0;  // indices into `placed`
  for (uint32_t token = part.first; token < part.end; ++token) {
    SeatRange& range = token == 0 ? seating.first_token : seats.seats[seating.seats + token - 1];
    const auto number = static_cast<int32_t>(token - part.first) + 1;
    while (begun <= of.slots && placed[begun].most < number) ++begun;
    while (due <= of.slots && placed[due].least < number) ++due;
    if (begun <= of.slots) {
      range.first = std::max(range.first, before + static_cast<int32_t>(begun));
    } else if (range.last >= (token == 0 ? prompts_ : answers_)) {
      range.first = range.last;
    } else {
      seating.fits = false;
    }
    if (due <= of.slots) range.last = std::min(range.last, before + static_cast<int32_t>(due));
  }
}

SlotFit SeatProblem::Solve(PossibleSeats& seats, std::vector<bool>& needed, uint64_t work) {
  const SlotFit fit = SolveSlots(problem_, work);
  if (fit != SlotFit::kFits) return fit;
  for (size_t run = 0; run < problem_.runs.size(); ++run) {
    ReadBack(seats, run);
    if (problem_.runs[run].needed) needed[parts_[run].seating] = true;
  }
  return fit;
}

}  // namespace tacho
