#include "cli/record/record_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/load/load_result_files.h"
#include "cli/options/duration_argument.h"
#include "cli/options/load_argument.h"
#include "cli/screen/output.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr int64_t kWindowForRequestsNs = 60'000'000'000;
constexpr uint64_t kMostPairs = 1000;
constexpr int64_t kPromptOfOneLength = 256, kOutputOfOneLength = 128;  // tokens
constexpr int64_t kMostOverheadWindowNs = 600'000'000'000;

Result<Via> ParseVia(const std::string& text) {
  for (const Via via : kVias)
    if (text == NameOf(via)) return via;
  return Fail(ErrorKind::kUsage,
              fmt::format("--via takes auto, http, daemon or nsys, not '{}'", VisibleText(text)));
}

std::vector<std::string> NamesOfVias() {
  std::vector<std::string> names;
  for (const Via via : kVias) names.emplace_back(NameOf(via));
  return names;
}

}  // namespace

std::vector<OptionRow> SessionArguments::BudgetRows() {
  return {
      {"--budget-bytes", "SIZE",
       "most bytes that a rank writes, if nothing else bounds the window (default 100MB)",
       &budget_bytes},
      {"--budget-flush", "TIME",
       "longest flush of a rank, if nothing else bounds the window (default 5s)", &budget_flush}};
}

std::vector<OptionRow> SessionArguments::TraceRows() {
  return {{"-o,--out", "DIR", "where the run's folder is made (default: here)", &out},
          {"--trace-dir", "DIR", "the engines' trace folder, if they do not report it", &trace_dir},
          {"--map", "ENGINE=LOCAL", "the engine's folder is mounted here as LOCAL", &maps},
          {"--collect-from", "HOST[:DIR],...",
           "fetch by ssh what the engines wrote there: one for all, or one for each host",
           &collect_from},
          {"--engine-log", "FILE,...",
           "the engine's log, to show its progress (default: found through its process)",
           &engine_logs}};
}

OptionRow SessionArguments::KeepGoingRow() {
  return {"--keep-going", "", "record the other workers if some cannot be recorded, or die",
          &keep_going};
}

Result<void> SessionArguments::PutInto(RecordOptions& options) const {
  TACHO_ASSIGN_OR_RETURN(options.profile, profile.Profile());
  options.budget.asked = !budget_bytes.empty() || !budget_flush.empty();
  if (!budget_bytes.empty()) {
    TACHO_ASSIGN_OR_RETURN(options.budget.bytes,
                           WithContext(ParseSize(budget_bytes), "--budget-bytes"));
  }
  if (!budget_flush.empty()) {
    TACHO_ASSIGN_OR_RETURN(options.budget.flush_ns, NsArgument("--budget-flush", budget_flush));
  }
  options.out = out;
  options.trace_dir = trace_dir;
  options.collect_from = collect_from;
  options.engine_logs = engine_logs;
  for (const std::string& log : engine_logs)
    if (!std::filesystem::is_regular_file(log))
      return Fail(ErrorKind::kUsage,
                  fmt::format("--engine-log {}: there is no such file", VisibleText(log)));
  for (const std::string& map : maps) {
    size_t equals = map.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == map.size())
      return Fail(ErrorKind::kUsage,
                  fmt::format("--map {}: write it as /engine/path=/local/path", VisibleText(map)));
    options.maps.push_back({map.substr(0, equals), map.substr(equals + 1)});
  }
  options.keep_going = keep_going;
  return {};
}

// Long: a row for each option.
CommandSpec RecordSpec(RecordArguments& a) {
  CommandSpec spec;
  spec.name = "record";
  spec.summary = "profile a live deployment under load: every rank, proven, analysed";
  spec.usage = "TARGET... [options], or: --launch ENGINE [options] -- ENGINE'S ARGUMENTS";
  spec.description =
      "TARGET is the URL of a router or of an engine, a launch log, or a file with a list of URLs "
      "(kubectl's YAML or JSON too). "
      "Finds the workers, starts all their profilers at the same time while load runs, stops them, "
      "waits for and collects the traces, proves that every rank's is there and whole, and prints "
      "where the time went. Everything goes into one dated folder.";
  spec.groups = {
      {"what is profiled",
       With(
           With({{"-d,--duration", "TIME",
                  "length of the profiled window, at most (default: what the budget allows, up to "
                  "10s; "
                  "60s with --requests)",
                  &a.duration},
                 {"-n,--requests", "N", "until so many requests have ended in it", &a.requests, 1}},
                a.session.profile.Rows()),
           With(a.session.BudgetRows(),
                {OptionRow{"--via", "HOW",
                           "auto, http, daemon (engines started with KINETO_USE_DAEMON=1), or nsys "
                           "(engines under nsys launch)",
                           &a.via}
                     .OneOf(NamesOfVias())}))},
      {"load",
       {{"--no-load", "", "you send the load; the window is --duration long", &a.no_load},
        {"--mix", "NAME=SHARE,...", "scenarios (default chat=60,rag=30,code=10)", &a.mix},
        {"-c,--concurrency", "N", "in-flight requests (default 8 per worker)", &a.concurrency, 1},
        {"--rate", "R", "requests a second, at random times, in place of a fixed concurrency",
         &a.rate},
        {"--prompt-tokens", "N", "of every request, in place of the scenario's", &a.prompt_tokens,
         1},
        {"--output-tokens", "N", "of every request, in place of the scenario's", &a.output_tokens,
         1},
        {"--seed", "N", "of the plan", &a.seed},
        {"--warm-up", "TIME", "load before anything is measured (default 3s)", &a.warm_up},
        {"--baseline", "TIME", "load without profiling, so that its cost is known (default 5s)",
         &a.baseline},
        {"--through-router", "", "load through the router (default: straight to each worker)",
         &a.through_router},
        RecordsRow(a.records)}},
      {"the cost of looking",
       {{"--overhead", "",
         "before the recording, windows without and with the profilers in turn, under requests of "
         "one length: what they cost, "
         "with bounds",
         &a.overhead},
        {"--pairs", "N", "of windows, even (default 8, or what 5 minutes allow)", &a.pairs, 4},
        {"--overhead-window", "TIME", "length of each (default 2s)", &a.overhead_window},
        {"--precision", "PERCENT",
         "bounds that include no change are inconclusive if wider "
         "than this to each side (default 2%)",
         &a.precision}}},
      {"traces",
       With(
           a.session.TraceRows(),
           {{"--daemon-socket", "DIR",
             "the engines' KINETO_IPC_SOCKET_DIR, to the letter (default: it)", &a.daemon_socket},
            {"--nsys-session", "NAME",
             "the engines' session of nsys (default: that of their processes)", &a.nsys_session}})},
      {"an engine of its own",
       With({OptionRow{"--launch", "ENGINE",
                       "vllm or sglang: start it as `tacho launch` does, record it, end it",
                       &a.launch}
                 .OneOf({"vllm", "sglang"})},
            EngineRows(a.engine))},
      {"engines on a Ray cluster (docs/ray.md)",
       {{"--ray", "ADDRESS",
         "analyse the traces on the nodes that wrote them: http://HEAD:8265, HOST, or auto for "
         "RAY_API_SERVER_ADDRESS, RAY_ADDRESS or this host; without TARGET, the router or the "
         "engines of vime or slime are found by the cluster's actors",
         &a.ray},
        {"--ray-program", "FILE",
         "the static tacho that runs on the nodes (default: this program, or tacho-static beside "
         "it)",
         &a.ray_program},
        {"--fetch", "RANKS", "bring the traces of these ranks into the run folder: 0,1 or all",
         &a.fetch}}},
      {"other",
       {a.session.KeepGoingRow(),
        {"--json", "", "run.json in place of the screen", &a.json},
        {"-q,--quiet", "", "no progress", &a.quiet}}},
      a.remote.Rows(),
  };
  spec.positionals = &a.targets;
  spec.command = &a.command;
  spec.examples = {
      {"tacho record http://127.0.0.1:30055",
       "all workers behind a router, for as long as the budget allows"},
      {"tacho record http://127.0.0.1:8000 --steps 20", "twenty engine steps of one server"},
      {"tacho record launch.log --no-load --duration 5s", "a slime or vime run, as it goes"},
      {"tacho record --launch vllm --duration 20s -- Qwen/Qwen3-0.6B --max-model-len 4096",
       "the whole way: start, warm up, load, profile, collect, analyse, end"},
      {"tacho record http://127.0.0.1:8000 --overhead --pairs 12",
       "what profiling costs, measured in 24 windows, and a recording"},
      {"tacho record http://gpu7:8000 --collect-from gpu7:/tmp/traces", "traces fetched by ssh"},
      {"tacho record --ray http://head:8265",
       "the engines of vime or slime on a Ray cluster; their traces stay there"}};
  return spec;
}

namespace {

Result<std::optional<OverheadOptions>> OverheadOptionsOf(const RecordArguments& a) {
  if (!a.overhead) {
    if (a.pairs || !a.overhead_window.empty() || !a.precision.empty())
      return Fail(ErrorKind::kUsage,
                  "--pairs, --overhead-window and --precision are for --overhead: add it");
    return std::nullopt;
  }
  if (a.no_load)
    return Fail(ErrorKind::kUsage,
                "--overhead compares windows of one load: it needs tacho's own, not --no-load");
  OverheadOptions asked;
  asked.pairs_asked = a.pairs.has_value();
  if (asked.pairs_asked) asked.pairs = static_cast<uint64_t>(*a.pairs);
  if (asked.pairs % 2 != 0 || asked.pairs > kMostPairs)
    return Fail(ErrorKind::kUsage,
                fmt::format("--pairs: two make a block that a drift does not bias: give an even "
                            "number from 4 to {}",
                            kMostPairs));
  if (!a.overhead_window.empty()) {
    TACHO_ASSIGN_OR_RETURN(asked.window_ns, NsArgument("--overhead-window", a.overhead_window));
  }
  if (asked.window_ns < 100'000'000 || asked.window_ns > kMostOverheadWindowNs)
    return Fail(ErrorKind::kUsage, "--overhead-window: from a tenth of a second to 10 minutes");
  if (!a.precision.empty()) {
    TACHO_ASSIGN_OR_RETURN(asked.precision, ShareArgument("--precision", a.precision));
  }
  if (!a.launch.empty()) asked.preset = a.engine.preset;
  return asked;
}

Result<void> CheckTargets(const RecordArguments& a) {
  if (!a.ray && a.ray_program) return Fail(ErrorKind::kUsage, "--ray-program needs --ray");
  if (!a.ray && !a.fetch.empty()) return Fail(ErrorKind::kUsage, "--fetch needs --ray");
  if (a.targets.empty() && !a.ray)
    return Fail(
        ErrorKind::kUsage,
        "no target: tacho record URL (of a router or an engine); see 'tacho record --help'");
  return {};
}

}  // namespace

Result<RecordOptions> RecordOptionsOf(const RecordArguments& a) {
  RecordOptions options;
  TACHO_RETURN_IF_ERROR(CheckTargets(a));
  options.traces_stay = a.ray.has_value();
  options.targets = a.targets;
  TACHO_RETURN_IF_ERROR(a.session.PutInto(options));
  TACHO_ASSIGN_OR_RETURN(options.via, a.ray ? Via::kHttp : ParseVia(a.via));
  options.load = !a.no_load;
  options.through_router = a.through_router;
  if (!a.mix.empty()) {
    TACHO_ASSIGN_OR_RETURN(Mix mix, WithContext(ParseMix(a.mix), "--mix"));
    options.plan.mix = mix.parts;
  } else {
    options.plan.mix = DefaultMix();
  }
  if (!a.records.empty()) {
    if (a.no_load)
      return Fail(ErrorKind::kUsage,
                  "--records has the requests of tacho's own load: with --no-load there are none");
    TACHO_RETURN_IF_ERROR(CheckWritable(a.records));
  }
  options.plan.rate = a.rate;
  if (a.requests) {
    if (a.no_load)
      return Fail(ErrorKind::kUsage,
                  "--requests counts those of tacho's own load: with --no-load give --duration");
    if (options.profile.steps)
      return Fail(ErrorKind::kUsage,
                  "--requests and --steps both end the window: give one of them");
    options.window_requests = static_cast<uint64_t>(*a.requests);
    options.window_ns = kWindowForRequestsNs;
  }
  TACHO_ASSIGN_OR_RETURN(options.overhead, OverheadOptionsOf(a));
  options.plan.concurrency = static_cast<uint64_t>(a.concurrency.value_or(0));
  options.plan.prompt_tokens = a.prompt_tokens;
  options.plan.output_tokens = a.output_tokens;
  // With --overhead all requests have one length: with many lengths, the figures of short windows
  // vary by tens of per cent.
  if (options.overhead && a.mix.empty() && !a.prompt_tokens && !a.output_tokens) {
    options.plan.prompt_tokens = kPromptOfOneLength;
    options.plan.output_tokens = kOutputOfOneLength;
  }
  options.plan.seed = static_cast<uint64_t>(a.seed.value_or(0));
  options.window_asked = !a.duration.empty();
  if (options.window_asked) {
    TACHO_ASSIGN_OR_RETURN(options.window_ns, NsArgument("--duration", a.duration));
  }
  TACHO_ASSIGN_OR_RETURN(options.warm_up_ns, NsArgument("--warm-up", a.warm_up));
  TACHO_ASSIGN_OR_RETURN(options.baseline_ns, NsArgument("--baseline", a.baseline));
  TACHO_ASSIGN_OR_RETURN(const int64_t patience_ns, NsArgument("--timeout", a.remote.timeout));
  options.patience = std::chrono::milliseconds(patience_ns / 1'000'000);
  if (options.window_ns < 100'000'000)
    return Fail(ErrorKind::kUsage, "--duration: a window needs a tenth of a second at least");
  options.command = a.command;
  options.socket_folder = a.daemon_socket;
  options.nsys_session = a.nsys_session;
  if (!a.nsys_session.empty() && options.via != Via::kNsys)
    return Fail(ErrorKind::kUsage, "--nsys-session goes with --via nsys");
  return options;
}

}  // namespace tacho
