// Streams from the server to the client, and the ways in which either side ends them.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/time.h"
#include "net/net_for_test.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Takes one exchange out of the server's thread, for the test to answer.
class StreamTest : public testing::Test {
 protected:
  StreamTest() {
    port_ = ListenOn(*server_, [this](std::shared_ptr<HttpExchange> exchange) {
      const std::lock_guard lock(mutex_);
      exchanges_.push_back(std::move(exchange));
      came_.notify_all();
    });
  }

  std::shared_ptr<HttpExchange> NextExchange() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, kPatienceForTest, [this] { return !exchanges_.empty(); })) {
      std::cerr << "waited 60 s for a request" << std::endl;
      std::abort();
    }
    auto exchange = std::move(exchanges_.front());
    exchanges_.erase(exchanges_.begin());
    return exchange;
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::shared_ptr<HttpExchange>> exchanges_;
  std::unique_ptr<HttpServer> server_ = MakeServer();
  uint16_t port_ = 0;
  std::unique_ptr<HttpClient> client_ = MakeClient();
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
};

TEST_F(StreamTest, ComesAsItIsWritten) {
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  const auto exchange = NextExchange();
  ASSERT_TRUE(exchange);
  exchange->Begin(200, "text/event-stream");
  exchange->Write("data: 1\n\n");
  ASSERT_TRUE(sink_->WaitForBytes(9));
  EXPECT_EQ(sink_->status, 200);
  EXPECT_EQ(FindHeader(sink_->headers, "content-type"), "text/event-stream");
  exchange->Write("data: 2\n\n");
  exchange->Write("");
  ASSERT_TRUE(sink_->WaitForBytes(18));
  EXPECT_LE(sink_->head_ns, sink_->last_ns);
  exchange->End();
  ASSERT_TRUE(sink_->WaitForEnd());
  EXPECT_TRUE(sink_->times) << sink_->error();
  EXPECT_EQ(sink_->body, "data: 1\n\ndata: 2\n\n");
  EXPECT_EQ(sink_->heads, 1);
  EXPECT_EQ(exchange->backlog(), 0u);
}

TEST_F(StreamTest, WritesOfManyThreadsAreAllThere) {
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  const auto exchange = NextExchange();
  ASSERT_TRUE(exchange);
  exchange->Begin(200, "text/plain");
  {
    std::vector<std::jthread> writers;
    for (int t = 0; t < 4; ++t) {
      writers.emplace_back([&exchange, t] {
        for (int i = 0; i < 1000; ++i) exchange->Write(std::string(9, static_cast<char>('a' + t)));
      });
    }
  }
  exchange->End();
  ASSERT_TRUE(sink_->WaitForEnd());
  ASSERT_EQ(sink_->body.size(), 36'000u);
  for (size_t i = 0; i < sink_->body.size(); i += 9) {
    EXPECT_EQ(sink_->body.substr(i, 9), std::string(9, sink_->body[i]));
  }
}

TEST_F(StreamTest, NextRequestUsesTheSameConnection) {
  for (int i = 0; i < 3; ++i) {
    auto sink = std::make_shared<RecordingSink>();
    client_->Start({.url = LoopbackUrl(port_)}, sink);
    const auto exchange = NextExchange();
    ASSERT_TRUE(exchange);
    exchange->Begin(200, "text/plain");
    exchange->Write(std::to_string(i));
    exchange->End();
    exchange->Write("after the end: nothing");
    ASSERT_TRUE(sink->WaitForEnd());
    EXPECT_EQ(sink->body, std::to_string(i));
  }
}

TEST_F(StreamTest, AbortEndsInTheMiddle) {
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  const auto exchange = NextExchange();
  exchange->Begin(200, "text/plain");
  exchange->Write("half");
  exchange->Abort();
  ASSERT_TRUE(sink_->WaitForEnd());
  ASSERT_FALSE(sink_->times);
  EXPECT_EQ(sink_->body, "half");
  EXPECT_EQ(sink_->times.error().kind, ErrorKind::kRemote);
  EXPECT_THAT(sink_->error(), HasSubstr("answer ended after 4 bytes"));
  EXPECT_FALSE(exchange->connected());
}

TEST_F(StreamTest, DroppedExchangeClosesTheConnection) {
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  NextExchange().reset();
  ASSERT_TRUE(sink_->WaitForEnd());
  EXPECT_THAT(sink_->error(), HasSubstr("connection closed without an answer"));
}

TEST_F(StreamTest, ClosedPortIsADeadServer) {
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  const auto exchange = NextExchange();
  exchange->Begin(200, "text/plain");
  exchange->Write("half");
  ASSERT_TRUE(sink_->WaitForBytes(4));
  server_->Close(port_);
  EXPECT_FALSE(exchange->connected());
  exchange->Write("to nobody");
  ASSERT_TRUE(sink_->WaitForEnd());
  EXPECT_FALSE(sink_->times);
  const auto answer = client_->Fetch({.url = LoopbackUrl(port_)});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              HasSubstr("http://127.0.0.1:" + std::to_string(port_) + ": connection refused"));
}

TEST_F(StreamTest, ExchangeOutlivesItsServer) {
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  const auto exchange = NextExchange();
  exchange->Begin(200, "text/plain");
  server_.reset();
  exchange->Write("x");
  exchange->End();
  exchange->Abort();
  EXPECT_FALSE(exchange->connected());
  EXPECT_EQ(exchange->backlog(), 0u);
  ASSERT_TRUE(sink_->WaitForEnd());
  EXPECT_FALSE(sink_->times);
}

TEST_F(StreamTest, CancelFromAnotherThreadWhileDataFlows) {
  for (int round = 0; round < 20; ++round) {
    auto sink = std::make_shared<RecordingSink>();
    const uint64_t stream = client_->Start({.url = LoopbackUrl(port_)}, sink);
    const auto exchange = NextExchange();
    ASSERT_TRUE(exchange);
    exchange->Begin(200, "text/plain");
    std::atomic<bool> stop = false;
    std::jthread writer([&] {
      while (!stop && exchange->connected()) {
        exchange->Write("data");
        std::this_thread::yield();
      }
    });
    ASSERT_TRUE(sink->WaitForBytes(100));
    client_->Cancel(stream);
    client_->Cancel(stream);
    ASSERT_TRUE(sink->WaitForEnd());
    EXPECT_EQ(sink->times.error().kind, ErrorKind::kInterrupted);
    EXPECT_TRUE(Eventually([&] { return !exchange->connected(); }));
    stop = true;
  }
}

TEST_F(StreamTest, CancelFromWithinACallbackIsTheLastWord) {
  uint64_t stream = 0;
  std::promise<void> known;
  size_t pieces = 0;
  sink_->on_body = [&, ready = known.get_future().share()] {
    ready.wait_for(kPatienceForTest);
    ++pieces;
    client_->Cancel(stream);
  };
  stream = client_->Start({.url = LoopbackUrl(port_)}, sink_);
  known.set_value();
  const auto exchange = NextExchange();
  exchange->Begin(200, "text/plain");
  for (int i = 0; i < 100; ++i) exchange->Write(std::string(5000, 'x'));
  ASSERT_TRUE(sink_->WaitForEnd());
  EXPECT_EQ(sink_->times.error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(pieces, 1u);
  EXPECT_EQ(sink_->ends, 1);
}

TEST_F(StreamTest, ChildrenInheritNoConnection) {
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  const auto exchange = NextExchange();
  ASSERT_TRUE(exchange);
  int connections = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.ss_family != AF_INET) continue;
    ++connections;
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_GE(connections, 2);
}

TEST_F(StreamTest, CancelOfAnUnknownNumber) {
  client_->Cancel(12345);
  client_->Start({.url = "http://"}, sink_);
  ASSERT_TRUE(sink_->WaitForEnd());
  EXPECT_EQ(sink_->times.error().kind, ErrorKind::kUsage);
}

TEST_F(StreamTest, StopTokenEndsAFetch) {
  std::stop_source stop;
  auto fetch = std::async(std::launch::async, [&] {
    return client_->Fetch({.url = LoopbackUrl(port_)}, stop.get_token());
  });
  const auto exchange = NextExchange();
  ASSERT_TRUE(exchange);
  stop.request_stop();
  const auto answer = fetch.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kInterrupted);
  EXPECT_TRUE(Eventually([&] { return !exchange->connected(); }));
  const auto next = client_->Fetch({.url = LoopbackUrl(port_)}, stop.get_token());
  EXPECT_EQ(next.error().kind, ErrorKind::kInterrupted);
}

TEST_F(StreamTest, StopTokenEndsAllOfThem) {
  std::stop_source stop;
  const std::vector<HttpRequest> requests(8, HttpRequest{.url = LoopbackUrl(port_)});
  auto fetch =
      std::async(std::launch::async, [&] { return client_->FetchAll(requests, stop.get_token()); });
  std::vector<std::shared_ptr<HttpExchange>> exchanges;
  for (int i = 0; i < 8; ++i) exchanges.push_back(NextExchange());
  exchanges[3]->Respond(200, "in time", "text/plain");
  ASSERT_TRUE(Eventually([&] { return exchanges[3]->backlog() == 0; }));
  std::this_thread::sleep_for(milliseconds(50));
  stop.request_stop();
  int answered = 0;
  for (const auto& answer : fetch.get()) {
    if (answer) {
      ++answered;
    } else {
      EXPECT_EQ(answer.error().kind, ErrorKind::kInterrupted);
    }
  }
  EXPECT_EQ(answered, 1);
}

TEST_F(StreamTest, DestructWithExchangesUnderWay) {
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  std::vector<std::shared_ptr<HttpExchange>> exchanges;
  for (int i = 0; i < 20; ++i) {
    sinks.push_back(std::make_shared<RecordingSink>());
    client_->Start({.url = LoopbackUrl(port_)}, sinks.back());
    exchanges.push_back(NextExchange());
    exchanges.back()->Begin(200, "text/plain");
    exchanges.back()->Write("x");
  }
  sinks.push_back(std::make_shared<RecordingSink>());
  client_->Start({.url = LoopbackUrl(port_)}, sinks.back());
  client_.reset();
  for (const auto& sink : sinks) {
    EXPECT_EQ(sink->ends, 1);
    EXPECT_EQ(sink->times.error().kind, ErrorKind::kInterrupted);
  }
  for (const auto& exchange : exchanges) {
    EXPECT_TRUE(Eventually([&] { return !exchange->connected(); }));
  }
}

TEST_F(StreamTest, ConnectedFallsWhenTheReaderLeaves) {
  RawSocket reader = RawSocket::ConnectTo(port_);
  reader.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto exchange = NextExchange();
  ASSERT_TRUE(exchange);
  EXPECT_TRUE(exchange->connected());
  reader.Close();
  EXPECT_TRUE(Eventually([&] { return !exchange->connected(); }));
}

TEST_F(StreamTest, SlowReaderShowsInTheBacklog) {
  RawSocket reader = RawSocket::ConnectTo(port_);
  reader.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto exchange = NextExchange();
  exchange->Begin(200, "text/plain");
  constexpr size_t kPiece = 1'000'000;
  for (int i = 0; i < 20; ++i) exchange->Write(std::string(kPiece, 'x'));
  EXPECT_GT(exchange->backlog(), 5 * kPiece);
  exchange->End();
  const std::string all = reader.ReadUntil("\r\n0\r\n\r\n");
  EXPECT_GT(all.size(), 20 * kPiece);
  EXPECT_TRUE(Eventually([&] { return exchange->backlog() == 0; }));
}

TEST_F(StreamTest, ManyStreamsAtOnce) {
  constexpr size_t kStreams = 300;
  constexpr int kEvents = 20;
  std::vector<std::shared_ptr<RecordingSink>> sinks;
  for (size_t i = 0; i < kStreams; ++i) {
    sinks.push_back(std::make_shared<RecordingSink>());
    client_->Start({.url = LoopbackUrl(port_)}, sinks.back());
  }
  std::vector<std::shared_ptr<HttpExchange>> exchanges;
  for (size_t i = 0; i < kStreams; ++i) {
    exchanges.push_back(NextExchange());
    ASSERT_TRUE(exchanges.back());
  }
  // One step of an engine: a token for each of its streams, from the server's thread.
  int step = 0;
  std::function<void()> tick = [&] {
    for (const auto& exchange : exchanges) {
      if (step == 0) exchange->Begin(200, "text/event-stream");
      exchange->Write("data: " + std::to_string(step) + "\n\n");
      if (step == kEvents - 1) exchange->End();
    }
    if (++step < kEvents) server_->At(MonotonicNs() + 2'000'000, tick);
  };
  server_->Post(tick);
  std::string expected;
  for (int i = 0; i < kEvents; ++i) expected += "data: " + std::to_string(i) + "\n\n";
  for (const auto& sink : sinks) {
    ASSERT_TRUE(sink->WaitForEnd());
    EXPECT_TRUE(sink->times) << sink->error();
    EXPECT_EQ(sink->body, expected);
  }
}

// Chunks that waited for the client keep their own arrival times, unless the kernel merged them:
// then they have the time of the next.
TEST_F(StreamTest, AClientThatIsLateKnowsWhenEachChunkCame) {
  constexpr size_t kRounds = 20, kChunks = 4, kSize = 9;
  client_->Start({.url = LoopbackUrl(port_)}, sink_);
  const auto exchange = NextExchange();
  ASSERT_TRUE(exchange);
  exchange->Begin(200, "text/event-stream");
  size_t told_apart = 0, sent = 0;
  for (size_t round = 0; round < kRounds && told_apart == 0; ++round) {
    std::promise<void> busy, free;
    client_->Post([&] {
      busy.set_value();
      free.get_future().wait();
    });
    busy.get_future().wait();
    std::vector<int64_t> written;
    for (size_t i = 0; i < kChunks; ++i) {
      written.push_back(MonotonicNs());
      exchange->Write("data: 0\n\n");
      std::promise<void> is_written;  // a busy server writes late
      server_->Post([&] { is_written.set_value(); });
      is_written.get_future().wait();
      // After short pauses of one length the client's kernel delays its ACKs. The server's kernel
      // then keeps what it sent, and does not merge it.
      std::this_thread::sleep_for(milliseconds(3));
    }
    const int64_t freed = MonotonicNs();
    written.push_back(freed);
    free.set_value();
    ASSERT_TRUE(sink_->WaitForBytes(sent + kChunks * kSize));
    // If the first chunk came well before `freed`, the client was late; else a busy server was.
    if (sink_->came_ns[sent + kSize] < freed - 1'000'000) {
      EXPECT_GE(sink_->late_until_ns, freed);
    }
    size_t apart = 0;
    int64_t before_ns = 0;
    for (size_t i = 0; i < kChunks; ++i) {
      const int64_t came_ns = sink_->came_ns[sent += kSize];
      EXPECT_GE(came_ns, std::max(before_ns, written[i] - 10'000)) << i;
      before_ns = came_ns;
      apart += came_ns < written[i + 1] + 10'000 ? 1 : 0;
    }
    told_apart += apart == kChunks ? 1 : 0;
  }
  if (sink_->late_until_ns == 0) GTEST_SKIP() << "no stamps of the kernel's";
  EXPECT_GT(told_apart, 0u);
}

}  // namespace
}  // namespace tacho
