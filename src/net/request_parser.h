#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http_server.h"

namespace tacho {

// Parses one HTTP/1 request as its bytes come. Uses Boost.Beast's parser, but does not include
// Beast's headers here.
class RequestParser {
 public:
  // `most_head`: in bytes; a longer head is refused with 431.
  explicit RequestParser(uint32_t most_head);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  enum class State { kNeedsMore, kHead, kDone, kBad };

  // Takes what it can use from the front of `input`; pass the rest again together with the bytes
  // that come next. Returns kHead once, when the head is complete, and takes no byte of the body
  // before LimitBody is called.
  State Feed(std::string_view& input);

  // After kHead: the request without its body.
  const ServerRequest& head() const { return head_; }
  // Bytes of the body as the head states them; 0 if it does not.
  uint64_t body_length() const;
  // A longer body is refused with 413.
  void LimitBody(uint64_t most);
  uint64_t body_bytes() const;  // received so far

  // After kBad: the status, and a text for the client.
  int bad_status() const { return bad_status_; }
  const std::string& bad_text() const { return bad_text_; }

  bool started() const;  // at least one byte of the request has come
  bool head_done() const;
  bool wants_continue() const;  // the client waits for "100 Continue" before it sends the body
  // These are valid after kDone.
  bool keep_alive() const;
  bool takes_chunks() const;  // the client speaks HTTP/1.1
  ServerRequest Take();

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
  State Break(int status, std::string text);
  State TooLong();
  void ReadHead();

  ServerRequest head_;
  uint64_t most_body_ = 0;
  bool limited_ = false;
  int bad_status_ = 0;
  std::string bad_text_;
};

// The reason phrase of a status: "Not Found" for 404; "" for an unknown status.
std::string_view ReasonOf(int status);

}  // namespace tacho
