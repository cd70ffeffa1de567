// The server against clients that speak HTTP by hand.
#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <future>
#include <string>
#include <thread>

#include "base/monotonic_clock.h"
#include "base/time.h"
#include "net/net_for_test.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = MakeServer(options_);
    port_ = ListenOn(*server_, [this](const auto& exchange) {
      ++requests_;
      exchange->Respond(200, exchange->request().path + " " + exchange->request().body,
                        "text/plain");
    });
  }

  HttpServerOptions options_ = {.request_timeout = milliseconds(300)};
  std::atomic<int> requests_ = 0;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
};

TEST_F(HttpServerTest, RequestInSinglePieces) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.SendInPieces("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 1);
  EXPECT_EQ(socket.ReadMessage(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n/a hello");
}

TEST_F(HttpServerTest, ChunkedRequest) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.SendInPieces(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
      7);
  EXPECT_THAT(socket.ReadMessage(), HasSubstr("/a hello"));
}

TEST_F(HttpServerTest, RequestsOneAfterTheOtherInOnePacket) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  std::string all;
  for (int i = 0; i < 20; ++i) all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  socket.Send(all);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(socket.ReadMessage(), HasSubstr("\r\n\r\n/" + std::to_string(i) + " "));
  }
}

TEST(HttpServer, ARequestCameWhenItReachedTheHostNotWhenItWasRead) {
  const std::unique_ptr<HttpServer> server = MakeServer({});
  std::promise<void> busy;
  int64_t busy_until_ns = 0;
  std::promise<int64_t> came;
  const uint16_t port = ListenOn(*server, [&](const auto& exchange) {
    if (exchange->request().path == "/slow") {
      busy.set_value();
      std::this_thread::sleep_for(milliseconds(300));
      busy_until_ns = MonotonicNs();
    } else {
      came.set_value(exchange->request().came_ns);
    }
    exchange->Respond(200, "", "text/plain");
  });
  RawSocket slow = RawSocket::ConnectTo(port), waiting = RawSocket::ConnectTo(port);
  slow.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  Await(busy.get_future(), "busy");
  const int64_t before_ns = MonotonicNs();
  waiting.Send("GET /waiting HTTP/1.1\r\nHost: x\r\n\r\n");
  const int64_t came_ns = Await(came.get_future(), "came");
  // The two clocks' offset is known to some microseconds.
  EXPECT_GE(came_ns, before_ns - kNsPerMs);
  EXPECT_LT(came_ns, busy_until_ns - 100 * kNsPerMs);
}

TEST_F(HttpServerTest, BadRequestsGet400AndTheEnd) {
  for (const char* bad : {"hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/3.7\r\n\r\n",
                          "GET / HTTP/1.1\r\nbad header\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00",
                          "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                          "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    RawSocket socket = RawSocket::ConnectTo(port_);
    socket.Send(bad);
    const std::string answer = socket.ReadAll();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n")) << bad;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << bad;
  }
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpServerTest, HeadWithoutEndGets431) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 200; ++i) socket.Send("X: " + std::string(1000, 'x') + "\r\n");
  EXPECT_THAT(socket.ReadAll(), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, Http10EndsWithTheConnection) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(socket.ReadAll(), HasSubstr("Connection: close\r\n"));

  const uint16_t streaming = ListenOn(*server_, [](const auto& exchange) {
    exchange->Begin(200, "text/plain");
    exchange->Write("a");
    exchange->Write("b");
    exchange->End();
  });
  RawSocket old = RawSocket::ConnectTo(streaming);
  old.Send("GET / HTTP/1.0\r\n\r\n");
  const std::string answer = old.ReadAll();
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nab"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
}

TEST_F(HttpServerTest, ConnectionCloseIsHonoured) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(socket.ReadAll(), HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpServerTest, HeadOfAStream) {
  const uint16_t streaming = ListenOn(*server_, [](const auto& exchange) {
    exchange->Begin(200, "text/plain");
    exchange->Write("a");
    exchange->End();
  });
  RawSocket socket = RawSocket::ConnectTo(streaming);
  socket.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked"));
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(socket.ReadUntil("0\r\n\r\n"), "1\r\na\r\n0\r\n\r\n");
}

TEST_F(HttpServerTest, ExpectContinue) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(socket.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.Send("ok");
  EXPECT_THAT(socket.ReadMessage(), HasSubstr("/a ok"));
}

TEST_F(HttpServerTest, SlowHeadIsCutOff) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  const int64_t before = MonotonicNs();
  while (socket.Send("G") && MonotonicNs() - before < 5'000'000'000) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_GT(MonotonicNs() - before, 250'000'000);
  EXPECT_LT(MonotonicNs() - before, 4'000'000'000);
}

TEST_F(HttpServerTest, SlowBodyThatMovesIsNot) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n");
  for (int i = 0; i < 6; ++i) {
    std::this_thread::sleep_for(milliseconds(100));
    ASSERT_TRUE(socket.Send("x"));
  }
  EXPECT_THAT(socket.ReadMessage(), HasSubstr("/a xxxxxx"));
}

TEST_F(HttpServerTest, BodyThatStopsIsCutOff) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nx");
  EXPECT_EQ(socket.ReadAll(), "");
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpServerTest, AnswerMayTakeLongerThanARequest) {
  std::shared_ptr<HttpExchange> held;
  const uint16_t slow = ListenOn(*server_, [&](const auto& exchange) { held = exchange; });
  server_->At(MonotonicNs() + 700'000'000, [&] {
    if (held) held->Respond(200, "at last", "text/plain");
    held.reset();
  });
  RawSocket socket = RawSocket::ConnectTo(slow);
  socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.ReadMessage(), HasSubstr("at last"));
}

TEST_F(HttpServerTest, ClientThatLeavesInMidRequest) {
  for (int i = 0; i < 50; ++i) {
    RawSocket socket = RawSocket::ConnectTo(port_);
    socket.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Le");
    if (i % 2 == 0) socket.Reset();
  }
  EXPECT_EQ(requests_, 0);
}

TEST_F(HttpServerTest, OutOfDescriptorsIsNotTheEnd) {
  std::vector<RawSocket> sockets;
  for (int i = 0; i < 20; ++i) sockets.push_back(RawSocket::ConnectTo(port_));
  ASSERT_TRUE(sockets.back().Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_THAT(sockets.back().ReadMessage(), StartsWith("HTTP/1.1 200"));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  RawSocket late(FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool connected = late.Connect(port_);
  std::this_thread::sleep_for(milliseconds(100));
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(connected);
  late.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(late.ReadMessage(), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, PortThatIsTaken) {
  const auto again = server_->Listen("127.0.0.1", port_, [](const auto&) {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kOutput);
  EXPECT_EQ(again.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(port_) +
                ": Address already in use (stop what listens there, or take another port)");
  const auto nowhere = server_->Listen("nowhere", 0, [](const auto&) {});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kUsage);
}

TEST_F(HttpServerTest, ClosedPortCanBeTakenAgain) {
  RawSocket open = RawSocket::ConnectTo(port_);
  open.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(open.ReadMessage(), StartsWith("HTTP/1.1 200"));
  server_->Close(port_);
  EXPECT_EQ(open.ReadAll(), "");
  EXPECT_FALSE(RawSocket::ConnectTo(port_).Send("x"));
  const auto again = server_->Listen("127.0.0.1", port_, [](const auto&) {});
  EXPECT_TRUE(again) << again.error().message;
}

TEST_F(HttpServerTest, ListensOnIpv6) {
  const auto port = server_->Listen(
      "[::1]", 0, [](const auto& exchange) { exchange->Respond(200, "six", "text/plain"); });
  if (!port) GTEST_SKIP() << "no IPv6 here: " << port.error().message;
  const auto answer = MakeClient()->Fetch({.url = "http://[::1]:" + std::to_string(*port)});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "six");
}

TEST_F(HttpServerTest, CloseFromAHandler) {
  uint16_t port = 0;
  port = ListenOn(*server_, [&](const auto& exchange) {
    exchange->Respond(200, "never seen", "text/plain");
    server_->Close(port);
  });
  RawSocket socket = RawSocket::ConnectTo(port);
  socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(socket.ReadAll(), "");
}

TEST_F(HttpServerTest, CloseFromTheHandlerOfAWaitingRequest) {
  uint16_t port = 0;
  port = ListenOn(*server_, [&](const auto& exchange) {
    if (exchange->request().path == "/close") server_->Close(port);
    exchange->Respond(200, "", "text/plain");
  });
  RawSocket socket = RawSocket::ConnectTo(port);
  socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /close HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.ReadMessage(), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(socket.ReadAll(), "");
}

TEST_F(HttpServerTest, TargetOfAProxy) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("GET http://host:80/path?q=1 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(socket.ReadMessage(), HasSubstr("\r\n\r\n/path "));
}

// The bounds of what a server holds for its clients, low enough for a test.
class BoundedServerTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = MakeServer(options_);
    port_ = ListenOn(*server_, [this](const auto& exchange) {
      if (exchange->request().path == "/kept") {
        kept_.push_back(exchange);
      } else {
        exchange->Respond(200, std::to_string(exchange->request().body.size()), "text/plain");
      }
    });
  }
  std::string Post(const std::string& path, size_t length, const std::string& sent) {
    RawSocket& socket = sockets_.emplace_back(RawSocket::ConnectTo(port_));
    socket.Send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                std::to_string(length) + "\r\n\r\n" + sent);
    return path == "/kept" ? "" : socket.ReadMessage();
  }
  std::string PostAll(const std::string& path, size_t length) {
    return Post(path, length, std::string(length, 'x'));
  }

  HttpServerOptions options_ = {
      .gate =
          [](const ServerRequest& head) {
            HttpAdmission admission{.most_body = head.path == "/long" ? 4000u : 1000u};
            if (!FindHeader(head.headers, "Origin").empty()) admission = {403, "not for pages"};
            if (head.path == "/kept") admission.most_body = 100'000;
            return admission;
          },
      .most_bodies = 100'000,
      .most_backlog = 1 << 20};
  std::vector<std::shared_ptr<HttpExchange>> kept_;  // the server's thread alone
  std::vector<RawSocket> sockets_;
  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
};

TEST_F(BoundedServerTest, BodiesByTheirRoute) {
  EXPECT_THAT(PostAll("/", 1000), HasSubstr("\r\n\r\n1000"));
  EXPECT_THAT(PostAll("/long", 4000), HasSubstr("\r\n\r\n4000"));
  EXPECT_THAT(PostAll("/", 1001), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(PostAll("/long", 4001), HasSubstr("a body of more than 4000 bytes"));
  EXPECT_THAT(Post("/", 1u << 30, ""), StartsWith("HTTP/1.1 413 ")) << "before a byte of it";
  RawSocket chunked = RawSocket::ConnectTo(port_);
  chunked.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 11; ++i) chunked.Send("64\r\n" + std::string(100, 'x') + "\r\n");
  EXPECT_THAT(chunked.ReadAll(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(BoundedServerTest, TheGateRefusesBeforeTheBody) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nOrigin: page\r\nContent-Length: 900\r\n\r\n");
  const std::string answer = socket.ReadAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(answer, HasSubstr("Forbidden: not for pages\n"));
}

TEST_F(BoundedServerTest, BodiesOfAllConnectionsTogether) {
  PostAll("/kept", 60'000);
  // A body in transfer counts with its Content-Length.
  Post("/kept", 39'500, "begun");
  ASSERT_TRUE(Eventually([&] { return PostAll("/", 900).starts_with("HTTP/1.1 503 "); }));
  EXPECT_THAT(PostAll("/", 901), HasSubstr("have bodies of more than 100000 bytes"));
  EXPECT_THAT(PostAll("/", 400), StartsWith("HTTP/1.1 200"));
  server_->Post([&] { kept_.clear(); });
  EXPECT_TRUE(Eventually([&] { return PostAll("/", 900).starts_with("HTTP/1.1 200"); }));
}

TEST(HttpServer, BoundsItsConnections) {
  const auto server = MakeServer({.most_connections = 3});
  const uint16_t port =
      ListenOn(*server, [](const auto& exchange) { exchange->Respond(200, "", "text/plain"); });
  const auto ask = [port] {
    RawSocket socket = RawSocket::ConnectTo(port);
    socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    return std::make_pair(socket.ReadMessage(), std::move(socket));
  };
  std::vector<RawSocket> kept;
  for (int i = 0; i < 3; ++i) {
    auto [answer, socket] = ask();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
    kept.push_back(std::move(socket));
  }
  const std::string refused = RawSocket::ConnectTo(port).ReadAll();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("there are 3 connections, which is the most"));
  kept.pop_back();
  EXPECT_TRUE(Eventually([&] { return ask().first.starts_with("HTTP/1.1 200"); }));
}

TEST_F(BoundedServerTest, ChunkWhoseHeadHasNoEnd) {
  RawSocket socket = RawSocket::ConnectTo(port_);
  socket.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;");
  for (int i = 0; i < 200; ++i) socket.Send(std::string(1000, 'x'));
  EXPECT_THAT(socket.ReadAll(), StartsWith("HTTP/1.1 400 "));
}

TEST_F(BoundedServerTest, ReaderThatTakesNothing) {
  std::atomic<size_t> written = 0;
  const uint16_t endless = ListenOn(*server_, [&](const std::shared_ptr<HttpExchange>& exchange) {
    exchange->Begin(200, "text/plain");
    while (exchange->connected() && written < (64u << 20)) {
      exchange->Write(std::string(10'000, 'x'));
      written += 10'000;
    }
  });
  RawSocket socket = RawSocket::ConnectTo(endless);
  socket.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(Eventually([&] { return written > 1u << 20; }));
  socket.ReadAll();
  EXPECT_LT(written, 2u << 20);
}

TEST(HttpServer, ClosesAConnectionWhoseClientTakesNothingOfAnAnswer) {
  // Longer than a thread that is ready to run waits for a core of a busy machine.
  const auto server =
      MakeServer({.request_timeout = milliseconds(100), .stall_timeout = milliseconds(2000)});
  std::promise<std::shared_ptr<HttpExchange>> stalled;
  const uint16_t port = ListenOn(*server, [&](const std::shared_ptr<HttpExchange>& exchange) {
    if (exchange->request().path == "/stalls") stalled.set_value(exchange);
    exchange->Respond(200, std::string(64u << 20, 'x'), "text/plain");
  });
  RawSocket reads = RawSocket::ConnectTo(port);
  reads.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_GT(reads.ReadMessage().size(), 64u << 20) << "who reads gets it all";
  RawSocket stalls = RawSocket::ConnectTo(port);
  stalls.Send("GET /stalls HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto kept = Await(stalled.get_future(), "the request");
  EXPECT_TRUE(Eventually([&] { return !kept->connected(); }));
  EXPECT_EQ(kept->backlog(), 0u);
}

TEST(HttpServer, ItsOwnLatenessClosesNoConnection) {
  const auto server =
      MakeServer({.request_timeout = milliseconds(100), .stall_timeout = milliseconds(1000)});
  std::promise<bool> sleeps;
  const uint16_t port = ListenOn(*server, [&](const std::shared_ptr<HttpExchange>& exchange) {
    if (exchange->request().path == "/late") {
      sleeps.set_value(true);
      std::this_thread::sleep_for(milliseconds(1500));
    }
    exchange->Respond(200, std::string(64u << 20, 'x'), "text/plain");
  });
  RawSocket reads = RawSocket::ConnectTo(port);
  reads.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  reads.ReadUntil("\r\n\r\n");
  RawSocket late = RawSocket::ConnectTo(port);
  late.Send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  Await(sleeps.get_future(), "the late request");
  EXPECT_EQ(reads.ReadAll().size(), 64u << 20);
}

TEST(HttpServer, ItsHeadersGoWithEveryAnswer) {
  const auto server = MakeServer(
      {.most_head = 1000, .most_connections = 1, .headers = {{"X-Frame-Options", "DENY"}}});
  const uint16_t port = ListenOn(*server, [](const auto& exchange) {
    exchange->Respond(204, "", "", {{"A", "b"}});
  });
  const auto ask = [port](const std::string& request) {
    std::string answer;
    Eventually([&] {  // until the previous connection is closed
      RawSocket socket = RawSocket::ConnectTo(port);
      socket.Send(request);
      answer = socket.ReadUntil("\r\n\r\n");
      return !answer.starts_with("HTTP/1.1 503");
    });
    return answer;
  };
  const auto has_ours = HasSubstr("\r\nX-Frame-Options: DENY\r\n");
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
              testing::AllOf(StartsWith("HTTP/1.1 204 "), HasSubstr("\r\nA: b\r\n"), has_ours));
  EXPECT_THAT(ask("nonsense\r\n\r\n"), testing::AllOf(StartsWith("HTTP/1.1 400 "), has_ours));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nA: " + std::string(1000, 'x') + "\r\n\r\n"),
              testing::AllOf(StartsWith("HTTP/1.1 431 "), has_ours));
  const RawSocket only = RawSocket::ConnectTo(port);
  EXPECT_TRUE(Eventually([&] {
    const std::string refused = RawSocket::ConnectTo(port).ReadAll();
    return refused.starts_with("HTTP/1.1 503 ") &&
           refused.find("X-Frame-Options: DENY") != std::string::npos;
  }));
}

}  // namespace
}  // namespace tacho
