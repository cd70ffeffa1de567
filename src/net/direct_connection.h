#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "net/dial.h"
#include "net/event_loop.h"
#include "net/exchange.h"

namespace tacho {

class DirectConnection;
class DirectConnections;

// An exchange over plain http and a socket of our own: one receive for the bytes that came, and
// they go to the sink from where the kernel put them.
class DirectExchange final : public Exchange {
 public:
  DirectExchange(uint64_t number, HttpRequest request, std::shared_ptr<HttpSink> sink,
                 DirectConnections& connections);

  void Begin() override;
  void Leave() override;
  bool TakeHead(const ResponseHead& head) override;

 private:
  friend DirectConnection;
  friend DirectConnections;

  std::string HeadText() const;

  DirectConnections& connections_;
  std::unique_ptr<Dial> dial_;
  DirectConnection* connection_ = nullptr;
  ResponseParser parser_;
  std::string head_text_;
  size_t written_ = 0;  // of the head and the body
};

// A connection to a server, with the exchange that it carries, or idle. On the loop's thread alone.
// What a piece of a body touches stands first here, in the exchange, in its parser and in the sink:
// a thousand streams fit no cache, and each line of memory that is not there costs what parsing a
// token costs.
class DirectConnection final : private FdWatcher {
 public:
  DirectConnection(DirectConnections& all, FileDescriptor socket, std::string origin);
  ~DirectConnection() override;
  DirectConnection(const DirectConnection&) = delete;
  DirectConnection& operator=(const DirectConnection&) = delete;

  const std::string& origin() const { return origin_; }
  // Idle, and neither closed by the server nor spoken to by it: fit for the next exchange.
  bool IsQuiet() const;
  void Carry(DirectExchange& exchange);

 private:
  friend DirectConnections;

  void OnReady(int fd, uint32_t events) override;
  void Write();
  // False when the exchange is over: this is destroyed then. `late`: chunk by chunk.
  bool Read(bool to_the_end, bool late);
  bool Take(std::string_view bytes);
  bool EndOfInput(int error);

  DirectConnections& all_;
  const FileDescriptor socket_;
  DirectExchange* exchange_ = nullptr;
  const HttpSink* sink_ = nullptr;  // the exchange's: here at hand without going there
  bool used_before_ = false;
  bool awaits_room_ = false;
  bool cannot_write_ = false;
  const std::string origin_;
};

}  // namespace tacho
