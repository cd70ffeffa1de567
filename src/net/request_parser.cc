#include "net/request_parser.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "net/url.h"

namespace tacho {
namespace {

namespace http = boost::beast::http;

constexpr uint32_t kMostHead = 64 * 1024;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestParser::Inside {
  http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser(uint64_t most_body) : inside_(std::make_unique<Inside>()) {
  inside_->parser.eager(true);
  inside_->parser.header_limit(kMostHead);
  inside_->parser.body_limit(most_body);
}

RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

RequestParser::State RequestParser::Feed(std::string_view& input) {
  auto& parser = inside_->parser;
  while (!input.empty() && !parser.is_done()) {
    boost::beast::error_code error;
    const size_t taken = parser.put(boost::asio::buffer(input.data(), input.size()), error);
    input.remove_prefix(taken);
    if (error == http::error::need_more) break;
    if (error) {
      bad_status_ = error == http::error::body_limit     ? 413
                    : error == http::error::header_limit ? 431
                                                         : 400;
      bad_text_ = error.message();
      return State::kBad;
    }
    if (taken == 0) break;
  }
  return parser.is_done() ? State::kDone : State::kNeedsMore;
}

bool RequestParser::started() const { return inside_->parser.got_some(); }
bool RequestParser::head_done() const { return inside_->parser.is_header_done(); }
bool RequestParser::wants_continue() const {
  const auto& request = inside_->parser.get();
  return head_done() && !inside_->parser.is_done() && request.version() >= 11 &&
         boost::beast::iequals(request[http::field::expect], "100-continue");
}
bool RequestParser::keep_alive() const { return inside_->parser.keep_alive(); }
bool RequestParser::takes_chunks() const { return inside_->parser.get().version() >= 11; }

ServerRequest RequestParser::Take() {
  auto& message = inside_->parser.get();
  ServerRequest request;
  request.method = View(message.method_string());
  std::string_view target = View(message.target());
  // A proxy's form, "http://host/path".
  if (const size_t scheme = target.find("://");
      scheme != std::string_view::npos && !target.starts_with('/')) {
    const size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  const size_t question = target.find('?');
  request.path = PercentDecode(target.substr(0, question));
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  for (const auto& field : message) {
    request.headers.push_back(
        {std::string(View(field.name_string())), std::string(View(field.value()))});
  }
  request.body = std::move(message.body());
  return request;
}

std::string_view ReasonOf(int status) {
  return View(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status))));
}

}  // namespace tacho
