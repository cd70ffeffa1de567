#include "net/request_parser.h"

#include <fmt/format.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <limits>

#include "net/url.h"

namespace tacho {
namespace {

namespace http = boost::beast::http;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestParser::Inside {
  http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser(uint32_t most_head) : inside_(std::make_unique<Inside>()) {
  inside_->parser.header_limit(most_head);
  // Unlimited. boost::none would make any length too long.
  inside_->parser.body_limit(std::numeric_limits<uint64_t>::max());
}

RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

RequestParser::State RequestParser::Break(int status, std::string text) {
  bad_status_ = status;
  bad_text_ = std::move(text);
  return State::kBad;
}

RequestParser::State RequestParser::Feed(std::string_view& input) {
  auto& parser = inside_->parser;
  if (limited_ && body_length() > most_body_) return TooLong();
  // Beast reports a request without a body as done when its head is.
  while (!input.empty() && (!parser.is_header_done() || (limited_ && !parser.is_done()))) {
    boost::beast::error_code error;
    const size_t taken = parser.put(boost::asio::buffer(input.data(), input.size()), error);
    input.remove_prefix(taken);
    if (error == http::error::need_more) break;
    if (error == http::error::body_limit) return TooLong();
    if (error) return Break(error == http::error::header_limit ? 431 : 400, error.message());
    if (taken == 0) break;
  }
  if (parser.is_header_done() && !limited_) {
    ReadHead();
    return State::kHead;
  }
  return parser.is_done() ? State::kDone : State::kNeedsMore;
}

RequestParser::State RequestParser::TooLong() {
  return Break(413, fmt::format("a body of more than {} bytes", most_body_));
}

uint64_t RequestParser::body_length() const {
  const auto length = inside_->parser.content_length();
  return length ? *length : 0;
}

void RequestParser::LimitBody(uint64_t most) {
  limited_ = true;
  most_body_ = most;
  inside_->parser.body_limit(most);
  inside_->parser.eager(true);
}

uint64_t RequestParser::body_bytes() const { return inside_->parser.get().body().size(); }

bool RequestParser::started() const { return inside_->parser.got_some(); }
bool RequestParser::head_done() const { return inside_->parser.is_header_done(); }
bool RequestParser::wants_continue() const {
  const auto& request = inside_->parser.get();
  return head_done() && !inside_->parser.is_done() && request.version() >= 11 &&
         boost::beast::iequals(request[http::field::expect], "100-continue");
}
bool RequestParser::keep_alive() const { return inside_->parser.keep_alive(); }
bool RequestParser::takes_chunks() const { return inside_->parser.get().version() >= 11; }

void RequestParser::ReadHead() {
  const auto& message = inside_->parser.get();
  head_.method = View(message.method_string());
  std::string_view target = View(message.target());
  // The form for proxies, "http://host/path".
  if (const size_t scheme = target.find("://");
      scheme != std::string_view::npos && !target.starts_with('/')) {
    const size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  const size_t question = target.find('?');
  head_.path = PercentDecode(target.substr(0, question));
  if (question != std::string_view::npos) head_.query = target.substr(question + 1);
  for (const auto& field : message) {
    head_.headers.push_back(
        {std::string(View(field.name_string())), std::string(View(field.value()))});
  }
}

ServerRequest RequestParser::Take() {
  head_.body = std::move(inside_->parser.get().body());
  return std::move(head_);
}

std::string_view ReasonOf(int status) {
  return View(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status))));
}

}  // namespace tacho
