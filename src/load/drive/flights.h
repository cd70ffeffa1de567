#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "load/drive/drive.h"
#include "load/drive/flight.h"
#include "load/drive/request_body.h"

namespace tacho {

// All in-flight requests: sends them, reports their progress, and cancels those that stall or never
// end. Used only on the client's thread. All requests must have ended before this object is
// destroyed.
class Flights {
 public:
  // Calls `job` at `at_ns` (CLOCK_MONOTONIC), unless the load has ended.
  using At = std::function<void(int64_t at_ns, std::function<void()> job)>;
  // Called when a request has ended. `retry_after_s`: seconds in the answer's Retry-After; -1
  // without that header.
  using OnEnd = std::function<void(RequestRecord record, int64_t retry_after_s)>;

  // `addresses`: for each target, its URL with the route.
  Flights(HttpClient& client, const std::vector<DriveTarget>& targets,
          std::vector<std::string> addresses, DriveProgress& progress, At at, OnEnd on_end)
      : client_(client),
        targets_(targets),
        addresses_(std::move(addresses)),
        progress_(progress),
        at_(std::move(at)),
        on_end_(std::move(on_end)) {
    for (const DriveTarget& target : targets) asked_.push_back(AskedBy(target));
  }

  bool empty() const { return flights_.empty(); }
  // Sends a request to the target with index `target`. `record` holds what is known before sending.
  void Start(RequestRecord record, size_t target, std::string body);
  // Cancels requests that got no token for longer than their target allows, and requests that are
  // not complete within their time limit.
  void GiveUpStalled(int64_t now_ns);
  void CancelAll(const std::string& why);

 private:
  struct UnderWay {
    size_t target = 0;
    std::shared_ptr<Flight> flight;
  };
  void OnTokens(Flight& flight);
  void TellTokens(Flight& flight);
  void OnEnded(Flight& flight);
  void Cancel(Flight& flight, Flight::Ending ending, std::string why);

  HttpClient& client_;
  const std::vector<DriveTarget>& targets_;
  const std::vector<std::string> addresses_;
  std::vector<AskedTokens> asked_;  // by target index
  DriveProgress& progress_;
  const At at_;
  const OnEnd on_end_;
  ChunkParser parser_;
  std::unordered_map<uint64_t, UnderWay> flights_;  // by request index
};

}  // namespace tacho
