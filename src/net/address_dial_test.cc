// Dialing servers that were reached before.
#include "net/address_dial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <future>
#include <thread>

#include "base/monotonic_clock.h"
#include "net/direct_connections.h"
#include "net/net_for_test.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

// The address of `listener`.
PeerAddress AddressOf(ShortListener& listener) {
  const RawSocket socket = RawSocket::ConnectTo(listener.port());
  const RawSocket other_end = listener.Accept();
  return *PeerAddress::Of(socket.fd(), MonotonicNs());
}

class AddressDialTest : public testing::Test {
 protected:
  AddressDialTest() {
    loop_->Start("test", [] {});
  }
  ~AddressDialTest() override { loop_->Stop(); }

  // Whether a socket came, and to which port it is connected.
  std::future<int> Dial(milliseconds patience) {
    loop_->Post([this, patience] {
      dial_ = AddressDial::Start(*loop_, address_, patience, [this](FileDescriptor fd) {
        dial_.reset();
        sockaddr_in peer{};
        socklen_t size = sizeof(peer);
        const bool reached =
            fd && getpeername(fd.get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0;
        port_.set_value(reached ? ntohs(peer.sin_port) : -1);
      });
      if (!dial_) port_.set_value(-2);
    });
    return port_.get_future();
  }

  ShortListener listener_;
  const PeerAddress address_ = AddressOf(listener_);
  std::promise<int> port_;
  std::unique_ptr<EventLoop> loop_ = std::move(*EventLoop::Create());
  std::unique_ptr<tacho::Dial> dial_;
};

TEST_F(AddressDialTest, Reaches) {
  EXPECT_EQ(Await(Dial(milliseconds(5000)), "a dial"), listener_.port());
}

TEST_F(AddressDialTest, ServerIsGone) {
  listener_.Close();
  EXPECT_EQ(Await(Dial(milliseconds(5000)), "a dial"), -1);
}

TEST_F(AddressDialTest, NobodyAnswersInTime) {
  listener_.Fill();
  const int64_t begun = MonotonicNs();
  EXPECT_EQ(Await(Dial(milliseconds(100)), "a dial"), -1);
  EXPECT_GE(MonotonicNs() - begun, 100'000'000);
}

TEST_F(AddressDialTest, MakesNoCallAfterItWasGivenUp) {
  listener_.Fill();
  auto told = Dial(milliseconds(50));
  loop_->Post([this] { dial_.reset(); });
  EXPECT_EQ(told.wait_for(milliseconds(200)), std::future_status::timeout);
}

TEST(PeerAddress, OnlyOfConnectedIpSockets) {
  EXPECT_FALSE(PeerAddress::Of(-1, 0));
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor one(ends[0]), two(ends[1]);
  EXPECT_FALSE(PeerAddress::Of(one.get(), 0));
  const ShortListener listener;
  const RawSocket socket = RawSocket::ConnectTo(listener.port());
  const auto peer = PeerAddress::Of(socket.fd(), 7);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->reached_ns, 7);
  EXPECT_EQ(ntohs(reinterpret_cast<const sockaddr_in&>(peer->storage).sin_port), listener.port());
}

// How a connection is made: by the dialer, or to the known address.
class KnownAddress : public testing::Test {
 protected:
  KnownAddress() {
    loop_->Start("test", [] {});
  }
  ~KnownAddress() override {
    loop_->Post([this] { connections_.CloseAll(); });
    loop_->Stop();
  }
  // Fetches over a connection that the server then closes.
  std::string Fetch() {
    std::thread server([this] {
      RawSocket socket = listener_.Accept();
      socket.ReadMessage();
      socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    const auto sink = Begin();
    EXPECT_TRUE(sink->WaitForEnd());
    server.join();
    return sink->error();
  }
  std::shared_ptr<RecordingSink> Begin() {
    const auto sink = std::make_shared<RecordingSink>();
    HttpRequest request{.url = LoopbackUrl(listener_.port())};
    request.connect_timeout = milliseconds(200);
    exchanges_.push_back(
        std::make_unique<DirectExchange>(exchanges_.size(), request, sink, connections_));
    EXPECT_TRUE(exchanges_.back()->Check(Keys({}, "", false)));
    loop_->Post([exchange = exchanges_.back().get()] { exchange->Begin(); });
    return sink;
  }
  std::unique_ptr<Dial> Call(milliseconds patience, Dialed dialed) {
    patience_.push_back(patience);
    return AddressDial::Start(*loop_, address_, patience, std::move(dialed));
  }

  ShortListener listener_;
  const PeerAddress address_ = AddressOf(listener_);
  std::vector<milliseconds> patience_;  // of each call of the dialer
  std::unique_ptr<EventLoop> loop_ = std::move(*EventLoop::Create());
  DirectConnections connections_{*loop_, 8,
                                 [this](Exchange&, milliseconds patience, Dialed dialed) {
                                   return Call(patience, std::move(dialed));
                                 },
                                 [](Exchange& exchange) { exchange.End(); }};
  std::vector<std::unique_ptr<DirectExchange>> exchanges_;
};

TEST_F(KnownAddress, IsDialedWithoutTheDialer) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Fetch(), "");
  EXPECT_THAT(patience_, ElementsAre(milliseconds(200)));
}

TEST_F(KnownAddress, FailsOnceAndIsForgotten) {
  EXPECT_EQ(Fetch(), "");
  listener_.Fill();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Begin()->WaitForEnd());
  EXPECT_THAT(patience_,
              ElementsAre(milliseconds(200), AllOf(Gt(milliseconds(0)), Le(milliseconds(100))),
                          milliseconds(200)))
      << "half of the time was the known address's";
}

// The whole client: a second request after the server closed the first connection.
class ReachedBefore : public testing::Test {
 protected:
  ReachedBefore() {
    std::thread server([this] {
      RawSocket socket = listener_.Accept();
      socket.ReadMessage();
      socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    const auto first = Fetch();
    server.join();
    EXPECT_TRUE(first) << first.error().message;
  }
  Result<HttpResponse> Fetch() {
    HttpRequest request{.url = LoopbackUrl(listener_.port())};
    request.connect_timeout = milliseconds(200);
    return client_->Fetch(request);
  }

  ShortListener listener_;
  std::unique_ptr<HttpClient> client_ = MakeClient();
};

TEST_F(ReachedBefore, IsReachedAgain) {
  std::thread server([this] {
    RawSocket socket = listener_.Accept();
    socket.ReadMessage();
    socket.Send("HTTP/1.1 204 No Content\r\n\r\n");
  });
  const auto answer = Fetch();
  server.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 204);
}

TEST_F(ReachedBefore, IsGone) {
  listener_.Close();
  const auto answer = Fetch();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr(": connection refused: is the server running"));
}

TEST_F(ReachedBefore, SwallowsConnections) {
  listener_.Fill();
  const auto answer = Fetch();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr(": no connection within 200 ms"));
}

}  // namespace
}  // namespace tacho
