#include "analysis/requests/possible_seats.h"

#include <algorithm>

namespace tacho {
namespace {

// Puts the tokens of one request into slots one by one, at most Slot::most_of_one in each.
class SlotCursor {
 public:
  SlotCursor(const std::vector<SlotProblem::Slot>& slots, int32_t at, int32_t step)
      : slots_(slots), at_(at), step_(step) {}

  // Puts the next token into the nearest slot that has room, at `bound` or beyond it in the
  // direction in which the cursor moves. Returns the slot.
  int32_t Take(int32_t bound) {
    if (step_ > 0 ? bound > at_ : bound < at_) {
      at_ = bound;
      taken_ = 0;
    }
    const int32_t slot = at_;
    if (slot < 0 || slot >= static_cast<int32_t>(slots_.size())) return slot;
    if (++taken_ >= slots_[static_cast<size_t>(slot)].most_of_one) {
      at_ += step_;
      taken_ = 0;
    }
    return slot;
  }

 private:
  const std::vector<SlotProblem::Slot>& slots_;
  int32_t at_, step_, taken_ = 0;
};

bool Raise(int32_t& value, int32_t to) {
  if (value >= to) return false;
  value = to;
  return true;
}
bool Lower(int32_t& value, int32_t to) {
  if (value <= to) return false;
  value = to;
  return true;
}

}  // namespace

PossibleSeats::PossibleSeats(const JoinEngine& engine, const StepRooms& rooms,
                             const TokenTimesOf& times)
    : engine_(&engine), rooms_(&rooms), times_(&times), error_(*engine.clock_error) {
  earliest_made_.resize(engine.steps.size());
  last_made_ = engine.steps[0].made;
  TimeNs earliest = engine.steps.back().made;
  for (size_t i = engine.steps.size(); i-- > 0;) {
    earliest = std::min(earliest, engine.steps[i].made);
    last_made_ = std::max(last_made_, engine.steps[i].made);
    earliest_made_[i] = earliest;
  }
}

uint32_t PossibleSeats::FirstFrom(TimeNs at) const {
  at.ns = AddSaturated(at.ns, -error_.ns);
  const auto found = std::ranges::lower_bound(
      engine_->steps, at, {}, [](const EngineStep& step) { return step.when.start; });
  return static_cast<uint32_t>(found - engine_->steps.begin());
}

int64_t PossibleSeats::LastUntil(TimeNs at) const {
  at.ns = AddSaturated(at.ns, error_.ns);
  const auto found = std::ranges::upper_bound(
      engine_->steps, at, {}, [](const EngineStep& step) { return step.when.start; });
  return found - engine_->steps.begin() - 1;
}

int64_t PossibleSeats::LastEnded(TimeNs at, int64_t from) const {
  at.ns = AddSaturated(at.ns, error_.ns);
  const auto steps = static_cast<int64_t>(earliest_made_.size());
  if (at >= last_made_) return steps;
  const auto has_ended = [&](int64_t step) {
    return earliest_made_[static_cast<size_t>(step)] <= at;
  };
  // The searched step is usually close to `from`, so widen the search from there.
  int64_t low = from, width = 1;
  while (low + width < steps && has_ended(low + width)) {
    low += width;
    width *= 2;
  }
  int64_t high = std::min(low + width, steps);  // this step has not ended by `at`
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (has_ended(middle) ? low : high) = middle;
  }
  return low;
}

int32_t PossibleSeats::SlotUntil(const std::vector<uint32_t>& before, int64_t step) const {
  const auto steps = static_cast<int64_t>(engine_->steps.size());
  if (step >= steps) return static_cast<int32_t>(before.back());
  return static_cast<int32_t>(before[static_cast<size_t>(step + 1)]) - 1;
}

void PossibleSeats::PlaceFirst(Seating& seating, const TokenTimes& times) {
  seating.waits_from = FirstFrom(times.sent);
  const auto from = static_cast<int32_t>(rooms_->prompts_before[seating.waits_from]);
  seating.first_token.first = seating.waits_from == 0 ? -1 : from;
  const int64_t over = LastUntil(times.over);
  const bool after = over + 1 == static_cast<int64_t>(engine_->steps.size());
  seating.over = after ? answer_slots() - 1 : SlotUntil(rooms_->answers_before, over);
  if (times.tokens == 0)
    seating.first_token.last = after ? prompt_slots() : SlotUntil(rooms_->prompts_before, over);
}

void PossibleSeats::Add(uint32_t request, bool optional) {
  const TokenTimes& times = times_->requests[request];
  Seating& seating = seatings.emplace_back();
  seating.request = request;
  seating.optional = optional;
  seating.seats = seats.size();
  PlaceFirst(seating, times);
  int64_t ended = -1;
  for (uint32_t i = 0; i < times.tokens; ++i) {
    const auto steps = static_cast<int64_t>(engine_->steps.size());
    if (ended < steps) ended = LastEnded(times_->arrivals[times.first + i], ended);
    if (i == 0) {
      seating.first_token.last = SlotUntil(rooms_->prompts_before, ended);
    } else {
      seats.push_back({-1, SlotUntil(rooms_->answers_before, ended)});
    }
  }
  seating.later = static_cast<uint32_t>(seats.size() - seating.seats);
  Order(seating);
}

bool PossibleSeats::OrderForward(Seating& seating) {
  const int32_t first = seating.first_token.first;
  int32_t next = -1;
  if (first >= prompt_slots()) {
    next = answer_slots();
  } else if (first >= 0) {
    const uint32_t step = rooms_->prompt_steps[static_cast<size_t>(first)];
    next = static_cast<int32_t>(rooms_->answers_before[step + 1]);
  }
  SlotCursor cursor(rooms_->answers, next, 1);
  bool changed = false;
  for (size_t i = seating.seats; i < seating.seats + seating.later; ++i)
    changed |= Raise(seats[i].first, cursor.Take(seats[i].first));
  seating.more_first = std::max(0, cursor.Take(-1));
  return changed;
}

bool PossibleSeats::OrderBackward(Seating& seating) {
  SlotCursor cursor(rooms_->answers, answer_slots(), -1);
  bool changed = false;
  for (size_t i = seating.seats + seating.later; i-- > seating.seats;)
    changed |= Lower(seats[i].last, cursor.Take(seats[i].last));
  if (seating.later == 0) return changed;
  const int32_t second = seats[seating.seats].last;
  if (second >= answer_slots()) return changed;
  int32_t until = -1;
  if (second >= 0) {
    const uint32_t step = rooms_->answer_steps[static_cast<size_t>(second)];
    until = static_cast<int32_t>(rooms_->prompts_before[step]) - 1;
  }
  return Lower(seating.first_token.last, until) || changed;
}

bool PossibleSeats::IsGapless(const Seating& seating) const {
  const int32_t slots = answer_slots();
  const SeatRange* later = seats.data() + seating.seats;
  const auto from = static_cast<size_t>(std::clamp(later[0].first, 0, slots));
  const auto until = static_cast<size_t>(std::clamp(later[seating.later - 1].last + 1, 0, slots));
  return from >= until || rooms_->uneven_before[from] == rooms_->uneven_before[until];
}

bool PossibleSeats::CloseGaps(Seating& seating) {
  if (seating.later == 0 || seating.first_token.first > seating.first_token.last) return false;
  if (!IsGapless(seating)) return false;
  SeatRange* later = seats.data() + seating.seats;
  bool changed = false;
  // The second token is in the first answer slot after the step that makes the first token.
  int32_t last = 0;
  if (seating.first_token.last >= prompt_slots()) {
    last = answer_slots();
  } else if (seating.first_token.last >= 0) {
    const uint32_t step = rooms_->prompt_steps[static_cast<size_t>(seating.first_token.last)];
    last = static_cast<int32_t>(rooms_->answers_before[step + 1]);
  }
  for (uint32_t i = 0; i < seating.later; ++i) {
    changed |= Lower(later[i].last, last);
    last = later[i].last + 1;
  }
  for (uint32_t i = seating.later; i-- > 1;)
    changed |= Raise(later[i - 1].first, later[i].first - 1);
  if (later[0].first <= 0) return changed;
  const uint32_t before = rooms_->answer_steps[static_cast<size_t>(later[0].first - 1)];
  const auto first = static_cast<int32_t>(rooms_->prompts_before[before]);
  return Raise(seating.first_token.first, first) || changed;
}

bool PossibleSeats::Order(Seating& seating) {
  bool changed = OrderForward(seating);
  changed |= OrderBackward(seating);
  if (gapless) changed |= CloseGaps(seating);
  const bool has_tokens = times_->requests[seating.request].tokens > 0;
  bool fits = !has_tokens || seating.first_token.first <= seating.first_token.last;
  for (size_t i = seating.seats; i < seating.seats + seating.later; ++i)
    fits &= seats[i].first <= seats[i].last;
  changed |= fits != seating.fits;
  seating.fits &= fits;
  return changed;
}

}  // namespace tacho
