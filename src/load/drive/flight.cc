#include "load/drive/flight.h"

#include <algorithm>

#include "base/clock_pair.h"
#include "base/monotonic_clock.h"
#include "base/parse_number.h"
#include "base/time.h"
#include "net/http_date.h"

namespace tacho {

namespace {

// The Retry-After header in seconds; -1 if there is none. The header may also be a date. The result
// is then the time until that date, counted from the server's Date header or else from our own
// clock.
int64_t RetryAfter(const std::vector<HttpHeader>& headers) {
  const std::string_view after = FindHeader(headers, "Retry-After");
  if (const auto seconds = ParseWhole<int64_t>(after)) return std::max<int64_t>(-1, *seconds);
  const auto until = ParseHttpDate(after);
  if (!until) return -1;
  const auto now = ParseHttpDate(FindHeader(headers, "Date"));
  return std::max<int64_t>(0, *until - now.value_or(ReadClocks().unix_ns / kNsPerSecond));
}

}  // namespace

void Flight::OnSent(int64_t at_ns) {
  record_.sent_ns = at_ns;
  ++record_.attempts;
}

void Flight::OnHead(int status, const std::vector<HttpHeader>& headers, int64_t at_ns) {
  retry_after_s_ = RetryAfter(headers);
  reader_.OnHead(status, at_ns);
}

void Flight::OnBody(std::string_view bytes, int64_t at_ns) {
  reader_.OnBody(bytes, at_ns);
  on_tokens_(*this);
}

void Flight::EndBecause(Ending ending, std::string why) {
  ending_ = ending;
  why_ = std::move(why);
}

int64_t Flight::LastProgressNs() const {
  return std::max({record_.last_token_ns, record_.sent_ns, record_.handed_ns});
}

void Flight::OnEnd(const Result<HttpTimes>& times) {
  record_.ended_ns = MonotonicNs();
  std::string broken;
  if (times) {
    record_.ended_ns = times->ended_ns;
    record_.by_kernel = times->by_kernel;
    if (record_.first_byte_ns == 0) record_.first_byte_ns = times->first_byte_ns;
  } else if (ending_ == Ending::kLingers) {
    broken = "";
  } else {
    broken = ending_ == Ending::kNone ? times.error().message : why_;
  }
  reader_.OnEnd(broken);
  // An answer that is complete all the same counts as done.
  if (ending_ == Ending::kEndOfLoad && record_.status != RequestStatus::kDone) {
    record_.status = RequestStatus::kCancelled;
    record_.error = why_;
  }
  on_end_(*this);
}

}  // namespace tacho
