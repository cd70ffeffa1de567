#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/arrival_clock.h"
#include "net/held_bytes.h"
#include "net/server_connection.h"

namespace tacho {

// All connections of one server. Used on the loop's thread.
class ServerConnections {
 public:
  ServerConnections(EventLoop& loop, const HttpServerOptions& options);

  void Add(FileDescriptor socket, uint16_t port, std::shared_ptr<const HttpHandler> handler);
  void Remove(int fd);
  void CloseOf(uint16_t port);
  void CloseAll();
  // Writes the bytes that connections have queued since the last call.
  void Flush();
  // From any thread, while `connection` is open: Flush will write what it has queued.
  void MarkDirty(std::shared_ptr<ServerConnection> connection);

  EventLoop& loop() { return loop_; }
  const HttpServerOptions& options() const { return options_; }
  // The buffer that connections read into.
  std::array<char, 64 * 1024>& read_buffer() { return read_buffer_; }
  ArrivalClock& arrivals() { return arrivals_; }
  HeldBytes NoBytes() const { return HeldBytes(held_); }

 private:
  void Sweep();

  EventLoop& loop_;
  const HttpServerOptions options_;
  std::unordered_map<int, std::shared_ptr<ServerConnection>> connections_;  // by descriptor
  std::vector<std::shared_ptr<ServerConnection>> dirty_;
  std::vector<std::shared_ptr<ServerConnection>> flushing_;
  bool sweeping_ = false;
  std::array<char, 64 * 1024> read_buffer_;
  ArrivalClock arrivals_;
  // Shared, because an exchange may outlive the server.
  const std::shared_ptr<std::atomic<uint64_t>> held_ = std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace tacho
