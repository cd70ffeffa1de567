#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "net/http_client.h"
#include "net/keys.h"

namespace tacho {

// Collects the complete answers of several exchanges for a thread that waits for them. The sinks
// point to this object, so it must live until Wait returns.
class Gather {
 public:
  using Ended = std::function<void(size_t, const Result<HttpResponse>&)>;

  Gather(size_t count, const Ended& ended) : ended_(ended), results_(count), left_(count) {}

  // The sink of one exchange. It removes `keys`, which must outlive it, from errors and refusals.
  // `use` is copied into the answer: it says whether the keys were sent.
  std::shared_ptr<HttpSink> SinkOf(size_t index, const Keys& keys, KeyUse use);
  // Stores the outcome of one exchange. Call it once per exchange, from any thread.
  void End(size_t index, Result<HttpResponse> result);
  void Wait();
  // Call it after Wait.
  std::vector<Result<HttpResponse>> Take();

 private:
  const Ended& ended_;
  std::vector<std::optional<Result<HttpResponse>>> results_;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  size_t left_;
};

}  // namespace tacho
