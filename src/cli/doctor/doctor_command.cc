#include "cli/doctor/doctor_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "cli/doctor/doctor_options.h"
#include "cli/doctor/doctor_report.h"
#include "cli/exit_status.h"
#include "cli/options/duration_argument.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/reading.h"
#include "cli/screen/slow_notice.h"
#include "cli/screen/terminal.h"
#include "control/launch/launch_checks.h"
#include "control/live/local_engine.h"
#include "control/log/launch_log.h"
#include "control/router/worker_list.h"
#include "control/version.h"
#include "doctor/doctor_looks.h"
#include "io/block_stream.h"
#include "io/content_kind.h"
#include "io/trace_sources.h"
#include "launch/engine_program.h"
#include "launch/launch_registry.h"
#include "net/url.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// At most so many bytes of a launch log or list are read.
constexpr size_t kMostList = size_t{16} << 20;

int PrintDoctor(const std::string& text) {
  const auto written = WriteStdout(text);
  return written ? kDone : Fails(written.error());
}

Result<int> Explain(const std::string& id) {
  const std::vector<const CheckPage*> pages = PagesFor(id);
  if (pages.empty()) {
    const std::string nearest = NearestPage(id);
    return Fail(ErrorKind::kUsage,
                fmt::format("--explain: no check '{}'{}; docs/doctor/README.md has all of them",
                            VisibleText(id),
                            nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
  }
  const size_t width = HelpWidth(SurroundingsOf(STDOUT_FILENO));
  std::string text;
  std::vector<std::string> ids;
  for (const CheckPage* page : pages) ids.push_back(page->id);
  if (ids.size() > 1)
    text = fmt::format("{} pages have {}: {}\n", ids.size(), id, fmt::join(ids, ", "));
  for (const CheckPage* page : pages) text += (text.empty() ? "" : "\n") + PageText(*page, width);
  return PrintDoctor(text);
}

Result<int> WritePages(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> files{{"README.md", PagesIndexMarkdown()}};
  for (const CheckPage& page : CheckPages())
    files.emplace_back(page.id + ".md", PageMarkdown(page));
  TACHO_RETURN_IF_ERROR(WriteFiles(folder, files));
  return kDone;
}

std::string BeginningOf(const std::string& path, size_t most) {
  std::string text;
  const auto stream = OpenStream(path, StreamThreads::kInline);
  for (Block block; stream && text.size() < most; text.append(block.data, block.size)) {
    block = (*stream)->Next();
    if (block.size == 0) break;
  }
  return text.substr(0, most);
}

void AddUnseen(Look look, const std::string& at, const Error& error, Examination& examination) {
  examination.looked.push_back(
      {look, at, error.Place() == at ? std::string(error.What()) : error.message, true});
}

// The URLs of running launches (the router's, if the launch has one) and of other engines on this
// host.
std::vector<std::string> UrlsHere() {
  std::vector<std::string> urls, asked_by_router;
  for (const LaunchRecord& launch : RunningLaunches()) {
    std::ranges::move(launch.targets(), std::back_inserter(urls));
    for (const LaunchRecord::Server& server : launch.servers) asked_by_router.push_back(server.url);
  }
  for (std::string& url : LocalEngineUrls())
    if (std::ranges::find(urls, url) == urls.end() &&
        std::ranges::find(asked_by_router, url) == asked_by_router.end())
      urls.push_back(std::move(url));
  return urls;
}

// The options for the examination. `a` must outlive them.
Result<LookOptions> LooksOf(const DoctorArguments& a) {
  TACHO_ASSIGN_OR_RETURN(auto timeout, WithContext(ParseDuration(a.remote.timeout), "--timeout"));
  TACHO_ASSIGN_OR_RETURN(auto http, a.remote.Http());
  return LookOptions{
      .command = a.command,
      .environment = a.environment,
      .engine_version = a.engine_version,
      .python = a.python,
      .http = std::move(http),
      .patience = ProbePatience(std::chrono::milliseconds(timeout.ns / 1'000'000)),
      .read_traces = [&a](const std::string& path,
                          const std::stop_token& stop) -> Result<Readout<RunAnalysis>> {
        ReadingArguments reading;
        reading.command = "doctor";
        reading.traces.paths = {path};
        reading.no_progress = a.no_progress;
        reading.traces.session = "all";
        TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(reading));
        TACHO_ASSIGN_OR_RETURN(const TraceChoice choice, ChoiceOf(reading));
        return ReadChosen(reading, choice, {}, classifier, stop);
      }};
}

Result<void> AskServers(const std::string& target, const LookOptions& looks,
                        const std::stop_token& stop, Examination& examination) {
  const SlowNotice notice(StillWaitingText(looks.patience), kPatienceWithoutWords);
  return ExamineTarget(target, looks, stop, examination);
}

// Examines a text file: a list of servers, the log of one engine, or the log of a launch with
// several servers.
Result<void> ExamineText(const std::string& path, const LookOptions& looks,
                         const std::stop_token& stop, Examination& examination) {
  const std::string text = BeginningOf(path, kMostList);
  const LaunchLog log = ReadLaunchLog(text);
  const bool is_list = log.empty() && ParseTargetList(text).has_value();
  if (is_list) return AskServers(path, looks, stop, examination);
  TACHO_RETURN_IF_ERROR(ExamineLog(path, "", looks.engine_version, stop, examination));
  if (log.routers.empty() && log.engines.size() < 2) return {};
  // It is no error if the servers of this log have ended since.
  if (auto asked = AskServers(path, looks, stop, examination); !asked) {
    if (asked.error().kind == ErrorKind::kInterrupted) return asked;
    AddUnseen(Look::kEngine, "the servers of " + path, asked.error(), examination);
  }
  return {};
}

Result<void> ExamineFile(const std::string& path, const LookOptions& looks,
                         const std::stop_token& stop, Examination& examination) {
  const ContentKind kind = KindOf(BeginningOf(path, kSniffBytes));
  if (kind == ContentKind::kNsysStream) {
    examination.looked.push_back({Look::kTrace, path});
    examination.Add(Finding{FindingId::kNsysNotImported, path,
                            "nsys has not made a report of it: its processes were killed, or its "
                            "importer was not found"});
    return {};
  }
  const bool text =
      kind == ContentKind::kText || kind == ContentKind::kOtherJson || kind == ContentKind::kOther;
  if (text) return ExamineText(path, looks, stop, examination);
  return ExamineTraces(path, looks, stop, examination);
}

// Examines a folder: a recording, a launch's folder with logs, or traces.
Result<void> ExamineFolder(const std::string& path, const LookOptions& looks,
                           const std::stop_token& stop, Examination& examination) {
  std::error_code failed;
  const auto has = [&](const char* name) { return fs::exists(path + "/" + name, failed); };
  if (has("run.json") || has("plan.json") || has("probes.json") || has("logs") ||
      has("traces/w0"))  // a recording makes this folder first
    return ExamineRun(path, looks, stop, examination);
  return ExamineTraces(path, looks, stop, examination);
}

Result<void> Examine(const std::string& subject, const LookOptions& looks,
                     const std::stop_token& stop, Examination& examination) {
  std::error_code failed;
  if (fs::is_directory(subject, failed)) return ExamineFolder(subject, looks, stop, examination);
  if (fs::is_regular_file(subject, failed)) return ExamineFile(subject, looks, stop, examination);
  // The subject is read more than once, which a pipe or a device does not allow.
  if (fs::exists(subject, failed))
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: it is not a file but a pipe or a device: save it to a file first",
                            VisibleText(subject)));
  // A mistyped path must not be taken for a host.
  if (subject.find("://") == std::string::npos &&
      (subject.starts_with('/') || subject.starts_with('.') || subject.ends_with(".log") ||
       subject.ends_with(".gz") || subject.ends_with(".json")))
    return FailAt(ErrorKind::kUnreadable, subject, "there is no such file");
  return AskServers(subject, looks, stop, examination);
}

Result<int> Run(const DoctorArguments& a) {
  if (!a.python.empty()) {
    if (!a.subjects.empty() && a.command.empty())
      return Fail(ErrorKind::kUsage, "--python is for a command line or for this host");
    // Checks only that the program exists: it may be vLLM's or SGLang's Python.
    if (const auto program = FindEngineProgram(EngineKind::kVllm, a.python, {}); !program)
      return tl::unexpected<Error>(program.error());
  }
  TACHO_ASSIGN_OR_RETURN(const LookOptions looks, LooksOf(a));
  InterruptScope interrupt("ending the look");
  Examination examination;
  std::vector<std::string> subjects;
  if (!a.command.empty()) {
    subjects.push_back(fmt::format("a command line of {} words", a.command.size()));
    TACHO_RETURN_IF_ERROR(ExamineCommandLine(looks, interrupt.token(), examination));
  }
  int status = kDone;
  for (const std::string& subject : a.subjects) {
    subjects.push_back(subject.find("://") == std::string::npos ? subject : ShownUrl(subject));
    const auto examined = Examine(subject, looks, interrupt.token(), examination);
    if (examined) {
      // A named file that could not be examined must not look clean.
      if (std::ranges::any_of(examination.looked, [&](const Looked& one) {
            return one.is_subject && one.at == subject && !one.cannot.empty();
          }))
        status = kUnreadableInput;
      continue;
    }
    // If one of several subjects fails, the findings about the others are still reported. If the
    // only subject fails, nothing but its error is reported.
    const bool is_alone = a.command.empty() && a.subjects.size() == 1;
    if (is_alone || examined.error().kind == ErrorKind::kUsage)
      return tl::unexpected<Error>(examined.error());
    std::error_code failed;
    AddUnseen(fs::exists(subject, failed) ? Look::kTrace : Look::kEngine, subjects.back(),
              examined.error(), examination);
    status = StatusOf(examined.error().kind);
  }
  if (a.command.empty() && a.subjects.empty()) {
    subjects.emplace_back("this host");
    ExamineHost(looks, interrupt.token(), examination);
    const std::vector<std::string> urls = UrlsHere();
    for (const std::string& url : urls) {
      const auto asked = AskServers(url, looks, interrupt.token(), examination);
      if (asked) continue;
      AddUnseen(Look::kEngine, url, asked.error(), examination);
      status = kRemoteFailed;
    }
    if (urls.empty())
      examination.looked.push_back({Look::kEngine, "the engines of this host",
                                    "none of yours is seen to listen: tacho doctor URL asks one",
                                    true});
  }
  if (interrupt.token().stop_requested()) return Fail(ErrorKind::kInterrupted, "interrupted");
  examination.SortBySeverity();
  const int printed =
      PrintDoctor(a.json ? DoctorJson(subjects, examination)
                         : DoctorText(subjects, examination,
                                      StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto)));
  if (printed != kDone) return printed;
  return examination.SpoilsARecording() ? kIncomplete : status;
}

}  // namespace

Result<int> RunDoctor(const std::vector<std::string>& arguments) {
  DoctorArguments a;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() && IsKnown(EngineOf(arguments)) &&
      std::ranges::any_of(arguments,
                          [](const std::string& word) { return word == "serve" || word == "-m"; }))
    return Fail(ErrorKind::kUsage,
                "put -- before the command line: tacho doctor -- vllm serve MODEL ...");
  TACHO_ASSIGN_OR_RETURN(
      const bool help,
      ParseArguments(DoctorSpec(a), std::vector<std::string>(arguments.begin(), dashes)));
  if (help) return PrintDoctor(HelpText(DoctorSpecs().front()));
  if (dashes != arguments.end()) a.command.assign(dashes + 1, arguments.end());
  if (dashes != arguments.end() && a.command.empty())
    return Fail(ErrorKind::kUsage, "no command line after --: tacho doctor -- vllm serve MODEL");
  for (const std::string& setting : a.environment)
    if (setting.find('=') == 0 || setting.find('=') == std::string::npos)
      return Fail(ErrorKind::kUsage,
                  fmt::format("--env {}: write it as NAME=VALUE", VisibleText(setting)));
  if (!a.engine_version.empty() && !IsVersion(a.engine_version))
    return Fail(ErrorKind::kUsage, fmt::format("--engine-version {}: write it like 0.32.0",
                                               VisibleText(a.engine_version)));
  if (!a.explain.empty()) return Explain(a.explain);
  if (!a.pages.empty()) return WritePages(a.pages);
  return Run(a);
}

std::vector<CommandSpec> DoctorSpecs() {
  DoctorArguments arguments;
  return {DoctorSpec(arguments)};
}

}  // namespace tacho
