// What the kernel alone costs a client of many streams: sends requests like those of `tacho load`
// and throws away what comes, unread. No client can cost less that receives each piece when it
// comes.
//   receive_only PORT STREAMS REQUESTS TOKENS
// Exit status 0 when every answer had its end.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::string_view kEnd = "0\r\n\r\n";  // of a chunked body

std::string Request(long number, long tokens) {
  const std::string body =
      fmt::format(R"({{"model":"tiny","prompt":"","stream":true,"max_tokens":{}}})", tokens);
  return fmt::format(
      "POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: floor-{}\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      number, body.size(), body);
}

bool Send(int socket, const std::string& request) {
  return send(socket, request.data(), request.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(request.size());
}

// As many of the last bytes as the end of a body has, which may come in two pieces.
void Keep(std::string& last, std::string_view piece) {
  if (piece.size() > kEnd.size()) piece.remove_prefix(piece.size() - kEnd.size());
  last.append(piece);
  if (last.size() > kEnd.size()) last.erase(0, last.size() - kEnd.size());
}

int Connect(const char* port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
  const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const bool reached =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return reached ? fd : -1;
}

int Failed(const char* what) {
  std::perror(fmt::format("receive_only: {}", what).c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  const long streams = std::atol(words[2]), requests = std::atol(words[3]);
  const long tokens = std::atol(words[4]);
  const int epoll = epoll_create1(0);
  long sent = 0, ended = 0;
  for (; sent < streams; ++sent) {
    const int fd = Connect(words[1]);
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = fd}};
    if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0 ||
        !Send(fd, Request(sent, tokens))) {
      return Failed("a stream did not begin");
    }
  }
  std::vector<char> buffer(65536);
  std::unordered_map<int, std::string> ends;  // the last bytes that came, by socket
  std::array<epoll_event, 64> ready;
  while (ended < requests) {
    const int found = epoll_wait(epoll, ready.data(), ready.size(), 30'000);
    if (found <= 0) return Failed(found == 0 ? "nothing came for 30 s" : "epoll_wait");
    for (int i = 0; i < found; ++i) {
      const int fd = ready[static_cast<size_t>(i)].data.fd;
      ssize_t size = 0;
      do {  // once, but where more waits than the buffer holds: the event does not come again
        size = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (size == 0) return Failed("the server closed a connection");
        if (size < 0 && errno != EAGAIN) return Failed("recv");
        if (size > 0) Keep(ends[fd], std::string_view(buffer.data(), static_cast<size_t>(size)));
      } while (size == static_cast<ssize_t>(buffer.size()));
      if (ends[fd] != kEnd) continue;
      ends[fd].clear();
      ++ended;
      if (sent < requests && !Send(fd, Request(sent++, tokens))) return Failed("send");
    }
  }
  return 0;
}
