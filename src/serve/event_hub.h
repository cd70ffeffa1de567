#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_server.h"

namespace tacho {

// Sends a run's events to all pages that listen (text/event-stream). A page that connects later
// first gets the earlier events, but only the last progress event and only the current state of
// each rank. Thread-safe.
class EventHub {
 public:
  // Returns the current data of these ranks, one JSON document each. Must not call this object.
  using RankEntries = std::function<std::vector<std::string>(const std::vector<size_t>& ranks)>;
  explicit EventHub(RankEntries entries = {}) : entries_(std::move(entries)) {}

  // `data`: one JSON document.
  void Send(std::string_view event, std::string_view data);
  void SendRanks(const std::vector<size_t>& ranks);
  void SendProgress(std::string_view data);
  // Answers with the events so far and keeps the connection open; 503 if too many pages listen.
  void Listen(std::shared_ptr<HttpExchange> exchange);
  // Sends a comment to all pages, so that proxies keep the connections. Forgets pages that are
  // gone.
  void Beat();
  [[nodiscard]] size_t listeners();

 private:
  static constexpr size_t kMostListeners = 32;
  void SendToAll(const std::string& text);
  std::string RankEvents(const std::vector<size_t>& ranks) const;

  const RankEntries entries_;
  std::mutex mutex_;
  std::vector<size_t> ranks_;    // ranks whose events were sent, each once
  std::string sent_, progress_;  // the last progress event; all other events but those of ranks
  std::vector<std::shared_ptr<HttpExchange>> listeners_;
};

}  // namespace tacho
