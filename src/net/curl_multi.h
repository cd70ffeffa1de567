#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>

#include "net/event_loop.h"

namespace tacho {

// When the loop's last poll found the bytes that libcurl now reads.
struct FoundBytes {
  int64_t at_ns = 0;
  const char* last = nullptr;  // where the bytes lie that an exchange got last
};

// Runs libcurl's transfers on an event loop: watches their sockets, keeps libcurl's timer, and
// calls CurlHandle::OnDone at the end of each transfer. Once the loop runs, only its thread may use
// this object.
class CurlMulti final : private FdWatcher {
 public:
  explicit CurlMulti(EventLoop& loop) : loop_(loop) {}
  // Destroy it only after the loop has stopped or after Close.
  ~CurlMulti() override { Close(); }
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  // kBug: libcurl returned no handle.
  Result<void> Open(size_t most_idle_connections);
  CURLM* handle() const { return multi_; }
  FoundBytes& found() { return found_; }
  // Call it after the loop's jobs and events: it writes the requests that they added, all at once.
  void BetweenEvents();
  // Stops watching libcurl's sockets. All handles must have left before.
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
  int64_t armed_ns_ = INT64_MAX;  // when the loop's timer is due
  bool may_have_ended_ = false;
};

}  // namespace tacho
