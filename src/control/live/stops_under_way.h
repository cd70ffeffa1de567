#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <stop_token>

#include "control/live/start_stop.h"

namespace tacho {

// Pending stops (StopAll), each on its own thread, because an engine answers a stop only at the end
// of its flush, seconds or minutes later. A worker is a number below `workers`. The destructor
// abandons pending stops.
class StopsUnderWay {
 public:
  StopsUnderWay(HttpClient& client, size_t workers, std::chrono::milliseconds patience)
      : client_(client), patience_(patience), took_ns_(workers) {}
  ~StopsUnderWay() { GiveUp(); }

  // Sends the worker's stop, unless one is already pending.
  void Ask(size_t worker, PlannedStop stop);
  [[nodiscard]] bool Asked(size_t worker) const { return asked_.contains(worker); }
  // The time since the worker's stop was sent; 0 if none was sent.
  [[nodiscard]] int64_t ElapsedNs(size_t worker) const;
  // How long the answer to the worker's last stop took; nullopt until it comes.
  [[nodiscard]] std::optional<int64_t> TookNs(size_t worker) const;
  // Waits for at most `most`. Returns whether all stops are answered.
  [[nodiscard]] bool AllAnswered(std::chrono::milliseconds most) const;
  // Abandons the pending stops: they end as kNoAnswer.
  void GiveUp() { leave_.request_stop(); }
  // Returns the answers, by worker. Waits for missing ones; new stops can be sent afterwards.
  std::map<size_t, ControlOutcome> Take();

 private:
  struct Stop {
    int64_t sent_ns = 0;
    std::future<ControlOutcome> answer;
  };

  HttpClient& client_;
  const std::chrono::milliseconds patience_;
  std::stop_source leave_;
  std::deque<std::atomic<int64_t>> took_ns_;  // by worker; 0: no answer yet
  std::map<size_t, Stop> asked_;
};

}  // namespace tacho
