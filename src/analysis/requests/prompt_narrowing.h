#pragma once

#include "analysis/requests/possible_seats.h"

namespace tacho {

// What follows from the numbers of requests and tokens of prompts in the steps, if all requests of
// the engine are in the records.
//
// A step reads the prompts of requests that were sent before and have no token yet. If a step reads
// as many prompts as there are requests that may be reading in it, it reads all of them, so none of
// these requests has its first token before. A step that reads one prompt reads no more than its
// tokens. A prompt that is not in the cache has been read by the step that makes the first token. A
// step that reads one token may be the server's check of its own health, which has no record
// (SGLang).
class PromptNarrowing {
 public:
  // `alone`, by prompt slot: no request of the records may be in flight, so the step is not theirs.
  PromptNarrowing(const StepRooms& rooms, const TokenTimesOf& times, std::vector<bool> alone);

  // Narrows the ranges of first tokens by the tokens of prompts. This holds of an engine that
  // serves others too. Returns whether any changed. Cost: O(requests log slots).
  bool Trim(PossibleSeats& seats) const;
  // As Trim, and also by the numbers of requests. Cost: that of Trim, and a look at the slots where
  // each request may be reading, at most kMostLooks.
  bool Narrow(PossibleSeats& seats);
  // Whether some step reads more prompts than requests may be reading there.
  [[nodiscard]] bool lacks_readers() const { return lacks_readers_; }

  static constexpr int32_t kMostLooks = 64;

 private:
  // The prompt slots where it may be reading: from, and one past the last.
  [[nodiscard]] SeatRange ReadingIn(const Seating& seating) const;
  [[nodiscard]] bool TooLarge(int32_t slot, const Seating& seating) const;
  [[nodiscard]] bool MayBeCheck(size_t slot) const;
  bool TrimOne(Seating& seating) const;
  void CountReaders(const PossibleSeats& seats);

  const StepRooms& rooms_;
  const TokenTimesOf& times_;
  std::vector<bool> alone_;
  std::vector<int64_t> tokens_before_;  // prompt tokens of all slots before; empty: not known
  std::vector<int64_t> readers_;        // by slot: requests that may be reading there
  bool lacks_readers_ = false;
};

}  // namespace tacho
