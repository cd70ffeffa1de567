#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>

#include "net/event_loop.h"

namespace tacho {

// When the bytes were found that libcurl reads in this turn.
struct FoundBytes {
  int64_t at_ns = 0;
  const char* last = nullptr;  // given to an exchange
};

// libcurl's transfers on an event loop: it watches their sockets, keeps libcurl's timer, and tells
// each handle when it is done (CurlHandle::OnDone). On the loop's thread, once that runs.
class CurlMulti final : private FdWatcher {
 public:
  explicit CurlMulti(EventLoop& loop) : loop_(loop) {}
  // The loop is no longer running, or Close came before.
  ~CurlMulti() override { Close(); }
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  // kBug: libcurl gives no handle.
  Result<void> Open(size_t most_idle_connections);
  CURLM* handle() const { return multi_; }
  FoundBytes& found() { return found_; }
  // To be called after the loop's jobs and events: writes the new requests, all that were added
  // since, in one go.
  void BetweenEvents();
  // Lets go of the sockets that the loop watches. No handle has joined any more.
  void Close();

 private:
  static int OnSocket(CURL* handle, curl_socket_t fd, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long after_ms, void* self);
  void OnReady(int fd, uint32_t events) override;
  void Act(curl_socket_t fd, int what);
  void ArmTimer();
  void Reap();

  EventLoop& loop_;
  CURLM* multi_ = nullptr;
  FoundBytes found_;
  int64_t due_ns_ = INT64_MAX;    // when libcurl wants to be called
  int64_t armed_ns_ = INT64_MAX;  // when the loop will look at that
  bool may_have_ended_ = false;
};

}  // namespace tacho
