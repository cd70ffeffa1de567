#include "doctor/doctor_looks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>

#include "base/disk_room.h"
#include "base/find_program.h"
#include "base/parse_number.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "control/engine_folder.h"
#include "control/engine_type.h"
#include "control/launch/command_options.h"
#include "control/launch/config_file.h"
#include "control/launch/launch_checks.h"
#include "control/live/engine_answers.h"
#include "control/live/known_faults.h"
#include "control/live/local_engine.h"
#include "control/live/port_owner.h"
#include "control/live/probed_workers.h"
#include "control/log/engine_failure.h"
#include "control/nsys/nsys_sessions.h"
#include "control/version.h"
#include "control/vllm/vllm_command_line.h"
#include "doctor/doctor_ray.h"
#include "doctor/doctor_workers.h"
#include "ingest/nsys_sqlite/nsys_program.h"
#include "io/read_whole.h"
#include "launch/command_wrappers.h"
#include "launch/engine_program.h"
#include "launch/launch_registry.h"
#include "launch/plan_here.h"
#include "net/url.h"
#include "report/words/caveat.h"
#include "report/words/rank_text.h"
#include "session/files/trace_folder.h"
#include "session/run_folder/kept_recording.h"
#include "text/shell_word.h"

extern char** environ;

namespace tacho {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kNsysAnswersWithin{10'000};
constexpr size_t kMostLogs = 64;
constexpr const char* kDriverFolder = "/proc/driver/nvidia";
// Parts of GPU model names; nsys by default uses hardware tracing on these GPUs.
constexpr std::array<std::string_view, 3> kHardwareTraced{"GB200", "GB300", " VR"};

void Saw(Examination& examination, Look look, std::string at, std::string cannot = "") {
  examination.looked.push_back({look, std::move(at), std::move(cannot)});
}

// Finds stray agents of nsys. Only the nsys that began a session knows it, so an agent is stray if
// its own nsys does not list its session.
void ExamineAgents(const std::stop_token& stop, Examination& examination) {
  const std::vector<NsysAgent> agents = NsysAgents();
  for (const NsysAgent& agent : agents) {
    const std::string at = fmt::format("nsys's agent, process {}", agent.pid);
    if (agent.program.empty()) {
      Saw(examination, Look::kHost, at, "its program is not an nsys that may be run");
      continue;
    }
    const auto list = OutputOf({.arguments = {agent.program, "sessions", "list"},
                                .patience = kNsysAnswersWithin,
                                .stop = stop},
                               1 << 20);
    if (!list) {
      Saw(examination, Look::kHost, at, "its own nsys does not list its sessions");
      continue;
    }
    Saw(examination, Look::kHost, at);
    const std::vector<NsysSession> sessions = NsysSessionsIn(*list);
    if (std::ranges::find(sessions, agent.session, &NsysSession::name) != sessions.end()) continue;
    examination.Add(Finding{FindingId::kStrayAgent, fmt::format("process {}", agent.pid),
                            fmt::format("nsys's agent of session {} has no session any more; it "
                                        "has used {} s of CPU",
                                        agent.session.empty() ? "?" : agent.session,
                                        CpuTimeOf(agent.pid) / 1'000'000'000),
                            fmt::format("kill {}", agent.pid)});
  }
  if (agents.empty()) Saw(examination, Look::kHost, "agents of nsys: none runs");
}

// Returns the path of the nsys that is installed; "" if none is.
std::string ExamineNsys(const std::stop_token& stop, Examination& examination) {
  const std::optional<NsysProgram> nsys = FindNsys(stop);
  Saw(examination, Look::kHost,
      nsys ? fmt::format("nsys {} ({})", nsys->version, nsys->path) : "nsys: none is installed");
  if (nsys) ExamineImporter(*nsys, examination);
  ExamineAgents(stop, examination);
  return nsys ? nsys->path : "";
}

// Looks at the engines that are installed for this Python. If `python` is "", looks for the engines
// that this shell would start.
void ExamineInstalled(const std::string& python, const std::stop_token& stop,
                      Examination& examination) {
  for (const EngineType* type : LaunchedTypes()) {
    const EngineKind kind = type->kind();
    const std::string name(NameOf(kind));
    const auto program = FindEngineProgram(kind, python, {});
    const auto version = program ? AskEngineVersion(kind, program->python, stop)
                                 : Result<std::string>(tl::unexpected<Error>(program.error()));
    if (!version) {
      Saw(examination, Look::kHost,
          fmt::format("{}: not installed for {}", name,
                      python.empty() ? "this shell's Python; --python PATH names another"
                                     : ShellWord(python)));
      continue;
    }
    Saw(examination, Look::kVersion, fmt::format("{} {}, installed", name, *version),
        version->empty() ? "its version cannot be asked" : "");
    for (const Finding& finding : CheckVersion(name, *version)) examination.Add(finding);
    const std::string torch = AskPackageVersion(program->python, {"torch"}, stop).value_or("");
    Saw(examination, Look::kHost, "torch " + (torch.empty() ? "beside it" : torch),
        torch.empty() ? "its version cannot be asked" : "");
    for (const Finding& finding : CheckVersion("torch", torch)) examination.Add(finding);
  }
}

// Adds what the probes of the workers, their processes and a comparison of the workers show.
void ExamineProbed(const Deployment& deployment, const std::vector<ProbedWorker>& workers,
                   const std::stop_token& stop, Examination& examination) {
  if (deployment.router_kind == RouterKind::kVllmRouter ||
      deployment.router_kind == RouterKind::kSglangRouter)
    examination.Add(
        Finding{FindingId::kRouterForwards, deployment.router_url,
                deployment.router_kind == RouterKind::kVllmRouter
                    ? "a vllm-router: a start through it reaches one worker of its choice"
                    : "an sglang-router: it has no route to start profilers"});
  for (const Finding& finding : FindingsOf(deployment, workers)) examination.Add(finding);
  std::vector<ExaminedWorker> answered;
  for (const ProbedWorker& probed : workers) {
    if (!probed.facts) {
      Saw(examination, Look::kEngine, probed.worker.url, "it did not answer");
      continue;
    }
    const EngineFacts& facts = *probed.facts;
    Saw(examination, Look::kEngine,
        fmt::format("{}: {} {}, what it reports of itself", probed.worker.url, NameOf(facts.kind),
                    facts.version));
    answered.push_back({probed.worker, facts, LocalProcesses(probed.worker)});
    ExamineWorker(answered.back(), examination);
  }
  ExamineTogether(answered, examination);
  const bool is_here = std::ranges::any_of(
      answered, [](const ExaminedWorker& worker) { return !worker.pids.empty(); });
  if (!is_here && !answered.empty())
    return Saw(examination, Look::kHost, "the host of " + answered.front().worker.url,
               "its processes are not on this one, or are another user's");
  ExamineNsys(stop, examination);
  ExamineGpus(kDriverFolder, examination);
}

}  // namespace

void ExamineImporter(const NsysProgram& nsys, Examination& examination) {
  if (FindImporter(nsys).empty())
    examination.Add(Finding{FindingId::kImporterMissing, nsys.path,
                            "it has no QdstrmImporter beside it: its recordings stay .qdstrm"});
}

void ExamineGpus(const std::string& driver, Examination& examination) {
  std::ifstream version(driver + "/version");
  std::string line;
  std::getline(version, line);
  Saw(examination, Look::kHost, line.empty() ? "NVIDIA driver: none is loaded" : line);
  std::error_code failed;
  for (const auto& gpu : fs::directory_iterator(driver + "/gpus", failed)) {
    std::ifstream information(gpu.path() / "information");
    while (std::getline(information, line)) {
      if (!line.starts_with("Model:")) continue;
      const std::string model(Trim(std::string_view(line).substr(6)));
      Saw(examination, Look::kHost, "GPU " + model);
      if (std::ranges::any_of(kHardwareTraced, [&](std::string_view name) {
            return model.find(name) != std::string::npos;
          }))
        examination.Add(Finding{FindingId::kHardwareTracing, model,
                                "nsys may crash as it begins to trace this GPU's hardware"});
    }
  }
}

namespace {

// Why a server at this address does not answer yet: "launch vllm is still starting; its log: ...".
// "" if the server belongs to no launch on this host, or has already been ready.
std::string StillStarting(const std::string& target, const std::stop_token& stop) {
  const auto url = ParseUrl(target);
  if (!url || !url->IsLoopback()) return "";
  for (const LaunchRecord& launch : RunningLaunches())
    for (const LaunchRecord::Server& server : launch.servers) {
      const auto own = ParseUrl(server.url);
      if (!own || own->port != url->port || server.traces.empty()) continue;
      std::ifstream log(server.log, std::ios::binary);
      if (log && ReadFailures(log, stop).ready == 0)
        return fmt::format("launch {} is still starting; its log: {}", launch.name, server.log);
    }
  return "";
}

Result<void> AskTarget(const std::string& target, const LookOptions& options,
                       const std::stop_token& stop, Examination& examination) {
  TACHO_ASSIGN_OR_RETURN(const auto client, HttpClient::Create(options.http));
  TACHO_ASSIGN_OR_RETURN(const Deployment deployment,
                         Discover(*client, {target}, stop, options.patience));
  std::vector<ProbedWorker> workers =
      ProbeWorkers(*client, deployment.workers, options.patience, stop);
  AskForLife(*client, workers);
  if (stop.stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  const bool any = std::ranges::any_of(
      workers, [](const ProbedWorker& probed) { return probed.facts.has_value(); });
  if (!any && !workers.empty()) return tl::unexpected<Error>(workers.front().facts.error());
  ExamineProbed(deployment, workers, stop, examination);
  return {};
}

}  // namespace

Result<void> ExamineTarget(const std::string& target, const LookOptions& options,
                           const std::stop_token& stop, Examination& examination) {
  auto asked = AskTarget(target, options, stop, examination);
  if (asked || asked.error().kind != ErrorKind::kRemote) return asked;
  if (std::string starting = StillStarting(target, stop); !starting.empty())
    return FailAt(ErrorKind::kRemote, target, std::move(starting));
  return asked;
}

void ExamineHost(const LookOptions& options, const std::stop_token& stop,
                 Examination& examination) {
  ExamineInstalled(options.python, stop, examination);
  ExamineRaylets(ExamineNsys(stop, examination), examination);
  ExamineGpus(kDriverFolder, examination);
  std::error_code failed;
  ExamineRoom({fs::temp_directory_path(failed).string(), fs::current_path(failed).string()},
              examination);
  for (const LaunchRecord& launch : RunningLaunches())
    Saw(examination, Look::kHost,
        fmt::format("launch {}: {} at {}", launch.name, launch.engine, launch.url));
}

namespace {

// Checks whether a server with this command could listen on its port of this host. There is no
// finding if a server that was started by the same command has the port. `words`: the words of
// `command` and of its configuration file.
void ExaminePort(EngineKind kind, const std::vector<std::string>& command,
                 const std::vector<std::string>& words, Examination& examination) {
  if (RunsElsewhere(command)) return;
  const auto named = ParseWhole<uint16_t>(OptionValue(words, {"--port"}).value_or(""));
  const uint16_t port = named.value_or(UsualPort(kind));
  Saw(examination, Look::kCommand, fmt::format("port {} of this host", port));
  if (port == 0 || IsFreePort(port)) return;
  // Compares only the words after the program, because a script runs as a process of its
  // interpreter.
  const std::span<const std::string> own =
      std::span(command).subspan(std::min(command.size(), EngineWord(command) + 1));
  for (const int64_t pid : PidsListeningOn(port)) {
    const std::vector<std::string> theirs = WordsOf(pid);
    if (theirs.size() >= own.size() &&
        std::equal(own.begin(), own.end(), theirs.end() - static_cast<std::ptrdiff_t>(own.size())))
      return;
  }
  Diagnosis taken = DiagnosisOf({FindingId::kPortInUse, fmt::format("port {}", port),
                                 fmt::format("it is taken on this host: {}", ListenerOn(port))});
  // Without --port this is the engine's usual port, and tacho launch would take the next free one.
  if (!named) taken.severity = FindingSeverity::kNotice;
  examination.Add(std::move(taken));
}

}  // namespace

Result<void> ExamineCommandLine(const LookOptions& options, const std::stop_token& stop,
                                Examination& examination) {
  const EngineKind kind = EngineOf(options.command);
  const auto any = [&](const auto& is) { return std::ranges::any_of(options.command, is); };
  // A session or a host may have an engine's name, as in: tmux new-session -s vllm "vllm serve m".
  const bool quoted = any(IsQuotedCommand) && EngineWord(options.command) == options.command.size();
  if (!IsKnown(kind) || quoted) {
    std::vector<std::string> words = options.command;
    TakeSettings(words);  // removes settings, which may be secret
    const std::string first = words.empty() ? "" : words.front();
    // The container program may follow another program: "sudo docker run ...", "bash -c 'vllm serve
    // m'".
    const bool container = any(IsContainer);
    const std::string program = first.substr(0, first.find(' '));
    return Fail(
        ErrorKind::kUsage,
        fmt::format("the command line shows neither vLLM nor SGLang{}; {}: vllm serve MODEL ...",
                    quoted || program.empty() ? "" : ": " + ShellWord(program),
                    container ? "give the engine's command as it runs in the container"
                    : quoted ? "what is in quotes is not looked into: give the words without quotes"
                             : "of a script give the command in it"));
  }
  std::string version = options.engine_version;
  if (version.empty()) {
    // The command may name a program in another environment than the shell's.
    const auto named = std::ranges::find_if(options.command, [](const std::string& word) {
      const std::string name = fs::path(word).filename().string();
      return name == "vllm" || name.starts_with("python");
    });
    // If --python is given, its environment has its own "vllm serve".
    const bool is_named = named != options.command.end() && options.python.empty();
    const auto program = FindEngineProgram(
        kind, options.python, is_named ? std::vector{*named} : std::vector<std::string>());
    const auto asked = program ? AskEngineVersion(kind, program->python, stop)
                               : Result<std::string>(tl::unexpected<Error>(program.error()));
    if (!asked && !options.python.empty()) return tl::unexpected<Error>(asked.error());
    version = asked.value_or("");
  }
  std::vector<std::string> environment;
  for (char** setting = environ; *setting != nullptr; ++setting) environment.emplace_back(*setting);
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  Saw(examination, Look::kCommand, "the command line, and the environment of this shell");
  const auto words = WithConfigFile(options.command);
  if (!words) examination.Add(words.error());
  ExamineCommand(kind, version, words.value_or(options.command), environment, "", examination);
  ExaminePort(kind, options.command, words.value_or(options.command), examination);
  ProfilerFacts profiler;
  ReadProfilerConfig(ProfilerConfigOf(words.value_or(options.command), {}), profiler);
  const char* const home = std::getenv("HOME");
  const std::string folder = EngineFolder(profiler.folder.value_or(""), fs::current_path().string(),
                                          home == nullptr ? "" : home);
  if (folder.empty() || IsStore(folder)) return {};
  // The engine creates folders that do not exist.
  if (const std::string obstacle = ObstacleToWriting(folder); obstacle.empty())
    ExamineRoom({NearestThere(folder)}, examination);
  else
    examination.Add(Finding{FindingId::kTraceFolderBad, folder, obstacle});
  return {};
}

Result<void> ExamineTraces(const std::string& path, const LookOptions& options,
                           const std::stop_token& stop, Examination& examination) {
  TACHO_ASSIGN_OR_RETURN(const auto readout, options.read_traces(path, stop));
  for (const TraceAnalysis& trace : readout.run.traces) {
    const TraceFacts& facts = trace.facts;
    Saw(examination, Look::kTrace,
        trace.path + (facts.rank && facts.world_size
                          ? fmt::format(": rank {} of {}", *facts.rank, *facts.world_size)
                          : ""));
    for (Diagnosis& diagnosis : CheckTrace(trace)) examination.Add(std::move(diagnosis));
  }
  const std::string& subject =
      readout.run.traces.size() == 1 ? readout.run.traces.front().path : path;
  if (const std::string caveat = Caveat(readout.run); !caveat.empty())
    examination.Add(Finding{FindingId::kFiguresDoubtful, subject, caveat});
  if (const std::string missing = MissingRanksText(readout.run.ranks); !missing.empty())
    examination.Add(Finding{FindingId::kRanksMissing, subject, "without a trace: " + missing});
  for (const Error& failure : readout.failures) {
    Saw(examination, Look::kTrace, "a file of " + path, failure.message);
    examination.Add(Finding{FindingId::kFileUnreadable, "", failure.message});
  }
  return {};
}

Result<void> ExamineRun(const std::string& folder, const LookOptions& options,
                        const std::stop_token& stop, Examination& examination) {
  const std::string run_json = RunJsonFor(folder);
  const auto findings = KeptFindingsOf(run_json);
  if (findings) {
    Saw(examination, Look::kRecording, folder + "/run.json");
    const bool has_traces = fs::exists(folder + "/traces");
    for (const Diagnosis& finding : *findings)
      if (!has_traces || finding.id != KindOf(FindingId::kRowsMissing).id)
        examination.Add(finding);  // the traces themselves say more about lost rows
  } else {
    Saw(examination, Look::kRecording, folder + "/run.json",
        run_json.empty() ? "it is not there" : "it is not what tacho record writes");
    if (fs::exists(folder + "/plan.json") || fs::exists(folder + "/probes.json") ||
        fs::exists(folder + "/traces/w0"))
      examination.Add(
          Finding{FindingId::kCutShort, folder, "the folder of a recording that has no run.json"});
  }
  const auto [engine, version] = KeptEngineOf(run_json);
  size_t logs = 0;
  std::error_code failed;
  std::vector<std::string> paths;
  for (const char* const part : {"/logs", "/server"})
    for (const auto& entry : fs::directory_iterator(folder + part, failed))
      if (entry.is_regular_file(failed)) paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    if (++logs > kMostLogs) break;
    if (auto read = ExamineLog(path, engine, version, stop, examination); !read) {
      if (read.error().kind == ErrorKind::kInterrupted) return read;
      Saw(examination, Look::kLog, path, read.error().message);
    }
  }
  for (Diagnosis& one : examination.found)
    if (one.id == KindOf(FindingId::kFlushLong).id ||
        one.id == KindOf(FindingId::kFlushTimedOut).id)
      one.remedy = WithoutFieldsSet(std::move(one.remedy), run_json);
  if (paths.empty())
    Saw(examination, Look::kLog, "the engine's log", "none was kept; record --engine-log keeps it");
  const std::string traces = fs::is_directory(folder + "/traces") ? folder + "/traces" : folder;
  if (const auto read = ExamineTraces(traces, options, stop, examination); !read)
    Saw(examination, Look::kTrace, traces, read.error().message);
  return {};
}

}  // namespace tacho
