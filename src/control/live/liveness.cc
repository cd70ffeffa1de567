#include "control/live/liveness.h"

#include <fmt/format.h>

#include "base/monotonic_clock.h"
#include "control/engine_type.h"

namespace tacho {
namespace {

constexpr int kOk = 200, kNotFound = 404;

// Returns the HTTP status that the route answers, or a short error.
Result<int> AskStatus(HttpClient& client, const std::string& url, const std::string& route,
                      std::chrono::milliseconds patience, const std::stop_token& stop) {
  HttpRequest question;
  question.url = url + route;
  question.timeout = patience;
  question.most_body = 1u << 20;
  const auto answer = client.Fetch(question, stop);
  if (!answer) return Fail(answer.error().kind, std::string(answer.error().Brief()));
  return answer->status;
}

}  // namespace

NotReady Objection(const Result<int>& status, std::string_view route, bool may_lack) {
  if (!status) return {.text = status.error().message};
  if (*status == kOk || (may_lack && *status == kNotFound)) return {};
  return {.text = fmt::format("its {} answers {}", route, *status), .status = *status};
}

std::vector<std::string> WhyDead(HttpClient& client, const std::vector<Worker>& workers,
                                 const std::vector<EngineFacts>& facts,
                                 std::chrono::milliseconds patience) {
  std::vector<HttpRequest> questions;
  for (size_t i = 0; i < workers.size(); ++i) {
    HttpRequest question;
    question.url = workers[i].url + std::string(TypeOf(facts[i].kind).LifeRoute());
    question.timeout = question.connect_timeout = patience;
    question.most_body = 1u << 20;
    questions.push_back(std::move(question));
  }
  std::vector<std::string> why(workers.size());
  const int64_t begin = MonotonicNs();
  client.FetchAll(questions, {}, [&](size_t i, const Result<HttpResponse>& answer) {
    const bool in_time = MonotonicNs() - begin < patience.count() * 1'000'000;
    if (!answer && in_time) why[i] = answer.error().Brief();
    if (answer && answer->status == 503 && TypeOf(facts[i].kind).DiesBy503())
      why[i] = "its /health answers 503";
  });
  return why;
}

NotReady WhyNotReady(HttpClient& client, const std::string& url, EngineKind kind,
                     std::chrono::milliseconds patience, const std::stop_token& stop) {
  return TypeOf(kind).WhyNotReady(
      [&](const std::string& route) { return AskStatus(client, url, route, patience, stop); });
}

NotReady WhyRouterNotReady(HttpClient& client, const std::string& url,
                           std::chrono::milliseconds patience, const std::stop_token& stop) {
  return Objection(AskStatus(client, url, "/readiness", patience, stop), "/readiness", true);
}

}  // namespace tacho
