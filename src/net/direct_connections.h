#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/address_dial.h"
#include "net/arrival_clock.h"
#include "net/direct_connection.h"

namespace tacho {

// The sockets of a client: those that carry exchanges, and those kept for the next. On the loop's
// thread alone.
class DirectConnections {
 public:
  // `ended` may destroy the exchange.
  DirectConnections(EventLoop& loop, size_t most_idle, Dialer dial,
                    std::function<void(Exchange&)> ended);

  // Over the connection to its server that became idle last, or over a new one.
  void Carry(DirectExchange& exchange);
  // Closes what carries it.
  void Leave(DirectExchange& exchange);
  void CloseAll();

 private:
  friend DirectConnection;

  // Whether the loop comes late to what waits at this socket: it is then read chunk by chunk, for a
  // read of several has the time of the last. Costs a system call where the loop has not looked for
  // a while, else none.
  bool ComesLate(int socket);

  void DialFor(DirectExchange& exchange);
  // True when the exchange is in its hands: the server was reached not long ago.
  bool DialKnown(DirectExchange& exchange);
  void DialAnew(DirectExchange& exchange, std::chrono::milliseconds patience);
  void Connected(DirectExchange& exchange, FileDescriptor socket);
  // The exchange of a connection is over; `keep`: it may carry another one. The connection is
  // perhaps destroyed.
  void End(DirectConnection& connection, bool keep);
  // The server had just closed the connection, which had been kept: once more over a new one.
  void SendAgain(DirectConnection& connection);
  void Close(DirectConnection& connection);

  EventLoop& loop_;
  const size_t most_idle_;
  const Dialer dial_;
  const std::function<void(Exchange&)> ended_;
  std::vector<char> buffer_;  // of what is being received
  ArrivalClock arrivals_;
  uint64_t judged_look_ = 0;
  int64_t late_until_ns_ = 0;
  std::unordered_map<DirectConnection*, std::unique_ptr<DirectConnection>> all_;
  std::unordered_map<std::string, std::vector<DirectConnection*>> idle_;  // by origin
  size_t idle_count_ = 0;
  std::unordered_map<std::string, PeerAddress> reached_;  // by origin
};

}  // namespace tacho
