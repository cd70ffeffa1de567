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

// An exchange over plain http on a socket that we read without libcurl. Each receive takes all
// bytes that have arrived, and the sink reads them in the receive buffer.
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
  size_t written_ = 0;  // bytes of the head and the body
};

// A connection to a server; it carries one exchange or is idle. Used only on the loop's thread.
//
// Its first members are those that each piece of a body needs; the same holds for the exchange, its
// parser and the sink. A thousand streams do not fit into the cache, and each cache miss costs as
// much as parsing a token.
class DirectConnection final : private FdWatcher {
 public:
  DirectConnection(DirectConnections& all, FileDescriptor socket, std::string origin);
  ~DirectConnection() override;
  DirectConnection(const DirectConnection&) = delete;
  DirectConnection& operator=(const DirectConnection&) = delete;

  const std::string& origin() const { return origin_; }
  // The connection is idle, and the server has neither closed it nor sent anything: it can take the
  // next exchange.
  bool IsQuiet() const;
  void Carry(DirectExchange& exchange);

 private:
  friend DirectConnections;

  void OnReady(int fd, uint32_t events) override;
  void Write();
  // False if the exchange is over; this object is then destroyed. `late`: reads chunk by chunk.
  bool Read(bool to_the_end, bool late);
  bool Take(std::string_view bytes);
  bool EndOfInput(int error);

  DirectConnections& all_;
  const FileDescriptor socket_;
  DirectExchange* exchange_ = nullptr;
  const HttpSink* sink_ = nullptr;  // the sink of `exchange_`, kept here to save a cache miss
  bool used_before_ = false;
  bool awaits_room_ = false;
  bool cannot_write_ = false;
  const std::string origin_;
};

}  // namespace tacho
