#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"

namespace tacho {

// The events of a run, for all pages that listen (text/event-stream). One that comes later gets
// first what the others got, of the progress only the last. Thread-safe.
class EventHub {
 public:
  // `data`: one JSON document.
  void Send(std::string_view event, std::string_view data);
  void SendProgress(std::string_view data);
  // Answers with the events so far and keeps the connection; 503 where too many listen.
  void Listen(std::shared_ptr<HttpExchange> exchange);
  // A comment to all, so that proxies keep the connections. Forgets those that are gone.
  void Beat();
  [[nodiscard]] size_t listeners();

 private:
  static constexpr size_t kMostListeners = 32;
  void SendToAll(const std::string& text);

  std::mutex mutex_;
  std::string sent_, progress_;
  std::vector<std::shared_ptr<HttpExchange>> listeners_;
};

}  // namespace tacho
