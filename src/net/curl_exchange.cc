#include "net/curl_exchange.h"

namespace tacho {

CurlExchange::~CurlExchange() {
  Part();
  Curl()->slist_free_all(header_list_);
}

Result<void> CurlExchange::SetUp(const HttpClientOptions& options) {
  TACHO_RETURN_IF_ERROR(Open(request(), url(), options));
  Set(CURLOPT_USERAGENT, "tacho");
  Set(CURLOPT_PREREQFUNCTION, &CurlExchange::OnSend);
  Set(CURLOPT_PREREQDATA, this);
  Set(CURLOPT_HEADERFUNCTION, &CurlExchange::OnHeaderLine);
  Set(CURLOPT_HEADERDATA, this);
  Set(CURLOPT_WRITEFUNCTION, &CurlExchange::OnBodyBytes);
  Set(CURLOPT_WRITEDATA, this);
  SetMethod();
  SetHeaders();
  return {};
}

void CurlExchange::SetMethod() {
  const std::string& method = request().method;
  const std::string& body = request().body;
  if (method == "HEAD") return Set(CURLOPT_NOBODY, 1L);
  if (method == "POST" || !body.empty()) {
    Set(CURLOPT_POST, 1L);
    Set(CURLOPT_POSTFIELDS, body.data());
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  }
  Set(CURLOPT_CUSTOMREQUEST, method.c_str());
}

void CurlExchange::SetHeaders() {
  const auto add = [this](const std::string& line) {
    if (curl_slist* longer = Curl()->slist_append(header_list_, line.c_str()))
      header_list_ = longer;
  };
  for (const HttpHeader& header : request().headers) {
    // libcurl sends a header without a value if it is given as "NAME;".
    add(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  // Suppress the headers that libcurl would add by itself.
  add("Expect:");
  if (FindHeader(request().headers, "Content-Type").empty()) add("Content-Type:");
  Set(CURLOPT_HTTPHEADER, header_list_);
}

int CurlExchange::OnSend(void* self, char*, char*, int, int) {
  return static_cast<CurlExchange*>(self)->AboutToSend() ? CURL_PREREQFUNC_OK
                                                         : CURL_PREREQFUNC_ABORT;
}

size_t CurlExchange::OnHeaderLine(char* bytes, size_t one, size_t size, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  return exchange.TakeHeaderLine({bytes, one * size}) ? size : CURL_WRITEFUNC_ERROR;
}

size_t CurlExchange::OnBodyBytes(char* bytes, size_t one, size_t size, void* self) {
  auto& exchange = *static_cast<CurlExchange*>(self);
  return exchange.TakeBodyBytes({bytes, one * size}) ? size : CURL_WRITEFUNC_ERROR;
}

void CurlExchange::Found() {
  HasNoStamp();
  FoundAt(found_.at_ns);
  found_.at_ns = last_bytes_ns();
}

bool CurlExchange::TakeHeaderLine(std::string_view line) {
  Found();
  head_bytes_ += line.size();
  if (head_bytes_ > ResponseParser::kMostHeadBytes) {
    GiveUpEndlessHead();
    return false;
  }
  if (head_given_) return true;  // the lines are trailers after the body
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  const ResponseHead::Said said = head_.TakeLine(line);
  if (said == ResponseHead::Said::kNotHttp) {
    GiveUp(Breakdown::kNotHttp, "an odd header");
    return false;
  }
  head_given_ = said == ResponseHead::Said::kWhole;
  return !head_given_ || TakeHead(head_);
}

bool CurlExchange::TakeBodyBytes(std::string_view bytes) {
  // While a socket has more bytes, libcurl reads it again, each time into the start of the same
  // buffer. Bytes of such a second read may have arrived after the poll, so they do not get the
  // poll's time.
  if (found_.last != nullptr && bytes.data() <= found_.last) found_.at_ns = 0;
  found_.last = bytes.data();
  Found();
  return TakeBody(bytes);
}

void CurlExchange::OnDone(CURLcode code) {
  Part();
  if (code != CURLE_OK) TellFailure(code, *this);
  // libcurl accepts a truncated head as an answer.
  if (code == CURLE_OK && !head_given_) GiveUp(Breakdown::kEndedInHead);
  if (found_.at_ns > last_bytes_ns()) FoundAt(found_.at_ns);
  ended_(*this);
}

}  // namespace tacho
