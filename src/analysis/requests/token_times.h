#pragma once

#include <cstdint>
#include <vector>

#include "model/requests.h"

namespace tacho {

// What the record of a request says about when an engine may have worked on it.
struct TokenTimes {
  static constexpr int32_t kAnyNumber = 1 << 20;

  bool any = false;  // false: it was never sent, so it was in no step
  TimeNs sent;       // no step that starts before had it
  TimeNs over;       // no step that starts later had it
  // The latest time at which token i had arrived is TokenTimesOf::arrivals[first + i].
  size_t first = 0;
  uint32_t tokens = 0;
  // How many more tokens an engine may have made than arrived. A request that ends because of its
  // last token is in one more step (asynchronous scheduling), or in two until the front end stops
  // it. A request that the client gave up goes on until the engine notices.
  int32_t more = 0;
  // It was whole and had as many tokens as it may have, so an engine may have known beforehand
  // which step makes the last one.
  bool at_limit = false;
  int64_t prompt_most = 0;   // tokens of its prompt; the largest number if not known
  int64_t prompt_least = 0;  // those that had to be read, as they were not in the cache
};

// The times of all requests of a table. A chunk may hold several tokens. Where the server did not
// say how many, each chunk had at least one: so the token with number k arrived with the chunk k at
// the latest, or with the last one.
struct TokenTimesOf {
  std::vector<TokenTimes> requests;
  std::vector<TimeNs> arrivals;

  explicit TokenTimesOf(const RequestTable& table);
};

}  // namespace tacho
