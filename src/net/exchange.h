#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/exchange_error.h"
#include "net/http_client.h"
#include "net/keys.h"
#include "net/response_parser.h"
#include "net/url.h"

namespace tacho {

// One request and its answer: calls the sink, keeps the times, and ends the exchange. A derived
// class transports the bytes. Prepared on any thread, then used only on the client's loop thread.
class Exchange : public ResponseTaker {
 public:
  Exchange(uint64_t number, HttpRequest request, std::shared_ptr<HttpSink> sink);

  // Checks the request, and adds to its headers those of `keys` that may go to this server. kUsage:
  // a bad URL or method, or a header that would break the request.
  Result<void> Check(const Keys& keys);

  virtual void Begin() = 0;
  // Detaches the exchange from its connection, which then calls it no more.
  virtual void Leave() = 0;

  uint64_t number() const { return number_; }
  const HttpRequest& request() const { return request_; }
  const HttpSink* sink() const { return sink_.get(); }
  const Url& url() const { return url_; }
  const HttpTimes& times() const { return times_; }
  int64_t last_bytes_ns() const { return last_bytes_ns_; }

  // Call it when the exchange is cancelled: from now on the sink gets only the last call.
  void Mute();
  // Call it when the connection is open and the request goes out next. False if the request was
  // sent too often already.
  bool AboutToSend();
  // Sets the arrival time of the next bytes. A time before the request went out is impossible and
  // is replaced by the current time. Times never decrease.
  void FoundAt(int64_t at_ns);
  // Says that the client reads the next bytes late: those that came until `until_ns`.
  void FoundLate(int64_t until_ns);
  // Says that the kernel gave the next bytes no time.
  void HasNoStamp() { times_.by_kernel = false; }
  bool TakeHead(const ResponseHead& head) override;
  bool TakeBody(std::string_view bytes) override;

  // These set how the exchange will end; only the first call counts.
  void GiveUp(const std::string& message);
  void GiveUp(Breakdown what, std::string detail = {}, int os_error = 0, int64_t whole_body = -1);
  void GiveUp(Error error);
  void GiveUpIdle();  // no byte came for idle_timeout
  void GiveUpEndlessHead();
  // Makes the last call to the sink.
  void End();

 private:
  const std::shared_ptr<HttpSink> sink_;
  int64_t last_bytes_ns_ = 0;
  HttpTimes times_;
  const uint64_t most_body_;
  uint64_t body_bytes_ = 0;
  bool has_head_ = false, muted_ = false;
  int attempts_ = 0;
  const uint64_t number_;
  Url url_;
  std::optional<Error> error_;

 protected:
  HttpRequest request_;
};

}  // namespace tacho
