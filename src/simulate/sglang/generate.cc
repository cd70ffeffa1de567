#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "net/http.h"
#include "simulate/engine/generate_request.h"
#include "simulate/sglang/server.h"

// Answers SGLang's /generate, /v1/completions and /v1/chat/completions.
namespace tacho::simulate {
namespace {

constexpr const char* kEvents = "text/event-stream; charset=utf-8";

}  // namespace

SglangServer::EngineSlot& SglangServer::Pick(int64_t rank) {
  if (rank >= 0 && rank < static_cast<int64_t>(engines_.size())) {
    return engines_[static_cast<size_t>(rank)];
  }
  return *std::ranges::min_element(engines_, {}, [](const EngineSlot& slot) {
    return slot.engine->batcher().running() + 4 * slot.engine->batcher().waiting();
  });
}

void SglangServer::Generate(const Exchange& exchange) {
  auto read = ReadGenerateRequest(exchange->request().body, options_.max_model_len,
                                  options_.cost.model.vocabulary);
  if (const auto* error = std::get_if<ApiError>(&read)) {
    // SGLang's own checks answer in one format, FastAPI's checks in another.
    const bool own = error->type.empty();
    return exchange->Respond(400, own ? GenerateErrorJson(error->message) : SglangErrorJson(*error),
                             kJsonType);
  }
  const GenerateRequest request = std::get<GenerateRequest>(std::move(read));
  const auto format = [many = request.many](const SglangAnswerFacts& facts) {
    return MakeGenerateFormat(facts, many);
  };
  if (!request.late_error.empty()) {
    if (!request.stream) {
      return exchange->Respond(400, GenerateErrorJson(request.late_error), kJsonType);
    }
    exchange->Begin(200, kEvents);
    exchange->Write(SseEvent(format({})->StreamError({400, request.late_error, "", ""})) +
                    SseEvent("[DONE]"));
    return exchange->End();
  }
  Asked asked;
  asked.prompts = request.prompts;
  asked.most_tokens = std::max<int64_t>(1, request.max_new_tokens);
  asked.rank = request.data_parallel_rank;
  asked.ignore_eos = request.ignore_eos;
  asked.stream = request.stream;
  Run(exchange, asked, request.rid, format);
}

void SglangServer::Complete(const Exchange& exchange, bool chat) {
  // SGLang accepts any model name.
  const OpenAiLimits limits{SimulatedEngine::kSglang, "", options_.max_model_len,
                            options_.cost.model.vocabulary};
  auto read = ReadOpenAiRequest(exchange->request().body, chat, limits);
  if (const auto* error = std::get_if<ApiError>(&read)) {
    return exchange->Respond(error->status, SglangErrorJson(*error), kJsonType);
  }
  OpenAiRequest request = std::get<OpenAiRequest>(std::move(read));
  if (request.model.empty()) request.model = options_.served_model;
  Asked asked;
  asked.prompts = request.prompts;
  asked.copies = request.copies;
  asked.most_tokens = request.max_tokens;
  asked.rank = request.data_parallel_rank;
  asked.ignore_eos = request.ignore_eos;
  asked.stream = request.stream;
  Run(exchange, asked, "",
      [&](const SglangAnswerFacts& facts) { return MakeSglangFormat(request, facts); });
}

void SglangServer::Run(const Exchange& exchange, const Asked& asked, const std::string& rid,
                       const FormatMaker& format) {
  EngineSlot& slot = Pick(asked.rank);
  const int64_t now = loop_.NowNs();
  const uint64_t number = next_request_++;
  SglangAnswerFacts facts;
  facts.id = rid.empty() ? fmt::format("{:016x}{:016x}", HashNumber(options_.seed + number),
                                       HashNumber(number))
                         : rid;
  facts.received_unix_s = static_cast<double>(loop_.UnixNs(now)) / 1e9;
  if (options_.data_parallel > 1) facts.dp_rank = &slot - engines_.data();

  std::vector<AnswerText> texts =
      PlanTexts({asked.prompts, asked.copies, asked.most_tokens, asked.ignore_eos,
                 options_.max_model_len, options_.prefix_caching ? &slot.prefixes : nullptr},
                next_request_);
  AnswerOptions answer_options;
  answer_options.stream = asked.stream;
  answer_options.interval = options_.stream_interval;
  answer_options.vocabulary = options_.cost.model.vocabulary;
  ++counts_.answers;
  if (options_.faults.Strikes(FaultKind::kErrorInStream, options_.index, counts_.answers))
    answer_options.break_off_after = std::max<int64_t>(1, texts[0].length / 2);
  const std::vector<AnswerText> submitted = texts;
  const auto answer = std::make_shared<Answer>(exchange, format(facts), std::move(answer_options),
                                               std::move(texts), now);
  Engine* engine = slot.engine.get();
  answer->abort = [engine](uint64_t text) { engine->Abort(text); };
  for (size_t i = 0; i < submitted.size(); ++i) {
    engine->Submit({submitted[i].id, static_cast<int64_t>(submitted[i].prompt.size()),
                    submitted[i].cached_tokens, submitted[i].length, now},
                   answer->ListenerOf(i));
  }
}

}  // namespace tacho::simulate
