#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "net/http_client.h"
#include "session/recorded_worker.h"

namespace tacho {

// Finds out which engines died. Asks every second, on another thread than the caller's. An engine
// is dead if two questions in a row say so and none of its counters moves between them: a
// connection may break once, a /health may be wrong, and a death ends a recording. What /health
// said at the first look, while the server lived, does not count as a death. The destructor waits
// for pending answers (kPatienceForLife).
class LifeWatch {
 public:
  // `client` and `clock` must outlive it.
  explicit LifeWatch(HttpClient& client, Clock& clock = SystemClock())
      : client_(client), clock_(clock) {}

  using Deaths = std::map<size_t, std::string>;

  // The dead workers of `which`, by index, and why they are dead, as known by now. Begins the next
  // look when it is due.
  const Deaths& Dead(const std::vector<size_t>& which, const std::vector<RecordedWorker>& workers);

 private:
  static constexpr int64_t kLookNs = 1'000'000'000;
  struct Look {
    Deaths dead;
    Deaths ill;  // at the first look: reported dead, although the server answers
  };

  HttpClient& client_;
  Clock& clock_;
  Deaths dead_ = {};
  std::optional<Deaths> ill_ = {};  // once the first look is over
  int64_t next_look_ns_ = 0;
  std::future<Look> look_ = {};
};

}  // namespace tacho
