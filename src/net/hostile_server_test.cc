// The client against servers that speak HTTP badly, slowly, or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/monotonic_clock.h"
#include "net/loopback_port_for_test.h"
#include "net/net_for_test.h"
#include "net/sse.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::MatchesRegex;

// The result of a fetch from a server that reads the request, sends `answer` and closes.
Result<HttpResponse> FetchAnswer(const std::string& answer, HttpRequest request = {}) {
  RawServer server([&](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send(answer);
  });
  request.url = server.Url("/route?query");
  return MakeClient()->Fetch(request);
}

std::string ErrorOf(const std::string& answer) {
  const auto fetched = FetchAnswer(answer);
  if (fetched) return "no error";
  EXPECT_EQ(fetched.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(fetched.error().message, MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/route: .*[^.]"));
  return fetched.error().message;
}

TEST(HostileServer, EndsTooEarly) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("connection closed without an answer"));
  EXPECT_THAT(ErrorOf("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + std::string(120, 'x')),
              HasSubstr("answer ended after 120 of 500 bytes"));
  EXPECT_THAT(ErrorOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
              HasSubstr("answer ended after 5 bytes, before its end was marked"));
  EXPECT_THAT(ErrorOf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
              HasSubstr("answer ended after 3 bytes"));
}

TEST(HostileServer, HeadThatIsCut) {
  for (const char* head : {"HTTP/1.1 200 OK\r\nContent-Le",
                           "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "HTTP/1.1 200 OK\r\n"}) {
    EXPECT_THAT(ErrorOf(head), HasSubstr("answer ended within its headers")) << head;
  }
}

TEST(HostileServer, IsNotHttp) {
  for (const char* answer :
       {"SSH-2.0-OpenSSH_9.2\r\n", "220 mail ready\r\n", "{\"a\": 1}\n", "HTTP/1.1 abc\r\n\r\n",
        "HTTP/7.5 200 OK\r\n\r\n", "\x15\x03\x01\x00\x02\x02\x46", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"}) {
    EXPECT_THAT(ErrorOf(answer), HasSubstr(": not HTTP")) << answer;
  }
}

TEST(HostileServer, BrokenChunks) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body :
       {"xyz\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n", "\r\n\r\n",
        "5\r\nhelloworld\r\n0\r\n\r\n", "ffffffffffffffffffff\r\nhello\r\n0\r\n\r\n"}) {
    EXPECT_THAT(ErrorOf(head + body), HasSubstr("broken chunked coding")) << body;
  }
}

TEST(HostileServer, InvalidLength) {
  EXPECT_NE(ErrorOf("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello"), "no error");
}

TEST(HostileServer, BodyUntilTheConnectionEndsIsWhole) {
  const auto answer = FetchAnswer("HTTP/1.0 200 OK\r\n\r\nhello");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "hello");
}

TEST(HostileServer, HeadersOfOddForm) {
  const auto answer = FetchAnswer(
      "HTTP/1.1 200\r\nA:1\r\nB:   2  \r\nempty:\r\nold: a\r\n  b\r\na: again\r\n"
      "Content-Length: 2\r\n\r\nok");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(FindHeader(answer->headers, "a"), "1");
  EXPECT_EQ(FindHeader(answer->headers, "b"), "2");
  EXPECT_EQ(FindHeader(answer->headers, "empty"), "");
  EXPECT_EQ(FindHeader(answer->headers, "old"), "a b");
  EXPECT_EQ(answer->headers.size(), 6u);
}

TEST(HostileServer, InterimAnswersArePassedOver) {
  const auto answer = FetchAnswer(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "ok");
  EXPECT_EQ(FindHeader(answer->headers, "Link"), "");
}

TEST(HostileServer, TrailersAreNoHeaders) {
  const auto answer = FetchAnswer(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;ext=1\r\nok\r\n0\r\nX-Late: 1\r\n"
      "\r\n");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "ok");
  EXPECT_EQ(FindHeader(answer->headers, "X-Late"), "");
}

TEST(HostileServer, ResetInMidBody) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + std::string(120, 'x'));
    std::this_thread::sleep_for(milliseconds(50));
    socket.Reset();
  });
  const auto answer = MakeClient()->Fetch({.url = server.Url()});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("connection broken after 120 bytes of the answer"));
}

TEST(HostileServer, ResetBeforeTheAnswer) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Reset();
  });
  const auto answer = MakeClient()->Fetch({.url = server.Url()});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("connection broken before the answer"));
}

TEST(HostileServer, HeadersWithoutEnd) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\n");
    while (socket.Send("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  const auto answer = MakeClient()->Fetch({.url = server.Url()});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the headers have no end (more than 256 kB)"));
}

TEST(HostileServer, OneHeaderWithoutEnd) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\nX: ");
    while (socket.Send(std::string(10'000, 'x'))) {
    }
  });
  const auto answer = MakeClient()->Fetch({.url = server.Url()});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kRemote);
}

TEST(HostileServer, BodyWithoutEnd) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\n\r\n");
    while (socket.Send(std::string(10'000, 'x'))) {
    }
  });
  HttpRequest request{.url = server.Url()};
  request.most_body = 1'000'000;
  const auto answer = MakeClient()->Fetch(request);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("answer longer than 1000000 bytes"));
}

TEST(HostileServer, StreamWithoutEnd) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    while (socket.Send("data: " + std::string(10'000, 'x') + "\n\n")) {
    }
  });
  const auto client = MakeClient();
  const auto sink = std::make_shared<RecordingSink>();
  client->Start({.url = server.Url(), .most_body = 1'000'000}, sink);
  ASSERT_TRUE(sink->WaitForEnd());
  EXPECT_THAT(sink->error(), HasSubstr("answer longer than 1000000 bytes"));
  EXPECT_LE(sink->body.size(), 1'000'000u);
}

TEST(HostileServer, EveryByteAlone) {
  const std::string answer_text =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
      "9\r\ndata: 1\r\n\r\n8\r\n\r\n: ping\r\n1b\r\n\ndata: two\rdata: lines\r\n\r\n\r\n0\r\n\r\n";
  RawServer server([&](RawSocket& socket) {
    socket.ReadMessage();
    socket.SendInPieces(answer_text, 1);
    socket.ReadMessage();
  });
  const auto answer = MakeClient()->Fetch({.url = server.Url()});
  ASSERT_TRUE(answer) << answer.error().message;
  SseReader reader;
  std::vector<std::string> events;
  EXPECT_TRUE(reader.Feed(answer->body, [&](std::string_view data) { events.emplace_back(data); }));
  EXPECT_THAT(events, testing::ElementsAre("1", "two\nlines"));
}

TEST(HostileServer, EverySplitOfAChunkedStream) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "6\r\ndata: \r\n5\r\nx\n\nda\r\n8\r\nta: yz\r\n\r\n2\r\n\r\n\r\n0\r\n\r\n";
  size_t split = 0;
  RawServer server([&](RawSocket& socket) {
    while (!socket.ReadMessage().empty()) {
      ++split;
      if (split >= text.size()) split = 1;
      socket.Send(text.substr(0, split));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      socket.Send(text.substr(split));
    }
  });
  const auto client = MakeClient();
  for (size_t i = 1; i < text.size(); ++i) {
    const auto answer = client->Fetch({.url = server.Url()});
    ASSERT_TRUE(answer) << "split at " << i << ": " << answer.error().message;
    EXPECT_EQ(answer->body, "data: x\n\ndata: yz\r\n\r\n") << "split at " << i;
  }
  EXPECT_EQ(server.accepted(), 1);
}

TEST(HostileServer, SilenceHasAnEnd) {
  RawServer server([](RawSocket& socket) { socket.ReadAll(); });
  const auto client = MakeClient();
  HttpRequest request{.url = server.Url()};
  request.timeout = milliseconds(150);
  const int64_t before = MonotonicNs();
  const auto answer = client->Fetch(request);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("/: no answer within 150 ms"));
  EXPECT_GE(MonotonicNs() - before, 140'000'000);
  EXPECT_LT(MonotonicNs() - before, 5'000'000'000);
}

TEST(HostileServer, SilenceInMidBodyHasAnEnd) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\n\r\nhello");
    socket.ReadAll();
  });
  const auto client = MakeClient();
  HttpRequest request{.url = server.Url()};
  request.timeout = milliseconds(150);
  const auto late = client->Fetch(request);
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error().message, HasSubstr("not complete within 150 ms (5 bytes so far)"));
  request.timeout = milliseconds(0);
  request.idle_timeout = milliseconds(150);
  const auto idle = client->Fetch(request);
  ASSERT_FALSE(idle);
  EXPECT_THAT(idle.error().message, HasSubstr("no byte for 150 ms (5 bytes so far)"));
}

TEST(HostileServer, IdleTimeoutLetsASlowAnswerBe) {
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(milliseconds(60));
      socket.Send("x");
    }
  });
  HttpRequest request{.url = server.Url()};
  request.idle_timeout = milliseconds(400);
  const auto answer = MakeClient()->Fetch(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body.size(), 10u);
}

TEST(HostileServer, NobodyListens) {
  const LoopbackPort nobody;
  const uint16_t port = nobody.port();
  const auto answer = MakeClient()->Fetch({.url = LoopbackUrl(port, "/x")});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kRemote);
  EXPECT_EQ(answer.error().message,
            "http://127.0.0.1:" + std::to_string(port) +
                ": connection refused: is the server running, and is this its port?");
}

TEST(HostileServer, NoSuchHost) {
  const auto answer = MakeClient()->Fetch({.url = "http://no-such-host.invalid:8000"});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("http://no-such-host.invalid:8000: no such host"));
}

TEST(HostileServer, HostThatSwallowsConnections) {
  ShortListener listener;
  listener.Fill();
  HttpRequest request{.url = LoopbackUrl(listener.port())};
  request.connect_timeout = milliseconds(200);
  const auto answer = MakeClient()->Fetch(request);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr(": no connection within 200 ms"));
}

TEST(HostileServer, AnswerBeforeTheRequest) {
  RawServer server([](RawSocket& socket) {
    socket.Send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    socket.ReadMessage();
  });
  const auto answer = MakeClient()->Fetch({.url = server.Url()});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 408);
}

TEST(HostileServer, MoreThanWasAsked) {
  // An unrequested second answer must not become the answer to the next request.
  RawServer server([](RawSocket& socket) {
    socket.ReadMessage();
    socket.Send(
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong");
    socket.ReadMessage();
    socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
  });
  const auto client = MakeClient();
  const auto first = client->Fetch({.url = server.Url()});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->body, "1");
  const auto second = client->Fetch({.url = server.Url()});
  if (second) {
    EXPECT_NE(second->body, "wrong");
  }
}

}  // namespace
}  // namespace tacho
