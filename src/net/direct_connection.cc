#include "net/direct_connection.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/prefetch.h"
#include "net/direct_connections.h"

namespace tacho {
namespace {

// Edge-triggered: the loop gets one event per arrival, so we read until the socket is empty.
constexpr uint32_t kInput = EPOLLIN | EPOLLRDHUP | EPOLLET;
// After this many reads in a row, other connections get their turn.
constexpr int kReadsATurn = 16, kReadsALateTurn = 128;
// The bytes at the start of each object that are needed for every piece of a body.
constexpr size_t kTouchedOfExchange = 128, kTouchedOfParser = 64;

bool Has(const HttpRequest& request, std::string_view name) {
  for (const HttpHeader& header : request.headers) {
    if (SameHeaderName(header.name, name)) return true;
  }
  return false;
}

}  // namespace

DirectExchange::DirectExchange(uint64_t number, HttpRequest request, std::shared_ptr<HttpSink> sink,
                               DirectConnections& connections)
    : Exchange(number, std::move(request), std::move(sink)),
      connections_(connections),
      parser_(request_.method == "HEAD") {}

void DirectExchange::Begin() {
  head_text_ = HeadText();
  connections_.Carry(*this);
}

void DirectExchange::Leave() { connections_.Leave(*this); }

bool DirectExchange::TakeHead(const ResponseHead& head) {
  // Frees the memory of the request: a prompt may be long, its answer may take minutes, and it will
  // not be sent again.
  if (written_ == head_text_.size() + request_.body.size()) {
    head_text_ = request_.body = std::string();
    written_ = 0;
  }
  return Exchange::TakeHead(head);
}

std::string DirectExchange::HeadText() const {
  const bool default_port = url().port == 80;
  std::string text = fmt::format("{} {}{} HTTP/1.1\r\n", request_.method,
                                 url().path.starts_with('/') ? "" : "/", url().path);
  const auto add = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(text), "{}:{}{}\r\n", name, value.empty() ? "" : " ", value);
  };
  if (!Has(request_, "Host")) {
    add("Host", default_port ? url().host : fmt::format("{}:{}", url().host, url().port));
  }
  if (!Has(request_, "User-Agent")) add("User-Agent", "tacho");
  if (!Has(request_, "Accept")) add("Accept", "*/*");
  for (const HttpHeader& header : request_.headers) add(header.name, header.value);
  const bool has_body = request_.method == "POST" || !request_.body.empty();
  if (has_body && !Has(request_, "Content-Length")) {
    add("Content-Length", fmt::to_string(request_.body.size()));
  }
  return text + "\r\n";
}

DirectConnection::DirectConnection(DirectConnections& all, FileDescriptor socket,
                                   std::string origin)
    : all_(all), socket_(std::move(socket)), origin_(std::move(origin)) {
  ArrivalClock::Ask(socket_.get());
  all_.loop_.Watch(socket_.get(), kInput, this);
}

DirectConnection::~DirectConnection() { all_.loop_.Unwatch(socket_.get()); }

bool DirectConnection::IsQuiet() const {
  char byte = 0;
  return recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void DirectConnection::Carry(DirectExchange& exchange) {
  exchange_ = &exchange;
  sink_ = exchange.sink();
  exchange.connection_ = this;
  exchange.written_ = 0;
  if (!exchange.AboutToSend()) return all_.End(*this, false);
  Write();
}

void DirectConnection::Write() {
  DirectExchange& exchange = *exchange_;
  std::string& head = exchange.head_text_;
  std::string& body = exchange.request_.body;
  while (!cannot_write_ && exchange.written_ < head.size() + body.size()) {
    const size_t of_head = std::min(exchange.written_, head.size());
    const size_t of_body = exchange.written_ - of_head;
    std::array<iovec, 2> pieces{{{head.data() + of_head, head.size() - of_head},
                                 {body.data() + of_body, body.size() - of_body}}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t count = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      exchange.written_ += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      if (!awaits_room_) all_.loop_.Watch(socket_.get(), kInput | EPOLLOUT, this);
      awaits_room_ = true;
      return;
    } else if (errno != EINTR) {
      // The server may have answered all the same; reading will report what happened.
      cannot_write_ = true;
    }
  }
  if (awaits_room_) all_.loop_.Watch(socket_.get(), kInput, this);
  awaits_room_ = false;
}

void DirectConnection::OnReady(int, uint32_t events) {
  if (exchange_ == nullptr) {
    // The server closed the idle connection, or sent something that nobody asked for.
    if ((events & ~uint32_t{EPOLLOUT}) != 0) all_.Close(*this);
    return;
  }
  const bool ends = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if ((events & EPOLLIN) != 0 || ends) {
    // ComesLate peeks at the socket, which would clear its error.
    const bool late = (events & EPOLLERR) == 0 && all_.ComesLate(socket_.get());
    if (!Read(ends, late)) return;
  }
  if ((events & EPOLLOUT) != 0) Write();
}

bool DirectConnection::Read(bool to_the_end, bool late) {
  // With a thousand streams, nothing that belongs to this one is still in the cache. So prefetch it
  // now: the data comes while the system call below runs.
  Prefetch(exchange_, kTouchedOfExchange);
  Prefetch(&exchange_->parser_, kTouchedOfParser);
  Prefetch(sink_, HttpSink::kTouched);
  if (late) exchange_->FoundLate(all_.loop_.ready_ns());
  const int most_reads = late ? kReadsALateTurn : kReadsATurn;
  for (int reads = 0; reads < most_reads; ++reads) {
    const size_t room =
        late ? std::min<uint64_t>(all_.buffer_.size(), exchange_->parser_.SureBytes())
             : all_.buffer_.size();
    const auto [count, came_ns] =
        all_.arrivals_.Receive(socket_.get(), all_.buffer_.data(), room, all_.loop_.ready_ns());
    if (count < 0) {
      if (errno == EAGAIN) return true;
      if (errno == EINTR) continue;
      return EndOfInput(errno);
    }
    if (count == 0) return EndOfInput(0);
    // Without a stamp, the bytes of the first read get the time of the poll. Those of a later read
    // get the current time, because they may have come after the poll.
    if (came_ns == 0) exchange_->HasNoStamp();
    exchange_->FoundAt(came_ns != 0 ? came_ns : reads == 0 ? all_.loop_.ready_ns() : 0);
    if (!Take({all_.buffer_.data(), static_cast<size_t>(count)})) return false;
    // A read that leaves room has emptied the socket; later bytes cause a new event.
    if (static_cast<size_t>(count) < room && !to_the_end) return true;
  }
  all_.loop_.Watch(socket_.get(), kInput | (awaits_room_ ? EPOLLOUT : 0u), this);
  return true;
}

bool DirectConnection::Take(std::string_view bytes) {
  DirectExchange& exchange = *exchange_;
  const ResponseParser& parser = exchange.parser_;
  const size_t taken = exchange.parser_.Feed(bytes, exchange);
  bool keep = false;
  switch (parser.state()) {
    case ResponseParser::State::kGoing:
      return true;
    case ResponseParser::State::kWhole:
      // Close the connection if bytes follow the answer, because they belong to no request, or if
      // the request was not written completely.
      keep = parser.keeps_alive() && taken == bytes.size() && !awaits_room_ && !cannot_write_;
      break;
    case ResponseParser::State::kRefused:
      break;
    case ResponseParser::State::kNotHttp:
      exchange.GiveUp(Breakdown::kNotHttp, parser.detail());
      break;
    case ResponseParser::State::kBrokenChunks:
      exchange.GiveUp(Breakdown::kBrokenChunks, parser.detail());
      break;
    case ResponseParser::State::kEndlessHead:
      exchange.GiveUpEndlessHead();
      break;
  }
  all_.End(*this, keep);
  return false;
}

// The server ended the connection, in an orderly way if `error` is 0.
bool DirectConnection::EndOfInput(int error) {
  DirectExchange& exchange = *exchange_;
  ResponseParser& parser = exchange.parser_;
  if (!parser.begun() && used_before_) {
    all_.SendAgain(*this);
    return false;
  }
  if (parser.begun()) exchange.FoundAt(all_.loop_.ready_ns());
  if (error == 0) parser.EndOfConnection();
  if (parser.state() != ResponseParser::State::kWhole) {
    exchange.GiveUp(error != 0           ? Breakdown::kBroken
                    : !parser.begun()    ? Breakdown::kNothingCame
                    : !parser.has_head() ? Breakdown::kEndedInHead
                                         : Breakdown::kEndedEarly,
                    error != 0 ? std::strerror(error) : "", 0, parser.whole_body());
  }
  all_.End(*this, false);
  return false;
}

}  // namespace tacho
