#include "net/curl_exchange.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>

#include "base/words.h"
#include "net/clock.h"
#include "net/curl_error.h"
#include "net/curl_library.h"

namespace tacho {
namespace {

constexpr uint64_t kMostHeaderBytes = 256 * 1024;  // bytes of all header lines, trailers too
// A kept-alive connection may have been closed by the server just as the request went out; libcurl
// then sends it again. Once is enough.
constexpr int kMostAttempts = 2;

// Children of the program must not hold its connections open.
curl_socket_t OpenSocket(void*, curlsocktype, curl_sockaddr* address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

bool IsToken(std::string_view name) {
  constexpr std::string_view kNot = "()<>@,;:\\\"/[]?={} \t";
  return !name.empty() && !HasControl(name) && name.find_first_of(kNot) == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<CurlExchange>> CurlExchange::Prepare(uint64_t number, HttpRequest request,
                                                            uint64_t most_body,
                                                            const HttpClientOptions& options,
                                                            std::shared_ptr<HttpSink> sink) {
  std::unique_ptr<CurlExchange> exchange(
      new CurlExchange(number, std::move(request), most_body, std::move(sink)));
  TACHO_RETURN_IF_ERROR(exchange->SetUp(options));
  return exchange;
}

CurlExchange::CurlExchange(uint64_t number, HttpRequest request, uint64_t most_body,
                           std::shared_ptr<HttpSink> sink)
    : number_(number), request_(std::move(request)), most_body_(most_body), sink_(std::move(sink)) {
  times_.started_ns = MonotonicNs();
}

CurlExchange::~CurlExchange() {
  if (handle_ != nullptr) Curl()->easy_cleanup(handle_);
  Curl()->slist_free_all(header_list_);
}

CurlExchange& CurlExchange::Of(CURL* handle) {
  void* self = nullptr;
  Curl()->easy_getinfo(handle, CURLINFO_PRIVATE, &self);
  return *static_cast<CurlExchange*>(self);
}

Result<void> CurlExchange::SetUp(const HttpClientOptions& options) {
  Result<Url> url = ParseUrl(request_.url);
  if (!url) return tl::unexpected<Error>(url.error());
  url_ = std::move(*url);
  handle_ = Curl()->easy_init();
  if (handle_ == nullptr) return Fail(ErrorKind::kBug, "libcurl gives no handle");
  const auto set = [this](CURLoption option, auto value) {
    Curl()->easy_setopt(handle_, option, value);
  };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_URL, (url_.Origin() + url_.path).c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_NOSIGNAL, 1L);
  // Names are looked up on threads of libcurl's. One that hangs is left behind, not waited for: the
  // loop has other exchanges.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
  set(CURLOPT_TCP_NODELAY, 1L);
  // An engine may think for minutes; a host that vanished meanwhile must be noticed.
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, 30L);
  set(CURLOPT_TCP_KEEPINTVL, 10L);
  set(CURLOPT_USERAGENT, "tacho");
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_timeout.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  set(CURLOPT_ERRORBUFFER, detail_);
  if (url_.IsLoopback()) set(CURLOPT_PROXY, "");
  set(CURLOPT_SSL_VERIFYPEER, options.verify_tls ? 1L : 0L);
  set(CURLOPT_SSL_VERIFYHOST, options.verify_tls ? 2L : 0L);
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  set(CURLOPT_PREREQFUNCTION, &CurlExchange::OnSend);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_HEADERFUNCTION, &CurlExchange::OnHeaderLine);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &CurlExchange::OnBodyBytes);
  set(CURLOPT_WRITEDATA, this);
  SetMethod();
  return SetHeaders(options);
}

void CurlExchange::SetMethod() {
  const std::string& method = request_.method;
  if (method == "HEAD") {
    Curl()->easy_setopt(handle_, CURLOPT_NOBODY, 1L);
    return;
  }
  if (method == "POST" || !request_.body.empty()) {
    Curl()->easy_setopt(handle_, CURLOPT_POST, 1L);
    Curl()->easy_setopt(handle_, CURLOPT_POSTFIELDS, request_.body.data());
    Curl()->easy_setopt(handle_, CURLOPT_POSTFIELDSIZE_LARGE,
                        static_cast<curl_off_t>(request_.body.size()));
  }
  Curl()->easy_setopt(handle_, CURLOPT_CUSTOMREQUEST, method.c_str());
}

Result<void> CurlExchange::SetHeaders(const HttpClientOptions& options) {
  const auto add = [this](const std::string& line) {
    if (curl_slist* longer = Curl()->slist_append(header_list_, line.c_str()))
      header_list_ = longer;
  };
  if (!IsToken(request_.method)) {
    return Fail(ErrorKind::kUsage, url_.Origin() + ": \"" + request_.method + "\" is no method");
  }
  for (const HttpHeader& header : request_.headers) {
    if (!IsToken(header.name) || HasControl(header.value)) {
      return Fail(ErrorKind::kUsage, url_.Origin() + ": the header \"" + header.name +
                                         "\" has a character that no header may have");
    }
    // libcurl's way to send a header without a value.
    add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  // What libcurl would add of its own accord.
  add("Expect:");
  if (FindHeader(request_.headers, "Content-Type").empty()) add("Content-Type:");
  if (!options.bearer_key.empty() && FindHeader(request_.headers, "Authorization").empty()) {
    add("Authorization: Bearer " + options.bearer_key);
  }
  Curl()->easy_setopt(handle_, CURLOPT_HTTPHEADER, header_list_);
  return {};
}

int CurlExchange::OnSend(void* self, char*, char*, int, int) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  if (++exchange.attempts_ > kMostAttempts) {
    exchange.GiveUp("connection closed without an answer, twice: did the server die?");
    return CURL_PREREQFUNC_ABORT;
  }
  exchange.times_.sent_ns = MonotonicNs();
  exchange.last_bytes_ns_ = exchange.times_.sent_ns;
  if (!exchange.muted_) exchange.sink_->OnSent(exchange.times_.sent_ns);
  return CURL_PREREQFUNC_OK;
}

size_t CurlExchange::OnHeaderLine(char* bytes, size_t one, size_t size, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  return exchange.TakeHeaderLine({bytes, one * size}) ? size : CURL_WRITEFUNC_ERROR;
}

size_t CurlExchange::OnBodyBytes(char* bytes, size_t one, size_t size, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  return exchange.TakeBody({bytes, one * size}) ? size : CURL_WRITEFUNC_ERROR;
}

int64_t CurlExchange::FoundNs() {
  // libcurl may find an answer in the very turn that sent the request.
  if (found_->at_ns < last_bytes_ns_) found_->at_ns = MonotonicNs();
  last_bytes_ns_ = found_->at_ns;
  if (times_.first_byte_ns == 0) times_.first_byte_ns = last_bytes_ns_;
  return last_bytes_ns_;
}

bool CurlExchange::TakeHeaderLine(std::string_view line) {
  if (muted_) return false;
  const int64_t at = FoundNs();
  head_bytes_ += line.size();
  if (head_bytes_ > kMostHeaderBytes) {
    GiveUp(fmt::format("the headers have no end (more than {} kB): is this an engine?",
                       kMostHeaderBytes / 1024));
    return false;
  }
  if (head_given_) return true;  // trailers after the body
  if (line.starts_with("HTTP/")) {
    // The head, or another one after "100 Continue" and its kin.
    headers_.clear();
    const size_t space = line.find(' ');
    status_ = 0;
    if (space != std::string_view::npos) {
      std::from_chars(line.data() + space + 1, line.data() + line.size(), status_);
    }
    return true;
  }
  if (Trim(line).empty()) {
    if (status_ >= 100 && status_ < 200 && status_ != 101) return true;
    head_given_ = true;
    sink_->OnHead(status_, headers_, at);
    return true;
  }
  if (line[0] == ' ' || line[0] == '\t') {  // of old: the value goes on
    if (!headers_.empty()) headers_.back().value += " " + std::string(Trim(line));
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  headers_.push_back(
      {std::string(Trim(line.substr(0, colon))), std::string(Trim(line.substr(colon + 1)))});
  return true;
}

bool CurlExchange::TakeBody(std::string_view bytes) {
  if (muted_) return false;
  // libcurl reads a socket again as long as there is more; each time it fills its buffer from the
  // start. Such bytes may be younger than the turn.
  if (found_->last != nullptr && bytes.data() <= found_->last) found_->at_ns = MonotonicNs();
  found_->last = bytes.data();
  const int64_t at = FoundNs();
  if (bytes.size() > most_body_ - body_bytes_) {
    GiveUp(fmt::format("answer longer than {} bytes", most_body_));
    return false;
  }
  body_bytes_ += bytes.size();
  sink_->OnBody(bytes, at);
  return true;
}

Error CurlExchange::IdleError() const {
  const std::string time = ShowTimeout(request_.idle_timeout);
  const std::string what = head_given_
                               ? fmt::format("no byte for {} ({} bytes so far)", time, body_bytes_)
                               : "no answer within " + time;
  return {ErrorKind::kRemote, url_.Origin() + Route() + ": " + what};
}

std::string CurlExchange::Route() const { return url_.path.substr(0, url_.path.find('?')); }

void CurlExchange::GiveUp(std::string message) {
  gave_up_ = url_.Origin() + Route() + ": " + std::move(message);
}

void CurlExchange::EndWith(CURLcode code) {
  // libcurl takes a head that is cut off for an answer.
  if (code == CURLE_OK && !head_given_) GiveUp("answer ended within its headers");
  if (!gave_up_.empty()) return EndWith(Error{ErrorKind::kRemote, gave_up_});
  if (code != CURLE_OK) {
    return EndWith(ErrorOfExchange({.handle = handle_,
                                    .code = code,
                                    .detail = detail_,
                                    .request = request_,
                                    .url = url_,
                                    .sent = times_.sent_ns != 0,
                                    .has_head = head_given_,
                                    .body_bytes = body_bytes_}));
  }
  times_.ended_ns = std::max(found_->at_ns, last_bytes_ns_);
  sink_->OnEnd(times_);
}

void CurlExchange::EndWith(Error error) { sink_->OnEnd(tl::unexpected<Error>(std::move(error))); }

}  // namespace tacho
