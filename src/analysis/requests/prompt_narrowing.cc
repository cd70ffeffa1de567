#include "analysis/requests/prompt_narrowing.h"

#include <algorithm>
#include <utility>

namespace tacho {

PromptNarrowing::PromptNarrowing(const StepRooms& rooms, const TokenTimesOf& times,
                                 std::vector<bool> alone)
    : rooms_(rooms), times_(times), alone_(std::move(alone)) {
  if (std::ranges::any_of(rooms.prompt_tokens, [](int64_t tokens) { return tokens < 0; })) return;
  tokens_before_.push_back(0);
  for (const int64_t tokens : rooms.prompt_tokens)
    tokens_before_.push_back(AddSaturated(tokens_before_.back(), tokens));
}

SeatRange PromptNarrowing::ReadingIn(const Seating& seating) const {
  const auto slots = static_cast<int32_t>(rooms_.prompts.size());
  const auto from = static_cast<int32_t>(rooms_.prompts_before[seating.waits_from]);
  return {from, std::max(from, std::min(seating.first_token.last + 1, slots))};
}

bool PromptNarrowing::TooLarge(int32_t slot, const Seating& seating) const {
  const auto at = static_cast<size_t>(slot);
  return rooms_.prompts[at].tokens.most == 1 &&
         rooms_.prompt_tokens[at] > times_.requests[seating.request].prompt_most;
}

bool PromptNarrowing::MayBeCheck(size_t slot) const {
  return rooms_.prompts[slot].tokens.most == 1 && rooms_.prompt_tokens[slot] == 1;
}

bool PromptNarrowing::TrimOne(Seating& seating) const {
  SeatRange& range = seating.first_token;
  const SeatRange before = range;
  const int64_t least = times_.requests[seating.request].prompt_least;
  const auto slots = static_cast<int32_t>(rooms_.prompts.size());
  if (least > 0 && !tokens_before_.empty() && seating.waits_from > 0) {
    // The first slot by which the steps since the request was sent have read `least` tokens.
    const auto from = rooms_.prompts_before[seating.waits_from];
    const auto enough =
        std::ranges::lower_bound(tokens_before_.begin() + from + 1, tokens_before_.end(),
                                 AddSaturated(tokens_before_[from], least));
    range.first = std::max(range.first, static_cast<int32_t>(enough - tokens_before_.begin()) - 1);
  }
  while (range.first >= 0 && range.first <= range.last && range.first < slots &&
         TooLarge(range.first, seating))
    ++range.first;
  while (range.last >= 0 && range.first <= range.last && range.last < slots &&
         TooLarge(range.last, seating))
    --range.last;
  return !(before == range);
}

void PromptNarrowing::CountReaders(const PossibleSeats& seats) {
  readers_.assign(rooms_.prompts.size() + 1, 0);
  std::vector<int64_t> excluded(rooms_.prompts.size(), 0);
  for (const Seating& seating : seats.seatings) {
    if (!seating.fits) continue;
    const SeatRange reading = ReadingIn(seating);
    ++readers_[static_cast<size_t>(reading.first)];
    --readers_[static_cast<size_t>(reading.last)];
    for (int32_t slot = reading.first;
         slot < reading.last && reading.last - reading.first <= kMostLooks; ++slot)
      excluded[static_cast<size_t>(slot)] += TooLarge(slot, seating) ? 1 : 0;
  }
  int64_t reading = 0;
  for (size_t slot = 0; slot < rooms_.prompts.size(); ++slot) {
    reading += readers_[slot];
    readers_[slot] = reading - excluded[slot];
    const int64_t needs = rooms_.prompts[slot].tokens.most;
    if (needs == SlotProblem::kNoLimit || alone_[slot]) continue;
    lacks_readers_ |= readers_[slot] < needs && !MayBeCheck(slot);
  }
}

bool PromptNarrowing::Trim(PossibleSeats& seats) const {
  bool changed = false;
  for (Seating& seating : seats.seatings) {
    if (seating.fits && times_.requests[seating.request].tokens > 0) changed |= TrimOne(seating);
  }
  return changed;
}

bool PromptNarrowing::Narrow(PossibleSeats& seats) {
  bool changed = Trim(seats);
  CountReaders(seats);
  // all_read[i]: the last slot before `i` that reads the prompts of all requests that may be
  // reading.
  std::vector<int32_t> all_read(rooms_.prompts.size() + 1, -1);
  for (size_t slot = 0; slot < rooms_.prompts.size(); ++slot) {
    const bool all =
        !alone_[slot] && !MayBeCheck(slot) && readers_[slot] == rooms_.prompts[slot].tokens.most;
    all_read[slot + 1] = all ? static_cast<int32_t>(slot) : all_read[slot];
  }
  for (Seating& seating : seats.seatings) {
    if (!seating.fits || seating.optional) continue;
    if (times_.requests[seating.request].tokens == 0) continue;
    const SeatRange reading = ReadingIn(seating);
    const bool looked = reading.last - reading.first <= kMostLooks;
    int32_t slot = all_read[static_cast<size_t>(reading.last)];
    while (slot >= reading.first && looked && TooLarge(slot, seating))
      slot = all_read[static_cast<size_t>(slot)];
    if (slot < reading.first || slot <= seating.first_token.first) continue;
    seating.first_token.first = slot;
    changed = true;
  }
  return changed;
}

}  // namespace tacho
