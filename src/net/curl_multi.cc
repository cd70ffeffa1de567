#include "net/curl_multi.h"

#include <sys/epoll.h>

#include "base/monotonic_clock.h"
#include "net/curl_handle.h"
#include "net/curl_library.h"

namespace tacho {

Result<void> CurlMulti::Open(size_t most_idle_connections) {
  multi_ = Curl()->multi_init();
  if (multi_ == nullptr) return Fail(ErrorKind::kBug, "libcurl returned no handle");
  Curl()->multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlMulti::OnSocket);
  Curl()->multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  Curl()->multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlMulti::OnTimer);
  Curl()->multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  Curl()->multi_setopt(multi_, CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING});
  Curl()->multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(most_idle_connections));
  return {};
}

void CurlMulti::Close() {
  if (multi_ != nullptr) Curl()->multi_cleanup(multi_);
  multi_ = nullptr;
}

int CurlMulti::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& multi = *static_cast<CurlMulti*>(self);
  if (what == CURL_POLL_REMOVE) {
    multi.loop_.Unwatch(fd);
    return 0;
  }
  uint32_t events = 0;
  if (what != CURL_POLL_OUT) events |= EPOLLIN;
  if (what != CURL_POLL_IN) events |= EPOLLOUT;
  multi.loop_.Watch(fd, events, &multi);
  return 0;
}

int CurlMulti::OnTimer(CURLM*, long after_ms, void* self) {
  auto& multi = *static_cast<CurlMulti*>(self);
  multi.due_ns_ = after_ms < 0 ? INT64_MAX : MonotonicNs() + int64_t{after_ms} * 1'000'000;
  return 0;
}

void CurlMulti::OnReady(int fd, uint32_t events) {
  found_ = {.at_ns = loop_.ready_ns()};
  int what = 0;
  if ((events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
  if ((events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
  Act(fd, what);
}

void CurlMulti::Act(curl_socket_t fd, int what) {
  int running = 0;
  Curl()->multi_socket_action(multi_, fd, what, &running);
  may_have_ended_ = true;
}

void CurlMulti::BetweenEvents() {
  if (multi_ == nullptr) return;  // closed
  if (due_ns_ != INT64_MAX) {
    const int64_t now = MonotonicNs();
    if (due_ns_ <= now) {
      due_ns_ = INT64_MAX;
      found_ = {.at_ns = now};
      Act(CURL_SOCKET_TIMEOUT, 0);
    }
    ArmTimer();
  }
  if (may_have_ended_) Reap();
}

void CurlMulti::ArmTimer() {
  if (due_ns_ >= armed_ns_) return;
  armed_ns_ = due_ns_;
  // The timed job need not act itself: the loop calls BetweenEvents after it.
  loop_.At(due_ns_, [this] { armed_ns_ = INT64_MAX; });
}

void CurlMulti::Reap() {
  may_have_ended_ = false;
  int left = 0;
  while (const CURLMsg* message = Curl()->multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CurlHandle::Of(message->easy_handle).OnDone(message->data.result);
  }
}

}  // namespace tacho
