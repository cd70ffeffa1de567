#include "control/liveness.h"

#include <string_view>

#include "net/clock.h"

namespace tacho {
namespace {

// "connection refused", without the address and the advice.
std::string Shortened(std::string_view message, const std::string& url) {
  if (message.starts_with(url + ": ")) message.remove_prefix(url.size() + 2);
  message = message.substr(0, message.find_first_of(":("));
  while (message.ends_with(' ')) message.remove_suffix(1);
  return std::string(message);
}

}  // namespace

std::vector<std::string> WhyDead(HttpClient& client, const std::vector<Worker>& workers,
                                 const std::vector<EngineFacts>& facts,
                                 std::chrono::milliseconds patience) {
  std::vector<HttpRequest> questions;
  for (size_t i = 0; i < workers.size(); ++i) {
    HttpRequest question;
    // SGLang's /health runs a forward; its server ends with its scheduler, so any answer is enough.
    question.url =
        workers[i].url + (facts[i].kind == EngineKind::kSglang ? "/model_info" : "/health");
    question.timeout = question.connect_timeout = patience;
    question.most_body = 1u << 20;
    questions.push_back(std::move(question));
  }
  std::vector<std::string> why(workers.size());
  const int64_t begin = MonotonicNs();
  client.FetchAll(questions, {}, [&](size_t i, const Result<HttpResponse>& answer) {
    const bool in_time = MonotonicNs() - begin < patience.count() * 1'000'000;
    if (!answer && in_time) why[i] = Shortened(answer.error().message, workers[i].url);
    if (answer && answer->status == 503 && facts[i].kind == EngineKind::kVllm)
      why[i] = "its /health answers 503";
  });
  return why;
}

}  // namespace tacho
