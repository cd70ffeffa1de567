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

// Collects the whole answers of several exchanges for a thread that waits for them. The sinks hold
// nothing but a pointer to it: it must stay until all have ended, which Wait waits for.
class Gather {
 public:
  using Ended = std::function<void(size_t, const Result<HttpResponse>&)>;

  Gather(size_t count, const Ended& ended) : ended_(ended), results_(count), left_(count) {}

  // Errors and answers that are refusals repeat none of the `keys`, which must stay as well; the
  // answer says what became of them.
  std::shared_ptr<HttpSink> SinkOf(size_t index, const Keys& keys, KeyUse use);
  // The outcome of one exchange. Any thread; once for each.
  void End(size_t index, Result<HttpResponse> result);
  void Wait();
  // After Wait.
  std::vector<Result<HttpResponse>> Take();

 private:
  const Ended& ended_;
  std::vector<std::optional<Result<HttpResponse>>> results_;
  std::mutex mutex_;
  std::condition_variable all_ended_;
  size_t left_;
};

}  // namespace tacho
