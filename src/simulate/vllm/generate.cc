#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "net/http.h"
#include "simulate/vllm/format.h"
#include "simulate/vllm/server.h"

// Answers vLLM's /v1/completions and /v1/chat/completions.
namespace tacho::simulate {

std::variant<size_t, ApiError> VllmServer::PickEngine(const ServerRequest& request) const {
  const std::string wanted(FindHeader(request.headers, "X-data-parallel-rank"));
  if (!wanted.empty()) {
    const int64_t rank = ParseWhole<int64_t>(wanted).value_or(-1);
    if (rank < 0 || rank >= static_cast<int64_t>(engines_.size())) {
      return ApiError{400, fmt::format("data_parallel_rank {} is out of range [0, {}).", wanted,
                                       engines_.size())};
    }
    return static_cast<size_t>(rank);
  }
  const auto load = [](const EngineSlot& slot) {
    return slot.engine->batcher().running() + 4 * slot.engine->batcher().waiting();
  };
  return static_cast<size_t>(std::ranges::min_element(engines_, {}, load) - engines_.begin());
}

void VllmServer::Completions(const Exchange& exchange) { Complete(exchange, false); }
void VllmServer::ChatCompletions(const Exchange& exchange) { Complete(exchange, true); }

namespace {

// Answers with a stream that holds only an error, no token.
void EndStream(HttpExchange& exchange, const std::vector<HttpHeader>& headers,
               const std::string& error) {
  exchange.Begin(200, "text/event-stream; charset=utf-8", headers);
  exchange.Write(SseEvent(error) + SseEvent("[DONE]"));
  exchange.End();
}

std::string ReceivedText(const std::string& id, const OpenAiRequest& request) {
  return fmt::format(
      "Received request {}-0: params: SamplingParams(n={}, max_tokens={}), "
      "lora_request: None.",
      id, request.copies, request.max_tokens);
}

}  // namespace

void VllmServer::Complete(const Exchange& exchange, bool chat) {
  const ServerRequest& http = exchange->request();
  const OpenAiLimits limits{SimulatedEngine::kVllm, options_.served_model, options_.max_model_len,
                            options_.cost.model.vocabulary};
  auto read = ReadOpenAiRequest(http.body, chat, limits);
  const auto refuse = [&](const ApiError& error) {
    exchange->Respond(error.status, VllmErrorJson(error), kJsonType);
  };
  if (const auto* error = std::get_if<ApiError>(&read)) return refuse(*error);
  const OpenAiRequest request = std::get<OpenAiRequest>(std::move(read));
  const auto picked = PickEngine(http);
  if (const auto* error = std::get_if<ApiError>(&picked)) return refuse(*error);
  EngineSlot& slot = engines_[std::get<size_t>(picked)];
  if (!healthy_)
    return refuse({500, "EngineCore encountered an issue.", "InternalServerError", ""});

  const uint64_t number = next_request_++;
  const std::string own_id(FindHeader(http.headers, "X-Request-Id"));
  const std::string given =
      own_id.empty()
          ? fmt::format("{:016x}{:016x}", HashNumber(options_.seed + number), HashNumber(number))
          : own_id;
  const std::string id = (chat ? "chatcmpl-" : "cmpl-") + given;
  AnswerOptions answer_options;
  answer_options.stream = request.stream;
  answer_options.interval =
      request.stream_interval > 0 ? request.stream_interval : options_.stream_interval;
  answer_options.vocabulary = options_.cost.model.vocabulary;
  if (options_.echoes_request_id) answer_options.headers.push_back({"X-Request-Id", given});
  if (request.unknown_token >= 0 || request.unknown_token < -1) {
    const ApiError error{400,
                         fmt::format("Token id {} is out of vocabulary", request.unknown_token)};
    if (!request.stream) return refuse(error);
    return EndStream(*exchange, answer_options.headers,
                     MakeVllmFormat(request, id, 0, "")->StreamError(error));
  }
  if (options_.logs_requests) {
    log_.Vllm("APIServer", options_.pid, "INFO", "request_logger.py:65", ReceivedText(id, request));
  }

  std::vector<AnswerText> texts =
      PlanTexts({request.prompts, request.copies, request.max_tokens, request.ignore_eos,
                 options_.max_model_len, options_.prefix_caching ? &slot.prefixes : nullptr},
                next_request_);
  if (options_.faults.Strikes(FaultKind::kErrorInStream, options_.index, ++answers_))
    answer_options.break_off_after = std::max<int64_t>(1, texts[0].length / 2);
  const std::vector<AnswerText> submitted = texts;
  const int64_t now = loop_.NowNs();
  const auto answer = std::make_shared<Answer>(
      exchange, MakeVllmFormat(request, id, loop_.UnixNs(now) / 1'000'000'000, fingerprint_),
      std::move(answer_options), std::move(texts), now);
  Engine* engine = slot.engine.get();
  answer->abort = [engine](uint64_t text) { engine->Abort(text); };
  ++answering_;
  answer->ended = [this] { --answering_; };
  for (size_t i = 0; i < submitted.size(); ++i) {
    engine->Submit({submitted[i].id, static_cast<int64_t>(submitted[i].prompt.size()),
                    submitted[i].cached_tokens, submitted[i].length, now},
                   answer->ListenerOf(i));
  }
}

}  // namespace tacho::simulate
