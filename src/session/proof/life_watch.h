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

// Finds out which engines died. Asks all engines every second, on a thread of its own. An engine is
// dead if two questions in a row find it dead and none of its counters moves between them: a
// connection may break once, /health may be wrong, and a false death would end a recording. If
// /health reports a death at the very first look, but the server still gives its metrics, that
// report never counts. The destructor waits for pending answers (kPatienceForLife).
class LifeWatch {
 public:
  // `client` and `clock` must outlive it.
  explicit LifeWatch(HttpClient& client, Clock& clock = SystemClock())
      : client_(client), clock_(clock) {}

  using Deaths = std::map<size_t, std::string>;

  // All workers that are known to be dead, by index, with the reasons. Begins the next look, at the
  // workers in `which`, when it is due.
  const Deaths& Dead(const std::vector<size_t>& which, const std::vector<RecordedWorker>& workers);

 private:
  static constexpr int64_t kLookNs = 1'000'000'000;
  struct Look {
    Deaths dead;
    Deaths ill;  // from the first look: engines reported dead although their server answers
  };

  HttpClient& client_;
  Clock& clock_;
  Deaths dead_ = {};
  std::optional<Deaths> ill_ = {};  // set once the first look is over
  int64_t next_look_ns_ = 0;
  std::future<Look> look_ = {};
};

}  // namespace tacho
