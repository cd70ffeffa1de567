#include "load/drive/flights.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/time.h"
#include "net/exchange_error.h"
#include "net/url.h"

namespace tacho {
namespace {

// Longest wait after [DONE] for the end of the exchange.
constexpr int64_t kLingerNs = kNsPerSecond;

}  // namespace

void Flights::Start(RequestRecord record, size_t target, std::string body) {
  const DriveTarget& to = targets_[target];
  const uint64_t index = record.index;
  record.url = to.url;
  auto flight = std::make_shared<Flight>(
      std::move(record), parser_, to.stream, to.keep_text,
      asked_[target].Of(record.planned_output_tokens),
      [this](std::string text) { return client_.WithoutKeys(std::move(text)); },
      [this](Flight& own) { OnTokens(own); }, [this](Flight& own) { OnEnded(own); });
  HttpRequest http;
  flight->target = target;
  if (target < progress_.targets.size()) ++progress_.targets[target].running;
  http.method = "POST";
  http.url = addresses_[target];
  http.headers = {{"Content-Type", "application/json"}, {"X-Request-Id", flight->record().id}};
  http.body = std::move(body);
  http.most_body = to.stream ? AnswerReader::kMostStream : AnswerReader::kMostKept;
  flight->record().handed_ns = MonotonicNs();
  flights_.emplace(index, UnderWay{target, flight});
  progress_.running = flights_.size();
  flight->stream = client_.Start(std::move(http), flight);
}

void Flights::TellTokens(Flight& flight) {
  const int64_t tokens = flight.record().output_tokens;
  progress_.output_tokens += static_cast<uint64_t>(tokens - flight.tokens_told);
  if (tokens > flight.tokens_told && flight.target < progress_.targets.size()) {
    progress_.targets[flight.target].last_token_ns = flight.record().last_token_ns;
    progress_.targets[flight.target].failures_in_row = 0;
  }
  flight.tokens_told = tokens;
}

void Flights::OnTokens(Flight& flight) {
  TellTokens(flight);
  if (std::string why = flight.reader().WhyGivenUp(); !why.empty())
    Cancel(flight, Flight::Ending::kGaveUp, std::move(why) + ": given up");
  if (!flight.reader().done_seen() || flight.lingers) return;
  flight.lingers = true;
  at_(MonotonicNs() + kLingerNs, [this, index = flight.record().index] {
    const auto found = flights_.find(index);
    if (found != flights_.end()) Cancel(*found->second.flight, Flight::Ending::kLingers, "");
  });
}

void Flights::OnEnded(Flight& flight) {
  const auto found = flights_.find(flight.record().index);
  const std::shared_ptr<Flight> keep = found->second.flight;
  const size_t target = found->second.target;
  flights_.erase(found);
  progress_.running = flights_.size();
  if (target < progress_.targets.size()) --progress_.targets[target].running;
  TellTokens(flight);
  if (!flight.record().error.empty())
    flight.record().error = client_.WithoutKeys(std::move(flight.record().error));
  // After a 404 the error names the route, because the server does not have it.
  if (const auto url = ParseUrl(addresses_[target]); flight.record().http_status == 404 && url)
    flight.record().error =
        fmt::format("POST {}: {}", url->path.substr(0, url->path.find('?')), flight.record().error);
  const RequestStatus status = flight.record().status;
  if (status == RequestStatus::kDone) {
    ++progress_.done;
  } else if (status != RequestStatus::kCancelled) {
    ++progress_.failed;
    if (target < progress_.targets.size()) ++progress_.targets[target].failures_in_row;
  }
  on_end_(std::move(flight.record()), flight.retry_after_s());
}

void Flights::Cancel(Flight& flight, Flight::Ending ending, std::string why) {
  if (flight.ending() != Flight::Ending::kNone) return;
  flight.EndBecause(ending, std::move(why));
  client_.Cancel(flight.stream);
}

void Flights::GiveUpStalled(int64_t now_ns) {
  for (const auto& [index, under_way] : flights_) {
    Flight& flight = *under_way.flight;
    const DriveTarget& target = targets_[under_way.target];
    const int64_t stall = std::chrono::nanoseconds(target.stall_timeout).count();
    const int64_t most = std::chrono::nanoseconds(target.timeout).count();
    if (stall > 0 && now_ns - flight.LastProgressNs() > stall) {
      Cancel(flight, Flight::Ending::kGaveUp,
             fmt::format("no token for {}: given up", ShowTimeout(target.stall_timeout)));
    } else if (most > 0 && now_ns - flight.record().handed_ns > most) {
      Cancel(flight, Flight::Ending::kGaveUp,
             fmt::format("not complete within {}: given up", ShowTimeout(target.timeout)));
    }
  }
}

void Flights::CancelAll(const std::string& why) {
  // Cancel is asynchronous, so `flights_` does not change during this loop.
  for (const auto& [index, under_way] : flights_)
    Cancel(*under_way.flight, Flight::Ending::kEndOfLoad, why);
}

}  // namespace tacho
