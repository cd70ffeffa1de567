#include "simulate/sglang/profiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tacho::simulate {
namespace {

constexpr const char* kPlain = "text/plain; charset=utf-8";
constexpr int64_t kMomentNs = 400'000;  // a batch has run this long when the profiler is asked

}  // namespace

class SglangProfiling::FirstReply {
 public:
  FirstReply(std::shared_ptr<HttpExchange> exchange, std::string text)
      : exchange_(std::move(exchange)), text_(std::move(text)) {}

  void Good(bool good) {
    if (answered_) return;
    answered_ = true;
    if (good) {
      exchange_->Respond(200, text_, "");
    } else {
      exchange_->Respond(500, "Internal Server Error", kPlain);
    }
  }
  // Call it if the server died: drops the connection.
  void Dead() {
    if (!answered_) exchange_->Abort();
    answered_ = true;
  }

 private:
  std::shared_ptr<HttpExchange> exchange_;
  std::string text_;
  bool answered_ = false;
};

SglangProfiling::SglangProfiling(Parts parts)
    : parts_(std::move(parts)), began_unix_ns_(parts_.loop->UnixNs(parts_.loop->NowNs())) {
  for (size_t i = 0; i < parts_.engines.size(); ++i) {
    slots_.push_back({SglangProfiler(parts_.version), 0});
    parts_.engines[i]->set_gate([this, i](const StepBatch& batch) { return OnBatch(i, batch); });
  }
}

std::string SglangProfiling::RankText(size_t engine) const {
  std::string text;
  if (parts_.options->data_parallel > 1) text += fmt::format(" DP{}", engine);
  if (parts_.options->cost.tensor_parallel > 1) text += " TP0";
  return text;
}

void SglangProfiling::Start(const std::shared_ptr<HttpExchange>& exchange) {
  auto read = ReadSglangProfileRequest(exchange->request().body);
  if (const auto* error = std::get_if<ApiError>(&read)) {
    exchange->Respond(error->status, SglangErrorJson(*error), "application/json");
    return;
  }
  auto request = std::get<SglangProfileRequest>(std::move(read));
  if (Has(FaultKind::kHangStart)) return hanging_.push_back(exchange);
  if (Has(FaultKind::kErrorStart)) {
    return exchange->Respond(500, "Internal Server Error", kPlain);
  }
  if (Has(FaultKind::kNotFound)) {
    return exchange->Respond(404, R"({"detail":"Not Found"})", "application/json");
  }
  if (!request.output_dir) request.output_dir = parts_.options->trace_folder;
  const int64_t now = parts_.loop->UnixNs(parts_.loop->NowNs());
  if (!request.profile_id || !parts_.version.honours_profile_id()) {
    request.profile_id = fmt::format("{}.{:07d}", now / 1'000'000'000, now / 100 % 10'000'000);
  }
  ++sessions_;
  const auto reply = std::make_shared<FirstReply>(exchange, "Start profiling.\n");
  const int64_t late = parts_.options->faults.Amount(FaultKind::kSlowStart, parts_.options->index);
  parts_.loop->At(parts_.loop->NowNs() + late, [this, request, reply] {
    for (size_t i = 0; i < slots_.size(); ++i) {
      parts_.engines[i]->BetweenSteps([this, i, request, reply] {
        auto answer = slots_[i].profiler.Start(request, parts_.engines[i]->forwards());
        Carry(i, std::move(answer.orders), false, [reply, good = answer.good](bool alive) {
          if (!alive) return reply->Dead();
          reply->Good(good);
        });
      });
    }
  });
}

void SglangProfiling::Stop(const std::shared_ptr<HttpExchange>& exchange) {
  if (Has(FaultKind::kHangStop)) return hanging_.push_back(exchange);
  if (Has(FaultKind::kNotFound)) {
    return exchange->Respond(404, R"({"detail":"Not Found"})", "application/json");
  }
  const auto reply =
      std::make_shared<FirstReply>(exchange, "Stop profiling. This will take some time.\n");
  for (size_t i = 0; i < slots_.size(); ++i) {
    parts_.engines[i]->BetweenSteps([this, i, reply] {
      auto answer = slots_[i].profiler.Stop();
      const bool good = answer.good && !Has(FaultKind::kErrorStop);
      const bool writes = !answer.orders.empty();
      if (writes) parts_.engines[i]->Stall();
      Carry(i, std::move(answer.orders), false, [this, i, reply, good, writes](bool alive) {
        if (!alive) return reply->Dead();
        if (writes) parts_.engines[i]->Resume();
        reply->Good(good);
      });
    });
  }
}

bool SglangProfiling::OnBatch(size_t engine, const StepBatch& batch) {
  auto orders = slots_[engine].profiler.OnBatch(batch.load, parts_.engines[engine]->forwards() + 1);
  const bool writes = std::ranges::any_of(orders, [](const SglangProfiler::Order& order) {
    return order.kind != SglangProfiler::Order::Kind::kBegin;
  });
  if (!writes) {
    Carry(engine, std::move(orders), true, [](bool) {});
    return true;
  }
  Carry(engine, std::move(orders), true, [this, engine](bool alive) {
    if (alive) parts_.engines[engine]->Resume();
  });
  return false;
}

void SglangProfiling::Carry(size_t engine, std::vector<SglangProfiler::Order> orders, bool in_batch,
                            std::function<void(bool alive)> done) {
  using Kind = SglangProfiler::Order::Kind;
  if (orders.empty()) return done(true);
  const SglangProfiler::Order first = orders.front();
  orders.erase(orders.begin());
  Slot& slot = slots_[engine];
  switch (first.kind) {
    case Kind::kBegin: {
      if (slot.recording != 0) parts_.engines[engine]->CloseRecording(slot.recording);
      slot.recording = parts_.engines[engine]->OpenRecording();
      if (!std::exchange(stalled_, true))
        parts_.engines[engine]->StallFor(
            parts_.options->faults.Amount(FaultKind::kStall, parts_.options->index));
      const SglangProfileRequest& session = slot.profiler.session();
      parts_.log->Sglang(
          RankText(engine),
          fmt::format("Profiling starts{}. Traces will be saved to: {} (with profile id: {})",
                      first.stage.empty() ? "" : fmt::format(" for {}", first.stage),
                      session.output_dir.value_or(""), session.profile_id.value_or("")));
      return Carry(engine, std::move(orders), in_batch, std::move(done));
    }
    case Kind::kDie:
      done(false);
      parts_.die();
      return;
    case Kind::kWrite:
      Write(engine, first.stage, in_batch,
            [this, engine, orders = std::move(orders), in_batch,
             done = std::move(done)](bool alive) mutable {
              if (!alive) return done(false);
              Carry(engine, std::move(orders), in_batch, std::move(done));
            });
      return;
  }
}

// The name of a trace file: "trtllm-trace-ID-rank-R.json" for TensorRT-LLM,
// "ID-DP0-TP1[-STAGE].trace.json.gz" for TokenSpeed.
std::string SglangProfiling::NameOf(size_t engine, int rank, std::string_view stage) const {
  const SglangProfileRequest& session = slots_[engine].profiler.session();
  const std::string id = session.profile_id.value_or("");
  const std::string end = stage.empty() ? "" : fmt::format("-{}", stage);
  const bool several = parts_.options->data_parallel > 1;
  if (parts_.options->host == HostKind::kTensorRtLlm)
    return fmt::format("trtllm-trace-{}-rank-{}.json", id,
                       static_cast<int>(engine) * parts_.options->cost.tensor_parallel + rank);
  if (parts_.options->host == HostKind::kTokenSpeed)
    return fmt::format("{}-{}TP{}{}.trace.json.gz", id, several ? fmt::format("DP{}-", engine) : "",
                       rank, end);
  return fmt::format("{}{}{}-TP-{}{}{}.trace.json.gz", session.prefix,
                     session.prefix.empty() ? "" : "-", id, rank,
                     several ? fmt::format("-DP-{}", engine) : "", end);
}

std::string SglangProfiling::PathOf(size_t engine, int rank, std::string_view stage) const {
  const SglangProfileRequest& session = slots_[engine].profiler.session();
  const std::string folder =
      std::filesystem::absolute(session.output_dir.value_or("/tmp")).lexically_normal().string();
  return fmt::format("{}/{}", folder, NameOf(engine, rank, stage));
}

bool SglangProfiling::busy() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.profiler.busy(); });
}

bool SglangProfiling::pending() const {
  return busy() &&
         std::ranges::none_of(slots_, [](const Slot& slot) { return slot.profiler.in_progress(); });
}

void SglangProfiling::Cancel() {
  for (Slot& slot : slots_) slot.profiler.Cancel();
}

int64_t SglangProfiling::forwards() const { return parts_.engines.front()->forwards(); }

TraceFile SglangProfiling::FileOf(size_t engine, int rank, std::string_view stage) const {
  TraceFile file;
  file.path = PathOf(engine, rank, stage);
  file.gzip = parts_.options->host != HostKind::kTensorRtLlm;
  file.gzip_level = parts_.options->gzip_level;
  file.temp_folder = parts_.options->temp_folder;
  file.makes_folder = slots_[engine].profiler.session().prefix.find('/') == std::string::npos;
  file.slow_ns = parts_.options->faults.Amount(FaultKind::kSlowFlush, parts_.options->index);
  file.truncate = Has(FaultKind::kTruncate);
  file.disk_full = Has(FaultKind::kDiskFull);
  file.die = Has(FaultKind::kDieInFlush) && rank == 0;
  return file;
}

void SglangProfiling::Write(size_t engine, std::string_view stage, bool in_batch,
                            std::function<void(bool alive)> done) {
  Slot& slot = slots_[engine];
  Recording recording = parts_.engines[engine]->CloseRecording(slot.recording);
  slot.recording = 0;
  recording.ends_in_request = !in_batch;
  if (in_batch) {
    // The batch in which the profiler stopped had already begun, so its range stays open.
    RecordedStep open;
    open.index = parts_.engines[engine]->steps();
    open.start_ns = recording.end_ns;
    open.finished = false;
    recording.steps.push_back(open);
    recording.ends_idle = false;
    recording.end_ns +=
        static_cast<int64_t>(static_cast<double>(kMomentNs) / parts_.options->cost.speed);
  }
  const SglangProfileRequest session = slot.profiler.session();
  parts_.log->Sglang(RankText(engine),
                     fmt::format("Stop profiling{}{}...", stage.empty() ? "" : "-", stage));
  const auto shared = std::make_shared<const Recording>(std::move(recording));
  const bool silent = Has(FaultKind::kSilentSecond) && sessions_ > 1;
  std::vector<RankFlush> flushes;
  for (int rank = 0; rank < parts_.options->cost.tensor_parallel && !silent; ++rank) {
    RankFlush flush;
    flush.source = SourceOf(engine, rank, session);
    flush.recording = shared;
    flush.file = FileOf(engine, rank, stage);
    flush.lost = Has(FaultKind::kLoseRank) &&
                 parts_.options->faults.Amount(FaultKind::kLoseRank, parts_.options->index) == rank;
    flush.truth = parts_.options->truth;
    flush.source.trace_name = "/tmp/tmpvg_46tvm.json";
    flushes.push_back(std::move(flush));
  }
  FlushTraces(
      *parts_.loop, std::move(flushes),
      [this, engine, session, done = std::move(done)](const auto& outcomes) {
        // Any failure to write a trace ends the scheduler.
        const bool alive = std::ranges::all_of(
            outcomes, [](const FileOutcome& outcome) { return outcome.end == FileEnd::kWritten; });
        for (const FileOutcome& outcome : outcomes) {
          if (outcome.problem.empty()) continue;
          parts_.log->Sglang(RankText(engine), "Scheduler hit an exception: " + outcome.problem);
        }
        if (alive) {
          parts_.log->Sglang(
              RankText(engine),
              "Profiling done. Traces are saved to: " + session.output_dir.value_or("") +
                  (session.merge ? " Merge failed: No trace files found for "
                                   "profile_id: " +
                                       session.profile_id.value_or("")
                                 : ""));
        }
        done(alive);
        if (!alive) parts_.die();
      });
}

TraceSource SglangProfiling::SourceOf(size_t engine, int rank,
                                      const SglangProfileRequest& session) const {
  const WorkerOptions& options = *parts_.options;
  const int tp = options.cost.tensor_parallel;
  TraceSource source;
  source.engine = SimulatedEngine::kSglang;
  source.version = parts_.version.text;
  source.stamps_version = false;
  source.dialect = KinetoDialect::kOneKeyALine;
  // We do not know how TokenSpeed names its steps.
  const bool unnamed = options.host == HostKind::kTokenSpeed;
  source.names = unnamed            ? StepNames::kNone
                 : session.detailed ? StepNames::kSglangDetailed
                                    : StepNames::kSglang;
  source.scopes = !unnamed;
  source.with_stack = session.with_stack.value_or(true);
  source.record_shapes = session.record_shapes.value_or(false);
  if (session.activities) {
    source.has_host = std::ranges::count(*session.activities, "CPU") > 0;
    source.has_device = std::ranges::count(*session.activities, "GPU") > 0;
  }
  source.cost = options.cost;
  source.seed = parts_.engines[engine]->options().seed;
  source.rank_in_step = rank;
  source.rank = rank;
  source.world_size = tp;
  source.device = static_cast<int>(engine) * tp + rank;
  source.visible_devices = tp * options.data_parallel;
  source.pid = options.PidOf(engine, rank);
  source.process_name = "sglang::scheduler";
  if (options.data_parallel > 1) source.process_name += fmt::format("_DP{}", engine);
  if (tp > 1) source.process_name += fmt::format("_TP{}", rank);
  source.host_name = options.host_name;
  source.first_correlation = 8'123;
  source.clock_skew_ns = options.faults.Amount(FaultKind::kClockSkew, options.index);
  source.clock_drift_ppm =
      static_cast<double>(options.faults.Amount(FaultKind::kClockDrift, options.index));
  source.clock_origin_ns = began_unix_ns_;
  source.loss = LossOf(options.faults, options.index, sessions_);
  return source;
}

}  // namespace tacho::simulate
