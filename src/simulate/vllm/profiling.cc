#include "simulate/vllm/profiling.h"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "base/parse_json.h"
#include "net/http.h"
#include "simulate/api_error.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

bool IsPrefix(const std::string& text) {
  if (text.empty() || text.size() > 128 || std::isalnum(static_cast<unsigned char>(text[0])) == 0) {
    return false;
  }
  for (const char c : text) {
    const bool good =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    if (!good) return false;
  }
  return true;
}

ApiError TypeError(const std::string& field, const std::string& type) {
  return {400,
          fmt::format("1 validation error:\n  {{'type': '{}', 'loc': ('body', '{}'), 'msg': "
                      "'Input should be a valid {}'}}",
                      type, field,
                      type == "int_type"    ? "integer"
                      : type == "dict_type" ? "dictionary"
                                            : "string"),
          "Bad Request", "body." + field};
}

// Returns a callback for `count` engines that work at the same time. The last of them to call it
// triggers `done`.
std::function<void(bool)> AfterAll(size_t count, std::function<void(bool)> done) {
  struct State {
    size_t open;
    bool any = false;
    std::function<void(bool)> done;
  };
  auto state = std::make_shared<State>(State{count, false, std::move(done)});
  return [state](bool value) {
    state->any = state->any || value;
    if (--state->open == 0) state->done(state->any);
  };
}

}  // namespace

VllmProfiling::VllmProfiling(Parts parts)
    : parts_(std::move(parts)), began_unix_ns_(parts_.loop->UnixNs(parts_.loop->NowNs())) {
  for (size_t i = 0; i < parts_.engines.size(); ++i) {
    slots_.push_back({std::make_unique<VllmWorkerProfiler>(parts_.config, parts_.version), 0, "",
                      parts_.config});
    parts_.engines[i]->set_gate([this, i](const StepBatch&) { return OnStep(i); });
  }
}

// Reads the three fields that vLLM 0.32 has and the fourth one of 0.33. Ignores other fields, and
// is strict about types.
std::variant<VllmProfiling::Session, ApiError> VllmProfiling::ReadStart(const std::string& body,
                                                                        bool takes_kwargs) {
  Session out;
  if (body.empty()) return out;
  const Json json = ParseJson(body);
  if (!json.is_object()) {
    if (json.is_discarded()) return NoJson(SimulatedEngine::kVllm, body);
    return ApiError{400,
                    "1 validation error:\n  {'type': 'model_attributes_type', 'loc': ('body',), "
                    "'msg': 'Input should be a valid dictionary or object to extract fields from'}",
                    "Bad Request", "body"};
  }
  for (const auto& [field, to] :
       {std::pair{"delay_iterations", &out.delay}, std::pair{"max_iterations", &out.max}}) {
    const auto found = json.find(field);
    if (found == json.end() || found->is_null()) continue;
    if (!found->is_number_integer()) return TypeError(field, "int_type");
    *to = found->get<int64_t>();
    if (**to < 0) return ApiError{400, fmt::format("{} must be greater than or equal to 0", field)};
  }
  const auto prefix = json.find("profile_prefix");
  if (prefix != json.end() && !prefix->is_null()) {
    if (!prefix->is_string()) return TypeError("profile_prefix", "string_type");
    out.prefix = prefix->get<std::string>();
    if (!IsPrefix(out.prefix)) {
      return ApiError{400,
                      "profile_prefix must be 1-128 ASCII characters, start with a letter or "
                      "number, and contain only letters, numbers, '.', '_', or '-'"};
    }
  }
  const auto kwargs = json.find("profiler_kwargs");
  if (takes_kwargs && kwargs != json.end() && !kwargs->is_null()) {
    if (!kwargs->is_object()) return TypeError("profiler_kwargs", "dict_type");
    out.kwargs = kwargs->dump();
  }
  return out;
}

void VllmProfiling::Info(std::string_view place, std::string_view text) const {
  parts_.log->Vllm("APIServer", parts_.options->pid, "INFO", place, text);
}

void VllmProfiling::Start(const std::shared_ptr<HttpExchange>& exchange) {
  Session body;
  const bool reads_body = parts_.version.generation == VllmGeneration::kLive;
  if (reads_body) {
    auto read = ReadStart(exchange->request().body, parts_.version.takes_kwargs());
    if (const auto* error = std::get_if<ApiError>(&read)) {
      exchange->Respond(error->status, VllmErrorJson(*error), kJsonType);
      return;
    }
    body = std::get<Session>(std::move(read));
  }
  if (Has(FaultKind::kHangStart)) {
    hanging_.push_back(exchange);
    return;
  }
  if (Has(FaultKind::kErrorStart)) {
    exchange->Respond(500,
                      VllmErrorJson({500, "Call to profile method failed: out of memory",
                                     "InternalServerError", ""}),
                      kJsonType);
    return;
  }
  if (reads_body && one_api_server() && session_open_) {
    exchange->Respond(
        409,
        VllmErrorJson({409,
                       "A profiling session is already active. Call /stop_profile before starting "
                       "another session.",
                       "Conflict", ""}),
        kJsonType);
    return;
  }
  Info("api_router.py:39", "Starting profiler...");
  if (!session_open_) ++sessions_;
  session_open_ = true;
  if (has_frontend() && frontend_start_ns_ == 0) {
    frontend_start_ns_ = parts_.loop->UnixNs(parts_.loop->NowNs());
    frontend_prefix_ = body.prefix;
  }
  const int64_t late = parts_.options->faults.Amount(FaultKind::kSlowStart, parts_.options->index);
  parts_.loop->At(parts_.loop->NowNs() + late, [this, exchange, body] {
    StartEngines(body, [this, exchange] {
      Info("api_router.py:44", "Profiler started.");
      exchange->Respond(200, "", "");
    });
  });
}

void VllmProfiling::StartWorkers(const std::string& prefix, std::function<void()> done) {
  StartEngines({prefix, {}, {}, ""}, std::move(done));
}

void VllmProfiling::StartEngines(const Session& session, std::function<void()> done) {
  const auto one_more = AfterAll(slots_.size(), [done = std::move(done)](bool) { done(); });
  for (size_t i = 0; i < slots_.size(); ++i) {
    parts_.engines[i]->BetweenSteps([this, i, session, one_more] {
      StartEngine(i, session);
      if (sessions_ == 1)
        parts_.engines[i]->StallFor(
            parts_.options->faults.Amount(FaultKind::kStall, parts_.options->index));
      one_more(false);
    });
  }
}

void VllmProfiling::StartEngine(size_t engine, const Session& session) {
  Slot& slot = slots_[engine];
  if (!slot.profiler->active()) {
    auto config = WithKwargs(parts_.config, session.kwargs);
    if (!config) {
      for (int rank = 0; rank < parts_.options->cost.tensor_parallel; ++rank)
        parts_.log->Vllm("Worker", parts_.options->PidOf(engine, rank), "WARNING", "wrapper.py:86",
                         "Failed to start profiler: " + config.error().message);
      return;
    }
    slot.prefix = session.prefix;
    slot.config = *std::move(config);
  }
  if (slot.profiler->Start(session.delay, session.max))
    slot.recording = parts_.engines[engine]->OpenRecording();
}

bool VllmProfiling::OnStep(size_t engine) {
  Slot& slot = slots_[engine];
  const VllmWorkerProfiler::Order order = slot.profiler->OnStep();
  parts_.engines[engine]->set_profiler_step(order.profiler_step);
  if (order.begin) slot.recording = parts_.engines[engine]->OpenRecording();
  if (!order.flush) return true;
  Flush(engine, [this, engine](bool died) {
    if (!died) parts_.engines[engine]->Resume();
  });
  return false;
}

void VllmProfiling::Stop(const std::shared_ptr<HttpExchange>& exchange) {
  if (Has(FaultKind::kHangStop)) {
    hanging_.push_back(exchange);
    return;
  }
  Info("api_router.py:52", "Stopping profiler...");
  session_open_ = false;
  std::optional<RankFlush> frontend;
  if (frontend_start_ns_ != 0) {
    frontend = FrontendFlush({frontend_start_ns_, parts_.loop->UnixNs(parts_.loop->NowNs()), {}});
    frontend_start_ns_ = 0;
  }
  StopWorkers([this, exchange, frontend = std::move(frontend)](bool died) {
    if (died) {
      exchange->Respond(500,
                        VllmErrorJson({500, "Call to profile method failed: cancelled",
                                       "InternalServerError", ""}),
                        kJsonType);
      return;
    }
    std::vector<RankFlush> flushes;
    if (frontend) flushes.push_back(*frontend);
    FlushTraces(*parts_.loop, std::move(flushes), [this, exchange](const auto&) {
      if (Has(FaultKind::kErrorStop)) {
        exchange->Respond(500,
                          VllmErrorJson({500, "Call to profile method failed: timed out",
                                         "InternalServerError", ""}),
                          kJsonType);
        return;
      }
      Info("api_router.py:54", "Profiler stopped.");
      exchange->Respond(200, "", "");
    });
  });
}

void VllmProfiling::StopWorkers(std::function<void(bool died)> done) {
  const auto one_more = AfterAll(slots_.size(), std::move(done));
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (parts_.engines[i]->dead()) {
      one_more(true);
      continue;
    }
    parts_.engines[i]->BetweenSteps([this, i, one_more] {
      if (!slots_[i].profiler->Stop()) {
        one_more(false);
        return;
      }
      parts_.engines[i]->Stall();
      Flush(i, [this, i, one_more](bool died) {
        if (!died) parts_.engines[i]->Resume();
        one_more(died);
      });
    });
  }
}

void VllmProfiling::Flush(size_t engine, std::function<void(bool died)> done) {
  Slot& slot = slots_[engine];
  const auto recording =
      std::make_shared<const Recording>(parts_.engines[engine]->CloseRecording(slot.recording));
  slot.recording = 0;
  std::vector<RankFlush> flushes;
  const bool silent = Has(FaultKind::kSilentSecond) && sessions_ > 1;
  const bool torch = parts_.config.profiler == "torch";
  for (int rank = 0; rank < parts_.options->cost.tensor_parallel && !silent && torch; ++rank) {
    flushes.push_back(FlushOf(engine, rank, recording));
  }
  FlushTraces(*parts_.loop, std::move(flushes),
              [this, engine, done = std::move(done)](const std::vector<FileOutcome>& outcomes) {
                bool died = false;
                for (size_t rank = 0; rank < outcomes.size(); ++rank) {
                  died = died || outcomes[rank].end == FileEnd::kDied;
                  if (outcomes[rank].end != FileEnd::kFailed) continue;
                  parts_.log->Vllm("Worker", parts_.options->PidOf(engine, static_cast<int>(rank)),
                                   "WARNING", "wrapper.py:147",
                                   "Failed to stop profiler: " + outcomes[rank].problem);
                }
                done(died);
                if (died) parts_.die();
              });
}

}  // namespace tacho::simulate
