#include "launch/plan_here.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/ancestors.h"
#include "base/disk_room.h"
#include "base/find_program.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "control/engine_folder.h"
#include "control/engine_type.h"
#include "control/launch/command_options.h"
#include "control/launch/config_file.h"
#include "control/launch/launch_checks.h"
#include "control/live/known_faults.h"
#include "control/live/port_owner.h"
#include "control/nsys/nsys_launch.h"
#include "control/version.h"
#include "launch/command_wrappers.h"
#include "launch/engine_model.h"
#include "launch/launch_registry.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

extern char** environ;

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kTooLittleRoom = 256ull << 20, kLittleRoom = 2ull << 30;
constexpr int kMostGpus = 1024;

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> settings;
  for (char** setting = environ; *setting != nullptr; ++setting) settings.emplace_back(*setting);
  return settings;
}

// The GPUs that CUDA_VISIBLE_DEVICES names, in the engine's own settings or else in this
// environment. If it is not set, the GPUs that have a device file.
std::vector<std::string> GpusFor(const std::vector<std::string>& settings) {
  std::vector<std::string> gpus;
  const char* visible = std::getenv(std::string(kVisibleGpus).c_str());
  for (const std::string& setting : settings)
    if (setting.starts_with(fmt::format("{}=", kVisibleGpus)))
      visible = setting.c_str() + kVisibleGpus.size() + 1;
  if (visible != nullptr) {
    std::string_view rest = visible;
    while (!rest.empty()) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      if (!one.empty() && one != "-1") gpus.emplace_back(one);
    }
    return gpus;
  }
  for (int i = 0; i < kMostGpus && fs::exists(fmt::format("/dev/nvidia{}", i)); ++i)
    gpus.push_back(std::to_string(i));
  return gpus;
}

// The name of the launch that this process belongs to; "" if there is none.
std::string LaunchOf(int64_t pid) {
  std::vector<int64_t> line = AncestorsOf(pid);
  line.push_back(pid);
  for (const LaunchRecord& launch : RunningLaunches())
    for (const LaunchRecord::Server& server : launch.servers)
      if (std::ranges::find(line, server.pid) != line.end()) return launch.name;
  return "";
}

// Says who is using the port, and what to do about it.
std::string WhoHolds(uint16_t port) {
  const std::vector<int64_t> pids = PidsListeningOn(port);
  const std::string launch = pids.empty() ? "" : LaunchOf(pids.front());
  return fmt::format("{}: leave out --port for a free one{}", ListenerOn(port),
                     launch.empty() ? "" : ", or end it: tacho launch stop " + launch);
}

struct FreePorts {
  std::vector<uint16_t> numbers;
  std::vector<SessionLock> held;
};

// Finds `all` free ports, from `asked` or else from the engine's usual port on. With `asked`, the
// first `engines` ports must follow each other without a gap.
Result<FreePorts> FindPorts(std::optional<uint16_t> asked, uint16_t usual, size_t engines,
                            size_t all) {
  FreePorts ports;
  uint32_t next = asked.value_or(usual);
  for (; ports.numbers.size() < all && next <= UINT16_MAX; ++next) {
    const auto port = static_cast<uint16_t>(next);
    // Locks the port before checking whether it is free. Another launch releases its lock only when
    // it listens on the port, and then the check sees that.
    auto held = SessionLock::TakePort(port, "tacho launch");
    if (!held && held.error().kind == ErrorKind::kOutput)
      return tl::unexpected(std::move(held).error());
    if (held && IsFreePort(port)) {
      ports.numbers.push_back(port);
      ports.held.push_back(*std::move(held));
    } else if (asked && ports.numbers.size() < engines) {
      return Fail(
          ErrorKind::kUsage,
          fmt::format(
              "port {} is taken: {}", port,
              held ? WhoHolds(port)
                   : "another tacho launch starts a server on it: leave out --port for a free "
                     "one"));
    }
  }
  if (ports.numbers.size() < all) return Fail(ErrorKind::kUsage, "there is no free port");
  return ports;
}

std::string RouterProgram(EngineKind kind, const std::string& python) {
  const std::string name(TypeOf(kind).Launch()->router);
  std::string beside = fs::path(python).parent_path().string() + "/" + name;
  if (!python.empty() && IsProgram(beside)) return beside;
  const std::vector<std::string> found = ProgramsInPath(name);
  return found.empty() ? "" : found.front();
}

Result<LaunchRequest> RequestOf(EngineKind kind, const EngineArguments& arguments) {
  for (const std::string& setting : arguments.environment)
    if (setting.find('=') == 0 || setting.find('=') == std::string::npos)
      return Fail(ErrorKind::kUsage,
                  fmt::format("--env {}: write it as NAME=VALUE", VisibleText(setting)));
  LaunchRequest request{.kind = kind,
                        .preset = arguments.preset,
                        .environment = arguments.environment,
                        .port = {},
                        .log_requests = arguments.log_requests};
  request.replicas = static_cast<size_t>(arguments.replicas.value_or(1));
  if (arguments.port) {
    if (*arguments.port > UINT16_MAX)
      return Fail(ErrorKind::kUsage, "--port: a port is a number from 1 to 65535");
    request.port = static_cast<uint16_t>(*arguments.port);
  }
  return request;
}

// All variables of a server's environment. The server's own settings win over those in `here`.
std::vector<std::string> WholeEnvironment(const std::vector<std::string>& here,
                                          const PlannedServer& server) {
  std::vector<std::string> whole = server.environment;
  std::set<std::string> names;
  for (const std::string& setting : whole) names.insert(setting.substr(0, setting.find('=')));
  for (const std::string& setting : here)
    if (!names.contains(setting.substr(0, setting.find('=')))) whole.push_back(setting);
  return whole;
}

// The words to put before the engine's command, so that nsys can record it in the given session.
Result<std::vector<std::string>> UnderNsys(const NsysToUse& nsys_to_use,
                                           const LaunchRequest& request, bool has_gpu,
                                           const std::stop_token& stop) {
  const auto& [nsys, session] = nsys_to_use;
  if (request.replicas > 1)
    return Fail(ErrorKind::kUsage, "--preset nsys launches one engine: leave out --replicas");
  if (nsys.empty())
    return Fail(ErrorKind::kUsage,
                "--preset nsys: no nsys is installed here: install Nsight Systems, or add it to "
                "$PATH");
  constexpr std::chrono::milliseconds kHelpWithin{10'000};
  constexpr size_t kMostHelp = 1 << 20;
  const auto help = OutputOf(
      {.arguments = {nsys, "launch", "--help"}, .patience = kHelpWithin, .stop = stop}, kMostHelp);
  // Without a GPU, calls of the operating system are all that can be recorded.
  return NsysLaunchWords({.program = nsys, .session = session, .os_calls = !has_gpu},
                         help.value_or(""));
}

// Removes the setting for vLLM's NVTX ranges if the package nvtx is missing: then vLLM would die at
// its first step (seen in 0.32).
void DropRangesWithoutNvtx(const std::string& python, const std::stop_token& stop,
                           PlannedLaunch& plan) {
  constexpr std::string_view kRanges = "VLLM_NVTX_SCOPES_FOR_PROFILING=";
  constexpr std::chrono::milliseconds kImportsWithin{30'000};
  std::vector<std::string>& settings = plan.servers[0].environment;
  const auto asks = std::ranges::find_if(
      settings, [&](const std::string& setting) { return setting.starts_with(kRanges); });
  if (asks == settings.end() || python.empty() ||
      OutputOf({.arguments = {python, "-c",
                              "import importlib.util; "
                              "raise SystemExit(importlib.util.find_spec('nvtx') is None)"},
                .environment = settings,  // the engine's own: its PYTHONPATH may lead to nvtx
                .patience = kImportsWithin,
                .stop = stop},
               1))
    return;
  settings.erase(asks);
  plan.findings.push_back({FindingId::kNvtxMissing, python,
                           "it has no package nvtx, so vLLM names no steps for nsys",
                           ShellWord(python) + " -m pip install nvtx"});
}

// A folder that the launch writes into (it may not exist yet), and the option with which the user
// can name another folder.
struct WrittenFolder {
  std::string path;
  std::string_view named_by;
};

std::vector<WrittenFolder> WrittenFolders(const PlannedLaunch& plan, const std::string& folder) {
  std::error_code error;
  std::vector<WrittenFolder> written{{folder, "-o DIR"}};
  if (std::string path = fs::temp_directory_path(error).string(); !error)
    written.push_back({std::move(path), "TMPDIR"});
  for (const PlannedServer& server : plan.servers)
    if (!IsStore(server.traces) && !server.traces.starts_with(folder + "/"))
      written.push_back({server.traces, "in the engine's options or environment"});
  return written;
}

// Whether the disks have room for logs and traces. kOutput: a folder cannot be written, or less
// than 256 MB are free. Little room becomes a finding of the plan.
Result<void> CheckRoom(const std::string& folder, PlannedLaunch& plan) {
  std::set<std::string> seen;
  for (const WrittenFolder& written : WrittenFolders(plan, folder)) {
    if (const std::string obstacle = ObstacleToWriting(written.path); !obstacle.empty())
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}: name another folder ({})", written.path,
                                                  obstacle, written.named_by));
    const std::string there = NearestThere(written.path);
    const std::optional<uint64_t> bytes = FreeBytes(there);
    if (!bytes || *bytes >= kLittleRoom || !seen.insert(there).second) continue;
    const std::string words = fmt::format("only {} MB are free for traces", *bytes >> 20);
    if (*bytes < kTooLittleRoom)
      return Fail(ErrorKind::kOutput, fmt::format("{}: {}: make room, or name another folder ({})",
                                                  there, words, written.named_by));
    plan.findings.push_back({FindingId::kLittleRoom, there, words});
  }
  return {};
}

// Adds the name of the --config file to findings about options that only this file has.
void NameConfigFile(const EngineProgram& program, std::vector<Finding>& findings) {
  const auto file = OptionValue(program.command, {"--config"});
  const auto gives = [](const std::vector<std::string>& words, std::string_view subject) {
    const std::string_view named = TakeWord(subject);
    return std::ranges::any_of(OptionsOf(words), [&](const CommandOption& option) {
      return "--" + option.name.substr(0, option.name.find('.')) == named;
    });
  };
  for (Finding& finding : findings)
    if (file && gives(program.file_options, finding.subject) &&
        !gives(program.command, finding.subject))
      finding.subject += " in " + *file;
}

// Refuses tacho's own options after "--": the engine would take half a minute to report that it
// does not know them.
Result<void> CheckWhoseOptions(const std::vector<std::string>& command) {
  static constexpr std::array<std::string_view, 6> kOwn{"env",    "preset",       "detach",
                                                        "python", "ready-within", "replicas"};
  // Ignores the options of a wrapper before the engine.
  const size_t engine = EngineWord(command) % command.size();
  const std::vector<std::string> words(command.begin() + static_cast<std::ptrdiff_t>(engine),
                                       command.end());
  for (const CommandOption& option : OptionsOf(words))
    if (std::ranges::find(kOwn, option.name) != kOwn.end())
      return Fail(ErrorKind::kUsage, fmt::format("--{} is tacho's own option: put it before --",
                                                 VisibleText(option.name)));
  return {};
}

}  // namespace

uint16_t UsualPort(EngineKind kind) { return TypeOf(kind).Launch()->port; }

std::string ListenerOn(uint16_t port) {
  constexpr size_t kMostOfCommand = 200;
  const std::vector<int64_t> pids = PidsListeningOn(port);
  if (pids.empty()) return "a process of another user listens on it, or it may not be used";
  return fmt::format(
      "process {} listens on it: {}", pids.front(),
      FitText(VisibleText(ShownWords(WordsOf(pids.front()))), kMostOfCommand, false));
}

std::vector<std::string> MoveSettings(EngineArguments& engine) {
  std::vector<std::string> settings = TakeSettings(engine.words);
  engine.environment.insert(engine.environment.end(), settings.begin(), settings.end());
  return settings;
}

Result<PlanOfHere> PlanHere(EngineKind kind, const EngineArguments& arguments,
                            const std::string& folder, const NsysToUse& nsys,
                            const std::stop_token& stop) {
  TACHO_ASSIGN_OR_RETURN(const LaunchRequest request, RequestOf(kind, arguments));
  TACHO_ASSIGN_OR_RETURN(EngineProgram program,
                         FindEngineProgram(kind, arguments.python, arguments.words));
  TACHO_RETURN_IF_ERROR(CheckModel(program.command, arguments.words));
  TACHO_RETURN_IF_ERROR(CheckWhoseOptions(program.command));
  // If the user sets another $PATH, the command may start another program.
  const bool other_path =
      std::ranges::any_of(arguments.environment,
                          [](const std::string& setting) { return setting.starts_with("PATH="); });
  if (other_path && arguments.python.empty()) program.python.clear();
  TACHO_ASSIGN_OR_RETURN(program.version, AskEngineVersion(kind, program.python, stop));
  // A file that cannot be read is reported later, with the other findings.
  if (const auto whole = WithConfigFile(program.command))
    program.file_options.assign(
        whole->begin() + static_cast<std::ptrdiff_t>(program.command.size()), whole->end());
  TACHO_ASSIGN_OR_RETURN(const auto port, AskedPort(request, program));
  LaunchPlace place{.folder = fs::absolute(folder).lexically_normal().string(),
                    .working = fs::current_path().string(),
                    .ports = {},
                    .gpus = GpusFor(request.environment),
                    .environment = OwnEnvironment()};
  if (request.replicas > 1) place.router_program = RouterProgram(kind, program.python);
  TACHO_ASSIGN_OR_RETURN(FreePorts ports,
                         FindPorts(port, UsualPort(kind), request.replicas,
                                   request.replicas + (place.router_program.empty() ? 0 : 2)));
  place.ports = std::move(ports.numbers);
  if (request.preset == "nsys") {
    TACHO_ASSIGN_OR_RETURN(place.nsys, UnderNsys(nsys, request, !place.gpus.empty(), stop));
  }
  TACHO_ASSIGN_OR_RETURN(PlannedLaunch plan, PlanLaunch(request, program, place));
  if (request.preset == "nsys") DropRangesWithoutNvtx(program.python, stop, plan);
  if (!ParseVersion(program.version))
    plan.findings.push_back(
        {FindingId::kVersionUnknown, std::string(NameOf(kind)),
         "its version cannot be asked; the options are those of the newest one that tacho knows"});
  for (Finding& finding : CheckVersion(NameOf(kind), program.version))
    plan.findings.push_back(std::move(finding));
  auto words = WithConfigFile(plan.servers[0].command);
  if (!words) plan.findings.push_back(words.error());
  const std::string stacks = fmt::format("preset.{}.config.torch_profiler_with_stack", plan.preset);
  // If the command starts a server in a container or a script, the checks do not see that server's
  // options.
  for (Finding& finding : CheckLaunch(kind, plan.version, words.value_or(plan.servers[0].command),
                                      WholeEnvironment(place.environment, plan.servers[0]),
                                      EngineRule(kind, plan.version, stacks) == "true"))
    plan.findings.push_back(std::move(finding));
  NameConfigFile(program, plan.findings);
  for (const Finding& finding : plan.findings)
    if (finding.severity() == FindingSeverity::kBlocking && !arguments.force) {
      Error error = ErrorOf(finding).WithContext("nothing was started");
      error.message += " (--force starts it all the same)";
      return tl::unexpected(std::move(error));
    }
  TACHO_RETURN_IF_ERROR(CheckRoom(place.folder, plan));
  return PlanOfHere{std::move(plan), std::move(ports.held)};
}

}  // namespace tacho
