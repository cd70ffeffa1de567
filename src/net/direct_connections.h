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

// A client's sockets: those in use, and idle ones kept for the next exchange. Used only on the
// loop's thread.
class DirectConnections {
 public:
  // `ended` may destroy the exchange.
  DirectConnections(EventLoop& loop, size_t most_idle, Dialer dial,
                    std::function<void(Exchange&)> ended);

  // Starts the exchange on the most recently used idle connection to its server, or on a new one.
  void Carry(DirectExchange& exchange);
  // Closes the connection of the exchange.
  void Leave(DirectExchange& exchange);
  void CloseAll();

 private:
  friend DirectConnection;

  // Whether the loop reads this socket late. The caller must then read chunk by chunk: a read of
  // several chunks gives only the time of the last one. Costs a system call if the loop has not
  // polled for a while, else none.
  bool ComesLate(int socket);

  void DialFor(DirectExchange& exchange);
  // Dials the address of a server that was reached recently. False if the server was not reached
  // recently, or if dialing cannot begin.
  bool DialKnown(DirectExchange& exchange);
  void DialAnew(DirectExchange& exchange, std::chrono::milliseconds patience);
  void Connected(DirectExchange& exchange, FileDescriptor socket);
  // Call it when the connection's exchange is over. `keep`: the connection may be reused. May
  // destroy the connection.
  void End(DirectConnection& connection, bool keep);
  // The server closed the kept connection just before: sends the request again on a new one.
  void SendAgain(DirectConnection& connection);
  void Close(DirectConnection& connection);

  EventLoop& loop_;
  const size_t most_idle_;
  const Dialer dial_;
  const std::function<void(Exchange&)> ended_;
  std::vector<char> buffer_;  // received bytes
  ArrivalClock arrivals_;
  uint64_t judged_look_ = 0;
  int64_t late_until_ns_ = 0;
  std::unordered_map<DirectConnection*, std::unique_ptr<DirectConnection>> all_;
  std::unordered_map<std::string, std::vector<DirectConnection*>> idle_;  // by origin
  size_t idle_count_ = 0;
  std::unordered_map<std::string, PeerAddress> reached_;  // by origin
};

}  // namespace tacho
