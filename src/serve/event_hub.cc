#include "serve/event_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serve/http_answer.h"

namespace tacho {
namespace {

// Each line of `data` becomes a field of its own.
std::string EventText(std::string_view event, std::string_view data) {
  std::string text = fmt::format("event: {}\n", event);
  while (!data.empty()) {
    const std::string_view line = data.substr(0, data.find('\n'));
    data.remove_prefix(std::min(data.size(), line.size() + 1));
    text += fmt::format("data: {}\n", line);
  }
  return text + "\n";
}

}  // namespace

void EventHub::SendToAll(const std::string& text) {
  std::erase_if(listeners_, [](const auto& listener) { return !listener->connected(); });
  for (const auto& listener : listeners_) listener->Write(text);
}

void EventHub::Send(std::string_view event, std::string_view data) {
  const std::string text = EventText(event, data);
  const std::lock_guard lock(mutex_);
  sent_ += text;
  SendToAll(text);
}

std::string EventHub::RankEvents(const std::vector<size_t>& ranks) const {
  std::string text;
  if (ranks.empty()) return text;
  for (const std::string& entry : entries_(ranks)) text += EventText("rank", entry);
  return text;
}

void EventHub::SendRanks(const std::vector<size_t>& ranks) {
  const std::lock_guard lock(mutex_);
  for (const size_t rank : ranks) {
    if (std::ranges::find(ranks_, rank) == ranks_.end()) ranks_.push_back(rank);
  }
  SendToAll(RankEvents(ranks));
}

void EventHub::SendProgress(std::string_view data) {
  const std::string text = EventText("progress", data);
  const std::lock_guard lock(mutex_);
  progress_ = text;
  SendToAll(text);
}

void EventHub::Listen(std::shared_ptr<HttpExchange> exchange) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& listener) { return !listener->connected(); });
  if (listeners_.size() >= kMostListeners) {
    return SendAnswer(*exchange, ErrorAnswer(503, "too many pages listen: close some"));
  }
  exchange->Begin(200, "text/event-stream",
                  {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}});
  if (exchange->request().method == "HEAD") return exchange->End();
  exchange->Write(progress_ + RankEvents(ranks_) + sent_);
  listeners_.push_back(std::move(exchange));
}

void EventHub::Beat() {
  const std::lock_guard lock(mutex_);
  SendToAll(":\n\n");
}

size_t EventHub::listeners() {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& listener) { return !listener->connected(); });
  return listeners_.size();
}

}  // namespace tacho
