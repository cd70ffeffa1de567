#include "net/server_connection.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include "base/monotonic_clock.h"
#include "net/server_connections.h"

namespace tacho {
namespace {

// Bytes of further requests that are kept during an answer.
constexpr size_t kMostAhead = 64 * 1024;
constexpr size_t kMostUnused = 64 * 1024;  // bytes that the parser could not use yet
constexpr size_t kMostKept = 64 * 1024;  // bytes of the output buffer that are kept between answers
// How long the peer may take to read the last answer and close.
constexpr int64_t kDrainNs = 2'000'000'000;

int64_t Ns(std::chrono::milliseconds time) { return std::chrono::nanoseconds(time).count(); }

constexpr std::string_view kUnsendable = "a header of this answer cannot be sent";

// Whether an answer with these headers can be sent: all of them must be valid.
bool CanBeSent(std::string_view content_type, const std::vector<HttpHeader>& headers) {
  return CheckHeader({"Content-Type", std::string(content_type)}) &&
         std::all_of(headers.begin(), headers.end(),
                     [](const HttpHeader& header) { return CheckHeader(header).has_value(); });
}

// Gives a handler access to one answer of a connection.
class ServerExchange final : public HttpExchange {
 public:
  ServerExchange(std::shared_ptr<ServerConnection> connection, uint64_t answer,
                 ServerRequest request, HeldBytes held)
      : connection_(std::move(connection)),
        answer_(answer),
        request_(std::move(request)),
        held_(std::move(held)) {}
  ~ServerExchange() override { connection_->Abort(answer_); }

  const ServerRequest& request() const override { return request_; }
  void Respond(int status, std::string body, std::string content_type,
               std::vector<HttpHeader> headers) override {
    connection_->Respond(answer_, status, body, content_type, headers);
  }
  void Begin(int status, std::string content_type, std::vector<HttpHeader> headers) override {
    connection_->Begin(answer_, status, content_type, headers);
  }
  void Write(std::string bytes) override { connection_->Write(answer_, bytes); }
  void End() override { connection_->End(answer_); }
  void Abort() override { connection_->Abort(answer_); }
  bool connected() const override { return connection_->connected(); }
  size_t backlog() const override { return connection_->Backlog(answer_); }

 private:
  const std::shared_ptr<ServerConnection> connection_;
  const uint64_t answer_;
  const ServerRequest request_;
  const HeldBytes held_;
};

}  // namespace

ServerConnection::ServerConnection(ServerConnections& all, FileDescriptor socket, uint16_t port,
                                   std::shared_ptr<const HttpHandler> handler)
    : all_(all),
      socket_(std::move(socket)),
      port_(port),
      handler_(std::move(handler)),
      parser_(all.options().most_head),
      held_(all.NoBytes()) {}

void ServerConnection::Open() {
  deadline_ns_ = MonotonicNs() + Ns(all_.options().keep_alive_timeout);
  WatchEvents();
}

void ServerConnection::WatchEvents() {
  uint32_t events = EPOLLRDHUP;
  if (reading_ != Reading::kAhead || input_.size() < kMostAhead) events |= EPOLLIN;
  if (sent_ < output_.size()) events |= EPOLLOUT;
  if (events == events_) return;
  events_ = events;
  all_.loop().Watch(socket_.get(), events, this);
}

void ServerConnection::OnReady(int, uint32_t events) {
  const auto self = shared_from_this();
  if ((events & EPOLLOUT) != 0) {
    Flush();
    if (!connected()) return;
  }
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) == 0) return;
  auto& buffer = all_.read_buffer();
  const int64_t found_ns = all_.loop().ready_ns();
  const auto [size, came_ns] =
      all_.arrivals().Receive(socket_.get(), buffer.data(), buffer.size(), found_ns);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return Close();
  came_ns_ = came_ns != 0 ? came_ns : found_ns;
  TakeInput({buffer.data(), static_cast<size_t>(size)});
}

void ServerConnection::TakeInput(std::string_view bytes) {
  if (reading_ == Reading::kDrain) return;
  if (reading_ == Reading::kAhead) {
    input_.append(bytes);
    if (input_.size() >= kMostAhead) {
      const std::lock_guard lock(mutex_);
      WatchEvents();
    }
    return;
  }
  std::string joined;
  if (!input_.empty()) {
    joined = std::move(input_);
    joined.append(bytes);
    bytes = joined;
  }
  const RequestParser::State state = FeedParser(bytes);
  if (!joined.empty() && bytes.size() == joined.size()) {
    input_ = std::move(joined);
  } else {
    input_.assign(bytes);
  }
  switch (state) {
    case RequestParser::State::kBad:
      return Refuse(parser_.bad_status(), parser_.bad_text());
    case RequestParser::State::kDone:
      return GiveToHandler();
    case RequestParser::State::kHead:  // the request was refused and is already answered
      return;
    case RequestParser::State::kNeedsMore:
      break;
  }
  if (input_.size() > kMostUnused) return Refuse(400, "the head of a chunk has no end");
  // The head as a whole has a time limit; in the body each pause has one.
  if (!head_timed_ || parser_.head_done()) {
    head_timed_ = true;
    deadline_ns_ = MonotonicNs() + Ns(all_.options().request_timeout);
  }
  if (!continued_ && parser_.wants_continue()) {
    continued_ = true;
    const std::lock_guard lock(mutex_);
    output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    MarkDirty();
  }
}

// Returns kHead if the request was refused.
RequestParser::State ServerConnection::FeedParser(std::string_view& bytes) {
  RequestParser::State state = parser_.Feed(bytes);
  if (state == RequestParser::State::kHead) {
    if (!Admit()) return state;
    state = parser_.Feed(bytes);
  }
  if (held_.Hold(parser_.body_bytes(), all_.options().most_bodies)) return state;
  RefuseBodies();
  return RequestParser::State::kHead;
}

bool ServerConnection::Admit() {
  const HttpServerOptions& options = all_.options();
  const HttpAdmission admission =
      options.gate ? options.gate(parser_.head()) : HttpAdmission{.most_body = options.most_body};
  if (admission.refused != 0) {
    Refuse(admission.refused, admission.why);
    return false;
  }
  parser_.LimitBody(admission.most_body);
  // The parser allocates the whole body at once.
  const uint64_t length = parser_.body_length();
  if (length > admission.most_body || held_.Hold(length, options.most_bodies)) return true;
  RefuseBodies();
  return false;
}

void ServerConnection::RefuseBodies() {
  Refuse(503,
         fmt::format("the requests that are not answered yet have bodies of more than {} bytes",
                     all_.options().most_bodies));
}

void ServerConnection::GiveToHandler() {
  ServerRequest request;
  {
    const std::lock_guard lock(mutex_);
    keep_alive_ = parser_.keep_alive();
    chunked_ = parser_.takes_chunks();
    request = parser_.Take();
    request.came_ns = came_ns_;
    no_body_ = request.method == "HEAD";
    answer_ = Answer::kAwaited;
    ++answer_number_;
    reading_ = Reading::kAhead;
    deadline_ns_ = 0;
  }
  (*handler_)(std::make_shared<ServerExchange>(shared_from_this(), answer_number_,
                                               std::move(request), std::move(held_)));
}

void ServerConnection::Refuse(int status, std::string_view text) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    keep_alive_ = false;
    no_body_ = false;
    answer_ = Answer::kAwaited;
    number = ++answer_number_;
  }
  input_.clear();
  reading_ = Reading::kDrain;
  Respond(number, status, fmt::format("{}: {}\n", ReasonOf(status), text), "text/plain", {});
}

void ServerConnection::NextRequest() {
  parser_ = RequestParser(all_.options().most_head);
  reading_ = Reading::kRequest;
  head_timed_ = false;
  continued_ = false;
  deadline_ns_ = MonotonicNs() + Ns(all_.options().keep_alive_timeout);
  if (!input_.empty()) TakeInput({});
}

void ServerConnection::Drain() {
  // Closing a socket with unread bytes resets the connection, which would lose the answer.
  reading_ = Reading::kDrain;
  shutdown(socket_.get(), SHUT_WR);
  deadline_ns_ = MonotonicNs() + kDrainNs;
}

void ServerConnection::Flush() {
  const auto self = shared_from_this();
  bool close = false;
  bool next = false;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    dirty_ = false;
    if (closed_) return;
    close = !SendQueued() || aborted_;
    if (!close && output_.empty() && answer_ == Answer::kComplete) {
      answer_ = Answer::kNone;
      next = keep_alive_;
      last = !keep_alive_;
    }
    if (!close && !next && !last) return WatchEvents();
  }
  if (close) return Close();
  if (last) Drain();
  if (next) NextRequest();
  const std::lock_guard lock(mutex_);
  if (!closed_) WatchEvents();  // the handler of the next request may have closed the port
}

bool ServerConnection::SendQueued() {
  bool took = false;
  while (sent_ < output_.size()) {
    const ssize_t size = send(socket_.get(), output_.data() + sent_, output_.size() - sent_,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size < 0) return false;
    sent_ += static_cast<size_t>(size);
    took = true;
  }
  const std::chrono::milliseconds patience = all_.options().stall_timeout;
  if (sent_ == output_.size()) {
    stall_ns_ = 0;
  } else if (patience.count() > 0 && (took || stall_ns_ == 0)) {
    stall_ns_ = MonotonicNs() + Ns(patience);
  }
  if (sent_ == output_.size()) {
    if (output_.capacity() > kMostKept) std::string().swap(output_);
    output_.clear();
    sent_ = 0;
  } else if (sent_ > output_.size() / 2) {
    output_.erase(0, sent_);
    sent_ = 0;
  }
  return true;
}

void ServerConnection::Close() {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    std::string().swap(output_);
    sent_ = 0;
  }
  all_.loop().Unwatch(socket_.get());
  all_.Remove(socket_.get());
  socket_.Close();
}

void ServerConnection::CloseIfLate(int64_t now_ns) {
  const auto passed = [now_ns](int64_t deadline) { return deadline != 0 && now_ns >= deadline; };
  const bool late = passed(deadline_ns_) || passed(stall_ns_);
  if (late && was_late_) return Close();
  was_late_ = late;
}

bool ServerConnection::Answers(uint64_t answer, Answer state) const {
  return !closed_ && !aborted_ && answer == answer_number_ && answer_ == state;
}

void ServerConnection::AddHead(int status, std::string_view content_type,
                               const std::vector<HttpHeader>& headers) {
  const auto out = std::back_inserter(output_);
  fmt::format_to(out, "HTTP/1.1 {} {}\r\n", status, ReasonOf(status));
  if (!content_type.empty()) fmt::format_to(out, "Content-Type: {}\r\n", content_type);
  for (const auto* some : {&headers, &all_.options().headers}) {
    for (const HttpHeader& header : *some) {
      fmt::format_to(out, "{}: {}\r\n", header.name, header.value);
    }
  }
  if (!keep_alive_) output_ += "Connection: close\r\n";
}

void ServerConnection::Respond(uint64_t answer, int status, std::string_view body,
                               std::string_view content_type,
                               const std::vector<HttpHeader>& headers) {
  if (!CanBeSent(content_type, headers)) {
    return Respond(answer, 500, kUnsendable, kTextType, {});
  }
  const std::lock_guard lock(mutex_);
  if (!Answers(answer, Answer::kAwaited)) return;
  AddHead(status, content_type, headers);
  // Answers with these statuses have no body, and so no Content-Length.
  const bool bodiless = status < 200 || status == 204 || status == 304;
  if (!bodiless) fmt::format_to(std::back_inserter(output_), "Content-Length: {}\r\n", body.size());
  output_ += "\r\n";
  if (!bodiless && !no_body_) output_ += body;
  answer_ = Answer::kComplete;
  MarkDirty();
}

void ServerConnection::Begin(uint64_t answer, int status, std::string_view content_type,
                             const std::vector<HttpHeader>& headers) {
  if (!CanBeSent(content_type, headers)) {
    return Respond(answer, 500, kUnsendable, kTextType, {});
  }
  const std::lock_guard lock(mutex_);
  if (!Answers(answer, Answer::kAwaited)) return;
  if (!chunked_) keep_alive_ = false;  // HTTP/1.0: the end of the connection is the end of the body
  AddHead(status, content_type, headers);
  output_ += chunked_ ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
  answer_ = Answer::kStreaming;
  MarkDirty();
}

void ServerConnection::Write(uint64_t answer, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  // An empty chunk would end the body.
  if (!Answers(answer, Answer::kStreaming) || no_body_ || bytes.empty()) return;
  if (chunked_) fmt::format_to(std::back_inserter(output_), "{:x}\r\n", bytes.size());
  output_ += bytes;
  if (chunked_) output_ += "\r\n";
  // A reader that takes nothing must not fill our memory.
  aborted_ = output_.size() - sent_ > all_.options().most_backlog;
  MarkDirty();
}

void ServerConnection::End(uint64_t answer) {
  const std::lock_guard lock(mutex_);
  if (!Answers(answer, Answer::kStreaming)) return;
  if (chunked_ && !no_body_) output_ += "0\r\n\r\n";
  answer_ = Answer::kComplete;
  MarkDirty();
}

void ServerConnection::Abort(uint64_t answer) {
  const std::lock_guard lock(mutex_);
  if (!Answers(answer, Answer::kAwaited) && !Answers(answer, Answer::kStreaming)) return;
  aborted_ = true;
  MarkDirty();
}

void ServerConnection::MarkDirty() {
  if (dirty_) return;
  dirty_ = true;
  all_.MarkDirty(shared_from_this());
}

bool ServerConnection::connected() const {
  const std::lock_guard lock(mutex_);
  return !closed_ && !aborted_;
}

size_t ServerConnection::Backlog(uint64_t answer) const {
  const std::lock_guard lock(mutex_);
  return answer == answer_number_ ? output_.size() - sent_ : 0;
}

}  // namespace tacho
