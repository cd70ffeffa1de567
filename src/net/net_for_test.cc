#include "net/net_for_test.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "base/monotonic_clock.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

constexpr auto kPause = std::chrono::milliseconds(1);

}  // namespace

RawSocket::RawSocket(FileDescriptor fd) : fd_(std::move(fd)) {
  const int on = 1;
  setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const timeval wait{.tv_sec = kPatienceForTest.count(), .tv_usec = 0};
  for (const int way : {SO_RCVTIMEO, SO_SNDTIMEO})
    setsockopt(fd_.get(), SOL_SOCKET, way, &wait, sizeof(wait));
}

RawSocket RawSocket::ConnectTo(uint16_t port) {
  RawSocket socket(FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  if (!socket.Connect(port)) socket.Close();
  return socket;
}

bool RawSocket::Connect(uint16_t port) {
  const sockaddr_in address = LoopbackAddress(port);
  return connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

bool RawSocket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EAGAIN) ADD_FAILURE() << "waited 60 s for a peer that reads";
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

bool RawSocket::SendInPieces(std::string_view bytes, size_t size) {
  while (!bytes.empty()) {
    if (!Send(bytes.substr(0, size))) return false;
    bytes.remove_prefix(std::min(size, bytes.size()));
    std::this_thread::yield();
  }
  return true;
}

bool RawSocket::ReadMore() {
  char buffer[65536];
  const ssize_t size = recv(fd_.get(), buffer, sizeof(buffer), 0);
  if (size < 0 && errno == EAGAIN) ADD_FAILURE() << "waited 60 s for bytes of a peer";
  if (size <= 0) return false;
  input_.append(buffer, static_cast<size_t>(size));
  return true;
}

std::string RawSocket::ReadUntil(std::string_view end) {
  size_t searched = 0;
  for (;;) {
    if (const size_t found = input_.find(end, searched); found != std::string::npos) {
      std::string taken = input_.substr(0, found + end.size());
      input_.erase(0, taken.size());
      return taken;
    }
    searched = input_.size() - std::min(input_.size(), end.size());
    if (!ReadMore()) return std::exchange(input_, {});
  }
}

std::string RawSocket::ReadMessage() {
  std::string message = ReadUntil("\r\n\r\n");
  size_t body = 0;
  if (const size_t at = message.find("Content-Length: "); at != std::string::npos) {
    std::string_view value = std::string_view(message).substr(at + 16);
    body = TakeNumber<size_t>(value).value_or(0);
  }
  while (input_.size() < body && ReadMore()) {
  }
  message += input_.substr(0, body);
  input_.erase(0, std::min(body, input_.size()));
  return message;
}

std::string RawSocket::ReadAll() {
  while (ReadMore()) {
  }
  return std::exchange(input_, {});
}

void RawSocket::Reset() {
  const linger hard{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  Close();
}

void RawSocket::Close() {
  const std::lock_guard lock(*closing_);
  fd_.Close();
}

void RawSocket::ShutdownBoth() {
  const std::lock_guard lock(*closing_);
  shutdown(fd_.get(), SHUT_RDWR);
}

RawServer::RawServer(std::function<void(RawSocket&)> serve)
    : serve_(std::move(serve)), listener_(16) {
  thread_ = std::thread([this] { Run(); });
}

RawServer::~RawServer() {
  stopping_ = true;
  shutdown(listener_.fd(), SHUT_RDWR);
  {
    const std::lock_guard lock(mutex_);
    if (current_ != nullptr) current_->ShutdownBoth();
  }
  thread_.join();
}

void RawServer::Run() {
  while (!stopping_) {
    FileDescriptor accepted(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted) return;
    ++accepted_;
    RawSocket socket(std::move(accepted));
    {
      const std::lock_guard lock(mutex_);
      current_ = &socket;
    }
    if (!stopping_) serve_(socket);
    const std::lock_guard lock(mutex_);
    current_ = nullptr;
  }
}

std::string RawServer::Url(std::string_view path) const { return LoopbackUrl(port(), path); }

ShortListener::ShortListener() : listener_(0) {}

RawSocket ShortListener::Accept() const {
  pollfd waiting{listener_.fd(), POLLIN, 0};
  const int patience_ms = static_cast<int>(kPatienceForTest.count()) * 1000;
  if (poll(&waiting, 1, patience_ms) != 1) ADD_FAILURE() << "waited 60 s for a connection";
  return RawSocket(FileDescriptor(accept(listener_.fd(), nullptr, nullptr)));
}

void ShortListener::Fill() {
  const sockaddr_in address = LoopbackAddress(port());
  for (int i = 0; i < 4; ++i) {
    fill_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)connect(fill_.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
}

void RecordingSink::OnHead(int status_now, const std::vector<HttpHeader>& headers_now,
                           int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  ++heads;
  status = status_now;
  headers = headers_now;
  head_ns = at_ns;
  changed_.notify_all();
}

void RecordingSink::OnBody(std::string_view bytes, int64_t at_ns) {
  {
    const std::lock_guard lock(mutex_);
    body.append(bytes);
    last_ns = at_ns;
    came_ns[body.size()] = at_ns;
    changed_.notify_all();
  }
  if (on_body) on_body();
}

void RecordingSink::OnEnd(const Result<HttpTimes>& times_now) {
  const std::lock_guard lock(mutex_);
  ++ends;
  times = times_now;
  changed_.notify_all();
}

bool RecordingSink::WaitForEnd() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kPatienceForTest, [this] { return ends > 0; })) return true;
  ADD_FAILURE() << "waited 60 s for the end of an answer; " << body.size() << " bytes came";
  return false;
}

bool RecordingSink::WaitForBytes(size_t bytes) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kPatienceForTest, [&] { return body.size() >= bytes; })) return true;
  ADD_FAILURE() << "waited 60 s for " << bytes << " bytes of an answer; " << body.size() << " came";
  return false;
}

std::unique_ptr<HttpClient> MakeClient(HttpClientOptions options) {
  options.all_by_libcurl = std::getenv("TACHO_TEST_BY_LIBCURL") != nullptr;
  auto client = HttpClient::Create(options);
  if (!client) std::abort();
  return std::move(*client);
}

std::unique_ptr<HttpServer> MakeServer(const HttpServerOptions& options) {
  auto server = HttpServer::Create(options);
  if (!server) std::abort();
  return std::move(*server);
}

uint16_t ListenOn(HttpServer& server, HttpHandler handler) {
  const auto port = server.Listen("127.0.0.1", 0, std::move(handler));
  if (!port) std::abort();
  return *port;
}

std::string LoopbackUrl(uint16_t port, std::string_view path) {
  return "http://127.0.0.1:" + std::to_string(port) + std::string(path);
}

bool Eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kPatienceForTest;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace tacho
