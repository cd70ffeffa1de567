#include "net/arrival_clock.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <string_view>
#include <thread>

#include "base/file_descriptor.h"
#include "base/monotonic_clock.h"
#include "net/loopback_port_for_test.h"

namespace tacho {
namespace {

// Two ends of a TCP connection over loopback.
struct Connection {
  FileDescriptor near, far;
};

Connection Connect() {
  const LoopbackPort listener(1);
  const sockaddr_in address = LoopbackAddress(listener.port());
  Connection both;
  both.near = FileDescriptor(socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(connect(both.near.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  both.far = FileDescriptor(accept(listener.fd(), nullptr, nullptr));
  return both;
}

TEST(ArrivalClock, AReaderThatIsLateLearnsWhenTheBytesCame) {
  const Connection both = Connect();
  ArrivalClock::Ask(both.near.get());
  // The first request for stamps takes effect a moment later.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ArrivalClock clock;
  for (int round = 0; round < 3; ++round) {
    const int64_t before = MonotonicNs();
    ASSERT_EQ(send(both.far.get(), "token", 5, 0), 5);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int64_t late = MonotonicNs();
    char bytes[16];
    const ArrivalClock::Received received =
        clock.Receive(both.near.get(), bytes, sizeof(bytes), late);
    ASSERT_EQ(std::string_view(bytes, static_cast<size_t>(received.count)), "token");
    if (received.came_ns == 0) GTEST_SKIP() << "this kernel stamps nothing that it receives";
    EXPECT_GE(received.came_ns, before - 10'000);  // the offset is measured to 2 us
    EXPECT_LT(received.came_ns, late - 20'000'000);
  }
}

TEST(ArrivalClock, NoStampWithoutARequestForIt) {
  const Connection both = Connect();
  ArrivalClock clock;
  ASSERT_EQ(send(both.far.get(), "token", 5, 0), 5);
  pollfd ready{both.near.get(), POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, 10'000), 1);
  char bytes[16];
  const auto received = clock.Receive(both.near.get(), bytes, sizeof(bytes), MonotonicNs());
  EXPECT_EQ(received.count, 5);
  EXPECT_EQ(received.came_ns, 0);
  EXPECT_EQ(clock.Receive(both.near.get(), bytes, sizeof(bytes), MonotonicNs()).count, -1);
}

}  // namespace
}  // namespace tacho
