#pragma once

#include "analysis/requests/possible_seats.h"

namespace tacho {

// Narrows the steps that can have made a first token, by how many prompts and prompt tokens the
// steps read. Narrow() assumes that all requests of the engine are in the records.
//
// A request is reading while it has been sent and has no token yet.
// - If a step reads as many prompts as there are requests that may be reading at that time, it
//   reads the prompts of all of them. So none of these requests has its first token earlier.
// - A step that reads one prompt reads no more tokens than that prompt has.
// - The steps up to the first token have read the whole prompt, except what was cached.
// A step that reads one token may be the server's check of its own health (SGLang), which has no
// record.
class PromptNarrowing {
 public:
  // `alone[slot]`: no recorded request can be in flight during the slot's step, so the step belongs
  // to other requests.
  PromptNarrowing(const StepRooms& rooms, const TokenTimesOf& times, std::vector<bool> alone);

  // Narrows the ranges of first tokens by the numbers of prompt tokens. This is right even if the
  // engine also serves others. Returns whether any range changed. Cost: O(requests log slots).
  bool Trim(PossibleSeats& seats) const;
  // Like Trim, but also uses the numbers of prompts. Cost: that of Trim, and a look at up to
  // kMostLooks slots for each request.
  bool Narrow(PossibleSeats& seats);
  // After Narrow: whether some step reads more prompts than there are requests that may be reading.
  [[nodiscard]] bool lacks_readers() const { return lacks_readers_; }

  static constexpr int32_t kMostLooks = 64;

 private:
  // The prompt slots where the request may be reading: the first one, and one past the last one.
  [[nodiscard]] SeatRange ReadingIn(const Seating& seating) const;
  [[nodiscard]] bool TooLarge(int32_t slot, const Seating& seating) const;
  [[nodiscard]] bool MayBeCheck(size_t slot) const;
  bool TrimOne(Seating& seating) const;
  void CountReaders(const PossibleSeats& seats);

  const StepRooms& rooms_;
  const TokenTimesOf& times_;
  std::vector<bool> alone_;
  // By slot: the prompt tokens of all earlier slots; empty: unknown.
  std::vector<int64_t> tokens_before_;
  std::vector<int64_t> readers_;  // by slot: requests that may be reading there
  bool lacks_readers_ = false;
};

}  // namespace tacho
