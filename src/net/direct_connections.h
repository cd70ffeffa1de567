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

// The sockets of a client: those in use, and idle ones kept for the next exchange. Used on the
// loop's thread alone.
class DirectConnections {
 public:
  // `ended` may destroy the exchange.
  DirectConnections(EventLoop& loop, size_t most_idle, Dialer dial,
                    std::function<void(Exchange&)> ended);

  // Starts the exchange on the connection to its server that became idle last, or on a new one.
  void Carry(DirectExchange& exchange);
  // Closes the connection of the exchange.
  void Leave(DirectExchange& exchange);
  void CloseAll();

 private:
  friend DirectConnection;

  // Whether the loop is late for the bytes at this socket. It then reads chunk by chunk, because a
  // read of several chunks has only the time of the last chunk. Costs a system call if the loop has
  // not polled for a while, else none.
  bool ComesLate(int socket);

  void DialFor(DirectExchange& exchange);
  // True if it takes the exchange, because the server was reached recently.
  bool DialKnown(DirectExchange& exchange);
  void DialAnew(DirectExchange& exchange, std::chrono::milliseconds patience);
  void Connected(DirectExchange& exchange, FileDescriptor socket);
  // The exchange of a connection is over; `keep`: the connection may be reused. May destroy the
  // connection.
  void End(DirectConnection& connection, bool keep);
  // The server had just closed the kept connection: sends the request again on a new one.
  void SendAgain(DirectConnection& connection);
  void Close(DirectConnection& connection);

  EventLoop& loop_;
  const size_t most_idle_;
  const Dialer dial_;
  const std::function<void(Exchange&)> ended_;
  std::vector<char> buffer_;  // for received bytes
  ArrivalClock arrivals_;
  uint64_t judged_look_ = 0;
  int64_t late_until_ns_ = 0;
  std::unordered_map<DirectConnection*, std::unique_ptr<DirectConnection>> all_;
  std::unordered_map<std::string, std::vector<DirectConnection*>> idle_;  // by origin
  size_t idle_count_ = 0;
  std::unordered_map<std::string, PeerAddress> reached_;  // by origin
};

}  // namespace tacho
