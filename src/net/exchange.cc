#include "net/exchange.h"

#include <fmt/format.h>

#include "base/monotonic_clock.h"

namespace tacho {
namespace {

// The server may close a kept-alive connection just as the request goes out; the request is then
// sent again, once.
constexpr int kMostAttempts = 2;

}  // namespace

Exchange::Exchange(uint64_t number, HttpRequest request, std::shared_ptr<HttpSink> sink)
    : sink_(std::move(sink)),
      most_body_(request.most_body),
      number_(number),
      request_(std::move(request)) {
  times_.started_ns = MonotonicNs();
}

Result<void> Exchange::Check(const Keys& keys) {
  TACHO_ASSIGN_OR_RETURN(url_, ParseUrl(request_.url));
  if (!IsHttpToken(request_.method)) {
    return Fail(ErrorKind::kUsage, url_.Origin() + ": \"" + request_.method + "\" is not a method");
  }
  for (const HttpHeader& header : request_.headers) {
    TACHO_RETURN_IF_ERROR(WithContext(CheckHeader(header), url_.Origin()));
  }
  keys.PutInto(url_, request_.headers);
  return {};
}

void Exchange::Mute() {
  muted_ = true;
  GiveUp(Error{ErrorKind::kInterrupted, "interrupted"});
}

bool Exchange::AboutToSend() {
  if (++attempts_ > kMostAttempts) {
    GiveUp("connection closed without an answer, twice: did the server die?");
    return false;
  }
  times_.sent_ns = last_bytes_ns_ = MonotonicNs();
  if (!muted_) sink_->OnSent(times_.sent_ns);
  return true;
}

void Exchange::FoundAt(int64_t at_ns) {
  // The offset between the kernel's clock and ours is known only to 2 us.
  last_bytes_ns_ = at_ns < times_.sent_ns ? MonotonicNs() : std::max(at_ns, last_bytes_ns_);
  if (times_.first_byte_ns == 0) times_.first_byte_ns = last_bytes_ns_;
}

void Exchange::FoundLate(int64_t until_ns) {
  if (!muted_) sink_->OnFoundLate(until_ns);
}

bool Exchange::TakeHead(const ResponseHead& head) {
  if (muted_) return false;
  has_head_ = true;
  sink_->OnHead(head.status, head.headers, last_bytes_ns_);
  return true;
}

bool Exchange::TakeBody(std::string_view bytes) {
  if (muted_) return false;
  if (bytes.size() > most_body_ - body_bytes_) {
    GiveUp(fmt::format("answer longer than {} bytes", most_body_));
    return false;
  }
  body_bytes_ += bytes.size();
  sink_->OnBody(bytes, last_bytes_ns_);
  return true;
}

void Exchange::GiveUp(const std::string& message) {
  GiveUp(Error{ErrorKind::kRemote, message}.WithContext(url_.Origin() +
                                                        url_.path.substr(0, url_.path.find('?'))));
}

void Exchange::GiveUp(Breakdown what, std::string detail, int os_error, int64_t whole_body) {
  GiveUp(ErrorOfExchange({.what = what,
                          .detail = std::move(detail),
                          .os_error = os_error,
                          .request = request_,
                          .url = url_,
                          .sent = times_.sent_ns != 0,
                          .has_head = has_head_,
                          .body_bytes = body_bytes_,
                          .whole_body = whole_body}));
}

void Exchange::GiveUp(Error error) {
  if (!error_) error_ = std::move(error);
}

void Exchange::GiveUpIdle() {
  const std::string time = ShowTimeout(request_.idle_timeout);
  GiveUp(has_head_ ? fmt::format("no byte for {} ({} bytes so far)", time, body_bytes_)
                   : "no answer within " + time);
}

void Exchange::GiveUpEndlessHead() {
  GiveUp(fmt::format("the headers have no end (more than {} kB): is this an engine?",
                     ResponseParser::kMostHeadBytes / 1024));
}

void Exchange::End() {
  if (error_) return sink_->OnEnd(tl::unexpected<Error>(*error_));
  times_.ended_ns = last_bytes_ns_;
  sink_->OnEnd(times_);
}

}  // namespace tacho
