#pragma once

#include <cstdint>
#include <vector>

#include "model/requests.h"

namespace tacho {

// What the record of a request says about when an engine may have worked on it.
struct TokenTimes {
  static constexpr int32_t kAnyNumber = 1 << 20;

  bool any = false;  // false: the request was never sent, so it was in no step
  TimeNs sent;       // no step that starts earlier had the request
  TimeNs over;       // no step that starts later had the request
  // Token i had arrived at TokenTimesOf::arrivals[first + i] at the latest.
  size_t first = 0;
  uint32_t tokens = 0;
  // How many tokens the engine may have made beyond those that arrived. A request that ended with
  // its last token may be in one more step (asynchronous scheduling), or in two until the front end
  // stops it. A request that the client gave up goes on until the engine notices.
  int32_t more = 0;
  // The answer was complete and reached its token limit, so the engine may have known beforehand
  // which step makes its last token.
  bool at_limit = false;
  int64_t prompt_most = 0;   // tokens of the prompt; INT64_MAX if not known
  int64_t prompt_least = 0;  // prompt tokens that were not cached; 0 if not known
};

// The times of all requests of a table. A chunk may hold several tokens. If the server did not say
// how many, each chunk is taken to hold at least one. Token k then arrived with chunk k at the
// latest, or with the last chunk if there are fewer chunks.
struct TokenTimesOf {
  std::vector<TokenTimes> requests;
  std::vector<TimeNs> arrivals;

  explicit TokenTimesOf(const RequestTable& table);
};

}  // namespace tacho
