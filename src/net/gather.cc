#include "net/gather.h"

#include <string>
#include <string_view>
#include <utility>

namespace tacho {
namespace {

class GatherSink final : public HttpSink {
 public:
  GatherSink(Gather& gather, size_t index, const Keys& keys, KeyUse use)
      : gather_(gather), index_(index), keys_(keys) {
    response_.key = use;
  }

  void OnHead(int status, const std::vector<HttpHeader>& headers, int64_t) override {
    response_.status = status;
    response_.headers = headers;
  }
  void OnBody(std::string_view bytes, int64_t) override { response_.body.append(bytes); }
  void OnEnd(const Result<HttpTimes>& times) override {
    if (!times) {
      std::string hidden = keys_.Hidden(times.error().message);
      if (hidden == times.error().message)
        return gather_.End(index_, tl::unexpected(times.error()));
      return gather_.End(index_, Fail(times.error().kind, std::move(hidden)));
    }
    response_.times = *times;
    if (response_.status >= 300) {
      response_.body = keys_.Hidden(std::move(response_.body));
      for (HttpHeader& header : response_.headers)
        header.value = keys_.Hidden(std::move(header.value));
    }
    gather_.End(index_, std::move(response_));
  }

 private:
  Gather& gather_;
  const size_t index_;
  const Keys& keys_;
  HttpResponse response_;
};

}  // namespace

std::shared_ptr<HttpSink> Gather::SinkOf(size_t index, const Keys& keys, KeyUse use) {
  return std::make_shared<GatherSink>(*this, index, keys, use);
}

void Gather::End(size_t index, Result<HttpResponse> result) {
  results_[index] = std::move(result);
  if (ended_) ended_(index, *results_[index]);
  // Notify under the lock: once the waiting thread sees that no exchange is left, it may destroy
  // this object.
  const std::lock_guard lock(mutex_);
  if (--left_ == 0) all_ended_.notify_all();
}

void Gather::Wait() {
  std::unique_lock lock(mutex_);
  all_ended_.wait(lock, [this] { return left_ == 0; });
}

std::vector<Result<HttpResponse>> Gather::Take() {
  std::vector<Result<HttpResponse>> all;
  all.reserve(results_.size());
  for (auto& result : results_) all.push_back(std::move(*result));
  return all;
}

}  // namespace tacho
