#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "simulate/vllm/profiling.h"

// The files that vLLM's profiler writes: their names, by version, and their content apart from the
// steps.
namespace tacho::simulate {

std::string VllmProfiling::StemOf(size_t engine, int rank) const {
  const int minor = parts_.version.minor;
  if (minor <= 10)
    return fmt::format("{}_{}", parts_.options->host_name, parts_.options->PidOf(engine, rank));
  if (minor < 17) return fmt::format("{}-rank-{}", parts_.options->instance_id, rank);
  const std::string& prefix = slots_[engine].prefix;
  return fmt::format("{}{}rank{}", prefix, prefix.empty() ? "" : "_", rank);
}

TraceFile VllmProfiling::FileOf(const std::string& stem, int64_t time_ns) const {
  TraceFile file;
  file.gzip = parts_.config.use_gzip;
  file.gzip_level = parts_.options->gzip_level;
  file.temp_folder = parts_.options->temp_folder;
  file.path = fmt::format("{}/{}.{}.pt.trace.json{}", parts_.config.folder, stem, time_ns,
                          file.gzip ? ".gz" : "");
  file.slow_ns = parts_.options->faults.Amount(FaultKind::kSlowFlush, parts_.options->index);
  file.truncate = Has(FaultKind::kTruncate);
  file.disk_full = Has(FaultKind::kDiskFull);
  return file;
}

TraceSource VllmProfiling::SourceOf(size_t engine, int rank) const {
  const WorkerOptions& options = *parts_.options;
  const int tp = options.cost.tensor_parallel;
  TraceSource source;
  source.engine = SimulatedEngine::kVllm;
  source.version = parts_.version.text;
  source.stamps_version = parts_.version.minor >= 26;
  source.dialect =
      parts_.version.minor >= 26 ? KinetoDialect::kOneKeyALine : KinetoDialect::kManyKeysALine;
  source.names = StepNamesOf(parts_.version, parts_.config.detailed);
  const VllmProfilerConfig& config = slots_[engine].config;
  source.with_stack = config.with_stack;
  source.with_flops = config.with_flops;
  source.record_shapes = config.record_shapes;
  source.profile_memory = config.with_memory;
  source.cost = options.cost;
  source.seed = parts_.engines[engine]->options().seed;
  source.rank_in_step = rank;
  source.rank = rank;
  source.world_size = tp;
  source.device = static_cast<int>(engine) * tp + rank;
  source.visible_devices = tp * options.data_parallel;
  source.pid = parts_.options->PidOf(engine, rank);
  source.process_name = parts_.version.minor <= 10 ? "python3"
                        : tp > 1                   ? fmt::format("VLLM::Worker_TP{}", rank)
                                                   : "VLLM::Worker";
  source.host_name = options.host_name;
  source.first_external_id = 24'065;
  source.first_correlation = 675'771;
  source.clock_skew_ns = options.faults.Amount(FaultKind::kClockSkew, options.index);
  source.clock_drift_ppm =
      static_cast<double>(options.faults.Amount(FaultKind::kClockDrift, options.index));
  source.clock_origin_ns = began_unix_ns_;
  source.loss = LossOf(options.faults, options.index, sessions_);
  return source;
}

RankFlush VllmProfiling::FlushOf(size_t engine, int rank,
                                 std::shared_ptr<const Recording> recording) const {
  RankFlush flush;
  flush.source = SourceOf(engine, rank);
  flush.recording = std::move(recording);
  const std::string stem = StemOf(engine, rank);
  const int64_t now = parts_.loop->UnixNs(parts_.loop->NowNs());
  flush.file = FileOf(stem, now + rank * 137'419 + static_cast<int64_t>(engine) * 5'233'207);
  // It is enough that one worker process dies.
  flush.file.die = Has(FaultKind::kDieInFlush) && rank == 0;
  flush.source.trace_name = flush.file.gzip ? "/tmp/tmpx78selo7.json" : flush.file.path;
  flush.lost = Has(FaultKind::kLoseRank) &&
               parts_.options->faults.Amount(FaultKind::kLoseRank, parts_.options->index) == rank;
  flush.truth = parts_.options->truth;
  flush.table_ns_per_step =
      parts_.options->faults.Amount(FaultKind::kSlowTable, parts_.options->index);
  // The slow table is a CPU's, and on a CPU vLLM makes the table whatever the configuration says.
  const bool makes_table = parts_.config.dump_table || flush.table_ns_per_step > 0;
  if (makes_table && parts_.version.minor >= 11) {
    const std::string folder = std::filesystem::path(flush.file.path).parent_path().string();
    flush.table_path = parts_.version.minor >= 32
                           ? fmt::format("{}/{}.profiler_out.txt", folder, stem)
                           : fmt::format("{}/profiler_out_{}.txt", folder, rank);
  }
  return flush;
}

RankFlush VllmProfiling::FrontendFlush(Recording recording) const {
  RankFlush flush;
  flush.source = SourceOf(0, 0);
  flush.source.pid = parts_.options->pid;
  flush.source.process_name = "python3";
  const std::string prefix = frontend_prefix_.empty() ? "" : frontend_prefix_ + "_";
  flush.file = FileOf(
      fmt::format("{}{}_{}.async_llm", prefix, parts_.options->host_name, parts_.options->pid),
      recording.end_ns);
  flush.source.trace_name = flush.file.path;
  flush.recording = std::make_shared<const Recording>(std::move(recording));
  flush.source.content = TraceContent::kFrontend;
  return flush;
}

}  // namespace tacho::simulate
