// What JobApi reads in pieces, and the actors of a cluster.
#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "ray/job_api.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using nlohmann::json;

constexpr size_t kMostRefusal = 300;
constexpr uint64_t kMostActors = 64u << 20;  // bytes of the list

// Hands pieces on until they are not wanted any more.
class PieceSink final : public HttpSink {
 public:
  explicit PieceSink(const JobApi::Take& take) : take_(take) {}

  void OnHead(int status, const std::vector<HttpHeader>&, int64_t) override { status_ = status; }
  void OnBody(std::string_view bytes, int64_t) override {
    if (status_ != 200) {
      words_.append(bytes.substr(0, kMostRefusal - std::min(kMostRefusal, words_.size())));
    } else if (!enough_ && !take_(bytes)) {
      const std::lock_guard lock(mutex_);
      enough_ = true;
      changed_.notify_all();
    }
  }
  void OnEnd(const Result<HttpTimes>& times) override {
    const std::lock_guard lock(mutex_);
    if (!times) error_ = times.error();
    ended_ = true;
    changed_.notify_all();
  }

  void WaitUntilEnough(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return enough_ || ended_; });
  }
  Result<void> AwaitEnd(const Url& address) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_; });
    if (enough_) return {};
    if (error_) return tl::unexpected<Error>(*error_);
    if (status_ == 200) return {};
    return FailAt(
        ErrorKind::kRemote, address.Origin(),
        fmt::format("HTTP {}: {}", status_, VisibleText(words_.substr(0, words_.find('\n')))));
  }

 private:
  const JobApi::Take& take_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int status_ = 0;
  bool enough_ = false, ended_ = false;
  std::string words_;
  std::optional<Error> error_;
};

std::string TextAt(const json& object, std::string_view key) {
  const json& value = JsonMember(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace

Result<std::vector<RayActor>> JobApi::Actors(const std::stop_token& stop) const {
  HttpRequest request = Ask(
      "GET",
      "api/v0/actors?detail=1&limit=10000&filter_keys=state&filter_predicates=%3D&filter_values="
      "ALIVE");
  request.most_body = kMostActors;
  TACHO_ASSIGN_OR_RETURN(const HttpResponse answer, Fetch(request, stop));
  const json body = ParseJson(answer.body);
  const json& list = JsonMember(JsonMember(JsonMember(body, "data"), "result"), "result");
  if (!list.is_array())
    return FailAt(ErrorKind::kRemote, address_.Origin(), "the answer has no list of actors");
  std::vector<RayActor> actors;
  for (const json& row : list) {
    RayActor actor{TextAt(row, "actor_id"), TextAt(row, "class_name"), TextAt(row, "node_id")};
    // Old versions know no filter.
    if (TextAt(row, "state") == "ALIVE" && !actor.id.empty()) actors.push_back(std::move(actor));
  }
  return actors;
}

Result<void> JobApi::Stream(HttpRequest request, const Take& take,
                            const std::stop_token& stop) const {
  request.most_body = UINT64_MAX;
  const auto sink = std::make_shared<PieceSink>(take);
  const uint64_t stream = client_->Start(std::move(request), sink);
  sink->WaitUntilEnough(stop);
  client_->Cancel(stream);
  return sink->AwaitEnd(address_);
}

Result<void> JobApi::StreamLog(const RayNode& node, const std::string& name, const Take& take,
                               const std::stop_token& stop) const {
  return Stream(
      LogRequest("node_id=" + PercentEncode(node.id) + "&filename=" + PercentEncode(name)), take,
      stop);
}

Result<void> JobApi::StreamErrors(const RayActor& actor, const Take& take,
                                  const std::stop_token& stop) const {
  return Stream(LogRequest("actor_id=" + PercentEncode(actor.id) + "&suffix=err"), take, stop);
}

}  // namespace tacho
