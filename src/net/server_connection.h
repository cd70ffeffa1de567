#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/event_loop.h"
#include "net/held_bytes.h"
#include "net/http_server.h"
#include "net/request_parser.h"

namespace tacho {

class ServerConnections;

// One accepted connection: it takes requests, one after the other, and sends their answers. The
// loop's thread reads and writes the socket. Any thread may compose an answer: it appends, under a
// lock, to a buffer that the loop's thread writes after each batch of events.
class ServerConnection final : public FdWatcher,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(ServerConnections& all, FileDescriptor socket, uint16_t port,
                   std::shared_ptr<const HttpHandler> handler);

  // Only on the loop's thread.
  void Open();
  void OnReady(int fd, uint32_t events) override;
  void Flush();
  void Close();
  // Closes the connection when a deadline has passed at two calls in a row. The loop polls the
  // socket between the two calls, so a late loop does not close the connection of a punctual peer.
  void CloseIfLate(int64_t now_ns);
  uint16_t port() const { return port_; }

  // From any thread. `answer` is the number of the request being answered; calls for an answer that
  // is over do nothing.
  void Respond(uint64_t answer, int status, std::string_view body, std::string_view content_type,
               const std::vector<HttpHeader>& headers);
  void Begin(uint64_t answer, int status, std::string_view content_type,
             const std::vector<HttpHeader>& headers);
  void Write(uint64_t answer, std::string_view bytes);
  void End(uint64_t answer);
  void Abort(uint64_t answer);
  bool connected() const;
  size_t Backlog(uint64_t answer) const;

 private:
  // kAhead takes bytes that come during an answer.
  enum class Reading { kRequest, kAhead, kDrain };
  enum class Answer { kNone, kAwaited, kStreaming, kComplete };

  void TakeInput(std::string_view bytes);
  void Refuse(int status, std::string_view text);
  bool Admit();
  void RefuseBodies();
  RequestParser::State FeedParser(std::string_view& bytes);
  void GiveToHandler();
  void NextRequest();
  void Drain();
  void WatchEvents();
  // Call these with the lock held.
  bool Answers(uint64_t answer, Answer state) const;
  void AddHead(int status, std::string_view content_type, const std::vector<HttpHeader>& headers);
  void MarkDirty();
  bool SendQueued();

  ServerConnections& all_;
  FileDescriptor socket_;
  const uint16_t port_;
  const std::shared_ptr<const HttpHandler> handler_;

  // Only the loop's thread uses these.
  RequestParser parser_;
  HeldBytes held_;  // bytes of the request that is being read
  Reading reading_ = Reading::kRequest;
  std::string input_;        // bytes that came and are not used yet
  int64_t came_ns_ = 0;      // when the most recently read bytes came
  int64_t deadline_ns_ = 0;  // deadline for the peer to send more; 0: unlimited
  int64_t stall_ns_ = 0;     // deadline for the peer to take more of an answer; 0: unlimited
  bool was_late_ = false;    // a deadline had passed at the last CloseIfLate
  bool head_timed_ = false;
  bool continued_ = false;
  uint32_t events_ = 0;  // the events that the loop watches

  mutable std::mutex mutex_;
  std::string output_;
  size_t sent_ = 0;  // bytes of output_
  uint64_t answer_number_ = 0;
  Answer answer_ = Answer::kNone;
  bool chunked_ = false;
  bool no_body_ = false;  // the request was HEAD
  bool keep_alive_ = false;
  bool dirty_ = false;
  bool aborted_ = false;
  bool closed_ = false;
};

}  // namespace tacho
