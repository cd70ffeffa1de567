#include "cli/simulate/simulate_trace.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/parse_number.h"
#include "cli/exit_status.h"
#include "cli/options/output_file.h"
#include "cli/options/parse.h"
#include "cli/screen/output.h"
#include "cli/simulate/traffic_folder.h"
#include "simulate/known/known_run.h"
#include "simulate/known/known_traffic.h"
#include "simulate/known/step_parts.h"
#include "simulate/trace/nsys_export.h"
#include "simulate/trace/trace_writer.h"
#include "simulate/trace/truth.h"

namespace tacho {
namespace {

using namespace simulate;

struct SimulateTraceOptions {
  std::string folder = "simulated-traces", engine = "vllm", model_size = "8b", hardware = "h100",
              format = "kineto";
  std::optional<int64_t> steps, ranks, layers, seed, load_seed, requests, prompt_tokens,
      output_tokens, proposed, traffic, engines, batch, step_tokens, cache_tokens;
  std::optional<double> noise, run_shift, gap_ms, failed, cached, merged, recorded_from,
      recorded_to, clock_error_us;
  std::string front = "direct";
  bool detailed = false, stacks = false;
  std::string graph_sizes;
  std::vector<std::string> changes;
};

// Long: a row for each option.
CommandSpec SimulateTraceSpec(SimulateTraceOptions& o) {
  CommandSpec spec;
  spec.name = "simulate trace";
  spec.summary =
      "traces of one simulated run, at once, with what was changed in it and by how much";
  spec.usage = "-o DIR [options]";
  spec.description =
      "Writes the trace of each rank of a simulated run, without servers and without waiting, and "
      "beside them truth.json: what the changes do to each part of a step, in nanoseconds. Runs "
      "with one --load-seed compute the same steps; --seed gives each its own noise.";
  std::string kinds;
  for (const ChangeRow& row : ChangeRows()) {
    kinds += fmt::format("{}{}{}{}", kinds.empty() ? "" : ", ", row.name,
                         row.where.empty() ? "" : fmt::format("@{}", row.where),
                         row.argument.empty() ? "" : fmt::format("[:{}]", row.argument));
  }
  spec.groups = {
      {"what to simulate",
       {{"-o,--output", "DIR",
         "where the files go, made if it is missing, in place of an earlier run of this command "
         "(default simulated-traces)",
         &o.folder},
        OptionRow{
            "--format", "NAME",
            "kineto: a trace for each rank; nsys: one SQLite export of Nsight Systems (default "
            "kineto)",
            &o.format}
            .OneOf({"kineto", "nsys"}),
        {"--steps", "N", "engine steps (default 300)", &o.steps, 1},
        {"--ranks", "N", "tensor-parallel ranks (default 1)", &o.ranks, 1},
        OptionRow{"--engine", "NAME", "vllm or sglang (default vllm)", &o.engine}.OneOf(
            {"vllm", "sglang"}),
        OptionRow{
            "--model-size", "NAME",
            "tiny, small, 8b, 32b, 70b, 30b-a3b, which has experts, or 14b-a3b, which has a shared "
            "expert, too, on a second stream (default 8b)",
            &o.model_size}
            .OneOf(NamesOf(ModelShapes())),
        {"--layers", "N", "of the model (default 4; 0: all that it has)", &o.layers},
        OptionRow{"--hardware", "NAME", "h100, h200, b200, a100 or l4 (default h100)", &o.hardware}
            .OneOf(NamesOf(HardwarePresets())),
        {"--requests", "N", "most requests in flight (default 32)", &o.requests, 1},
        {"--prompt-tokens", "N", "mean length of a prompt (default 256)", &o.prompt_tokens, 1},
        {"--output-tokens", "N", "mean length of an answer (default 16)", &o.output_tokens, 1},
        {"--graph-sizes", "N,...",
         "batches with a CUDA graph, ascending: a decode step replays the next larger one and pads "
         "its batch; above the last, it launches each kernel (default: a graph for every batch)",
         &o.graph_sizes},
        {"--speculative", "N",
         "decode steps verify N tokens that a draft model proposed for each request; one in four "
         "stays plain; without --traffic",
         &o.proposed, 1},
        {"--detailed", "",
         "steps are named with the lengths of their requests (vLLM's detailed_trace_annotation, "
         "SGLang's detailed annotations)",
         &o.detailed},
        {"--stacks", "", "Python frames, as a profiler with stacks records them", &o.stacks}}},
      {"single requests, in a run folder as tacho record writes it",
       {{"--traffic", "N",
         "N requests at random times, with the truth of which step made which token; without "
         "--steps and --requests",
         &o.traffic, 1},
        {"--gap", "MS", "mean time between two requests, in milliseconds (default 5)", &o.gap_ms},
        {"--engines", "N", "engines of --ranks each (default 1)", &o.engines, 1},
        OptionRow{"--front", "NAME",
                  "where requests are sent: direct, each to its engine; router; or data-parallel, "
                  "one URL for all engines (default direct)",
                  &o.front}
            .OneOf({"direct", "router", "data-parallel"}),
        {"--batch", "N", "requests in a batch (default 32)", &o.batch, 1},
        {"--step-tokens", "N", "new tokens of a step (default 2048)", &o.step_tokens, 1},
        {"--cache-tokens", "N",
         "room of the key-value cache; a request loses its place when it is full (default: enough)",
         &o.cache_tokens, 1},
        {"--failed", "PERCENT", "of the requests fail (default 0)", &o.failed},
        {"--cached", "PERCENT", "of the requests have half of their prompt cached (default 0)",
         &o.cached},
        {"--merged", "PERCENT", "of the tokens come with the next one (default 2)", &o.merged},
        {"--clock-error", "US",
         "bound of the error between the clocks of client and engine, in microseconds (default "
         "100)",
         &o.clock_error_us},
        {"--recorded-from", "PERCENT", "of the steps come before the recording (default 0)",
         &o.recorded_from},
        {"--recorded-to", "PERCENT", "of the steps are over when it ends (default 100)",
         &o.recorded_to}}},
      {"what changes",
       {{"--change", "KIND[@WHERE][:AMOUNT]", "may be given several times: " + kinds, &o.changes},
        {"--seed", "N", "other noise, the same for the same number (default 1)", &o.seed},
        {"--load-seed", "N", "other requests (default 1)", &o.load_seed},
        {"--noise", "PERCENT", "of one step to the next (default 1)", &o.noise},
        {"--run-shift", "PERCENT", "of one seed to the next (default 0)", &o.run_shift}}},
  };
  spec.examples = {
      {"tacho simulate trace -o base", "a run to compare with"},
      {"tacho simulate trace -o new --seed 2 --change slower@attention:5%",
       "the same steps with other noise and a slower kernel"},
      {"tacho simulate trace -o late --ranks 2 --change late-rank@1:300us",
       "rank 0 waits for rank 1 in its collectives"},
      {"tacho simulate trace -o nsys --format nsys", "the base run, as Nsight Systems has it"},
      {"tacho simulate trace -o run --traffic 200 --gap 4",
       "200 requests, each with the steps that read its prompt and made its tokens"},
  };
  return spec;
}

Result<KnownRunOptions> KnownOptionsOf(const SimulateTraceOptions& o) {
  KnownRunOptions out;
  out.engine = o.engine == "vllm" ? SimulatedEngine::kVllm : SimulatedEngine::kSglang;
  out.model = o.model_size;
  out.hardware = o.hardware;
  out.detailed = o.detailed;
  out.with_stack = o.stacks;
  out.steps = o.steps.value_or(out.steps);
  out.ranks = o.ranks.value_or(out.ranks);
  out.layers = o.layers.value_or(out.layers);
  out.mix.requests = o.requests.value_or(out.mix.requests);
  out.mix.prompt_tokens = o.prompt_tokens.value_or(out.mix.prompt_tokens);
  out.mix.output_tokens = o.output_tokens.value_or(out.mix.output_tokens);
  out.proposed = o.proposed.value_or(0);
  out.seed = static_cast<uint64_t>(o.seed.value_or(1));
  out.load_seed = static_cast<uint64_t>(o.load_seed.value_or(1));
  const double noise = o.noise.value_or(1), run_shift = o.run_shift.value_or(0);
  if (!(noise >= 0 && noise <= 20 && run_shift >= 0 && run_shift <= 20))
    return Fail(ErrorKind::kUsage, "--noise and --run-shift are percentages from 0 to 20");
  for (std::string_view rest = o.graph_sizes; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const auto size = ParseWhole<int64_t>(rest.substr(0, end));
    if (!size) return Fail(ErrorKind::kUsage, "--graph-sizes: expected numbers, such as 1,2,4,8");
    out.graph_sizes.push_back(*size);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  out.noise = {.step = noise / 100, .run = run_shift / 100, .stalls = noise > 0 ? 0.01 : 0};
  for (const std::string& text : o.changes) {
    TACHO_ASSIGN_OR_RETURN(auto change, ParseChange(text));
    out.changes.push_back(std::move(change));
  }
  return out;
}

Result<KnownTrafficOptions> TrafficOptionsOf(const SimulateTraceOptions& o) {
  KnownTrafficOptions out;
  if (o.steps || o.requests || o.proposed || o.format != "kineto")
    return Fail(ErrorKind::kUsage,
                "--traffic goes without --steps, --requests, --speculative and --format nsys");
  TACHO_ASSIGN_OR_RETURN(out.run, KnownOptionsOf(o));
  const auto scaled = [](const std::optional<double>& given, double unit, int64_t otherwise) {
    const double value = given.value_or(0) * unit;
    return !given ? otherwise : value >= 0 && value < 1e12 ? std::llround(value) : int64_t{-1};
  };
  out.requests = *o.traffic;
  out.gap_ns = scaled(o.gap_ms, 1e6, out.gap_ns);
  out.clock_error_ns = scaled(o.clock_error_us, 1e3, out.clock_error_ns);
  out.engines = o.engines.value_or(1);
  out.front = o.front == "router"          ? TrafficFront::kRouter
              : o.front == "data-parallel" ? TrafficFront::kDataParallel
                                           : TrafficFront::kDirect;
  out.limits.max_num_seqs = o.batch.value_or(out.limits.max_num_seqs);
  out.limits.max_num_batched_tokens = o.step_tokens.value_or(out.limits.max_num_batched_tokens);
  out.limits.preempts = o.cache_tokens.has_value();
  out.limits.cache_tokens = o.cache_tokens.value_or(out.limits.cache_tokens);
  out.failed = o.failed.value_or(0) / 100;
  out.cached = o.cached.value_or(0) / 100;
  out.merged = o.merged.value_or(2) / 100;
  out.recorded_from = o.recorded_from.value_or(0) / 100;
  out.recorded_to = o.recorded_to.value_or(100) / 100;
  out.load_seed = out.run.load_seed;
  return out;
}

// Removes the traces of an earlier simulation, which would be read as more ranks of the new run.
// Removes nothing if the folder has no truth.json.
void RemoveEarlierRun(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr std::string_view kTruth = ".truth.json";
  std::error_code failed;
  if (!fs::exists(folder + "/truth.json", failed)) return;
  std::vector<std::string> earlier;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string path = entry.path().string();
    if (IsKnownExportName(entry.path().filename().string())) earlier.push_back(path);
    if (!path.ends_with(kTruth)) continue;
    earlier.push_back(path);
    earlier.push_back(path.substr(0, path.size() - kTruth.size()));
  }
  for (const std::string& path : earlier) fs::remove(path, failed);
}

// The functions that write files return the lines to print, one per file.
Result<std::string> WriteKinetoFiles(const KnownRun& run, const std::string& folder) {
  std::string said;
  for (const TraceSource& source : run.sources) {
    const std::string path = folder + "/" + KnownTraceName(run, source.rank);
    TACHO_ASSIGN_OR_RETURN(const auto file, OutputFile::Open(path, {}));
    WriteKinetoTrace(source, run.recording, *file);
    TACHO_RETURN_IF_ERROR(file->Finish());
    TACHO_RETURN_IF_ERROR(WriteFile(path + ".truth.json", TruthOf(source, run.recording)));
    said += path + "\n";
  }
  return said;
}

Result<std::string> WriteNsysFile(const KnownRun& run, const std::string& folder) {
  const std::string path = folder + "/" + KnownExportName(run);
  TACHO_ASSIGN_OR_RETURN(const auto file, OutputFile::Open(path, {}));
  const auto write = [&]() -> Result<void> {
    TACHO_ASSIGN_OR_RETURN(auto database, SqliteDatabase::OfNewFile(file->name_beside()));
    return WriteNsysExport(run.sources, run.recording, database);
  };
  if (const auto written = write(); !written)
    return Fail(ErrorKind::kOutput,
                fmt::format("cannot write {}: {}", path, written.error().message));
  TACHO_RETURN_IF_ERROR(file->Finish());
  return path + "\n";
}

Result<std::string> WriteKnownRun(const KnownRun& run, const SimulateTraceOptions& o) {
  RemoveEarlierRun(o.folder);
  TACHO_ASSIGN_OR_RETURN(std::string said, o.format == "nsys" ? WriteNsysFile(run, o.folder)
                                                              : WriteKinetoFiles(run, o.folder));
  TACHO_ASSIGN_OR_RETURN(const KnownRun without, WithoutChanges(run.options));
  const std::string truth = o.folder + "/truth.json";
  TACHO_RETURN_IF_ERROR(WriteFile(truth, KnownTruth(run, without)));
  return said + truth + "\n";
}

}  // namespace

CommandSpec SimulateTraceSpec() {
  SimulateTraceOptions options;
  return SimulateTraceSpec(options);
}

Result<int> RunSimulateTrace(const std::vector<std::string>& arguments) {
  SimulateTraceOptions given;
  const CommandSpec spec = SimulateTraceSpec(given);
  TACHO_ASSIGN_OR_RETURN(const bool help, ParseArguments(spec, arguments));
  std::string text = help ? HelpText(spec) : "";
  if (!help && given.traffic) {
    TACHO_ASSIGN_OR_RETURN(const KnownTrafficOptions options, TrafficOptionsOf(given));
    TACHO_ASSIGN_OR_RETURN(const KnownTraffic traffic, MakeKnownTraffic(options));
    TACHO_ASSIGN_OR_RETURN(text, WriteTrafficFolder(traffic, given.folder));
  } else if (!help) {
    TACHO_ASSIGN_OR_RETURN(const KnownRunOptions options, KnownOptionsOf(given));
    TACHO_ASSIGN_OR_RETURN(const KnownRun run, MakeKnownRun(options));
    TACHO_ASSIGN_OR_RETURN(text, WriteKnownRun(run, given));
  }
  const auto written = WriteStdout(text);
  return written ? kDone : Fails(written.error());
}

}  // namespace tacho
