#include "cli/view/view_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/monotonic_clock.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/options/choice_words.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/progress_bar.h"
#include "cli/screen/reading.h"
#include "cli/screen/terminal.h"
#include "cli/view/view_browser.h"
#include "cli/view/view_fetch.h"
#include "cli/view/view_options.h"
#include "report/documents/report_parts.h"
#include "serve/marks_file.h"
#include "serve/page_server.h"
#include "serve/view_api.h"
#include "serve/view_feed.h"
#include "serve/watched_files.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;

// How long to wait before the address is printed. Traces that cannot be read usually fail within
// this time; then only the error is printed.
constexpr milliseconds kFirstLook{100};
constexpr milliseconds kExportsEndWithin{10'000};
constexpr milliseconds kTick{200};
constexpr int64_t kLookAtFilesNs = 1'000'000'000;

bool IsWildcard(const std::string& host) {
  return host == "0.0.0.0" || host == "::" || host == "[::]";
}

// The host to print in the server's URL.
std::string HostInUrl(const std::string& host) {
  if (IsWildcard(host)) return MachineName();
  return host.find(':') != std::string::npos && !host.starts_with('[') ? "[" + host + "]" : host;
}

std::string TitleOf(const std::vector<std::string>& paths) {
  std::string title;
  for (const std::string& path : paths) title += (title.empty() ? "" : " ") + path;
  return title;
}

// Shows the progress of reading both on the pages and on the terminal.
class ProgressOfBoth : public RunProgress {
 public:
  ProgressOfBoth(ViewFeed& feed, const Surroundings& terminal, const std::stop_token& stop)
      : feed_(feed),
        bar_(StyleFor(terminal, ColorChoice::kAuto), LiveColumns(terminal).has_value(), stop) {}
  void OnPlan(size_t traces, uint64_t stored_bytes) override {
    feed_.OnPlan(traces, stored_bytes);
    bar_.OnPlan(traces, stored_bytes);
  }
  void OnBytes(uint64_t stored_bytes) override {
    feed_.OnBytes(stored_bytes);
    bar_.OnBytes(stored_bytes);
  }
  std::stop_token StopOfExports() override {
    feed_.OnExports(+1);
    return bar_.StopOfExports();
  }
  void OnExportBegin(const std::string& file, const std::string& program) override {
    bar_.OnExportBegin(file, program);
  }
  void OnExportShare(double share) override { bar_.OnExportShare(share); }
  void OnExportEnd() override {
    bar_.OnExportEnd();
    feed_.OnExports(-1);
  }

 private:
  ViewFeed& feed_;
  ProgressBar bar_;
};

Result<Readout<RunAnalysis>> ReadForView(ViewFeed& feed, const ViewPlan& plan,
                                         const Classifier& classifier, const Surroundings& terminal,
                                         const std::stop_token& stop) {
  ProgressOfBoth progress(feed, terminal, stop);
  const ReadOptions reading{
      .key_averages = true, .roofline = plan.roofline, .sources = {.asked = true}, .keeper = &feed};
  TACHO_ASSIGN_OR_RETURN(auto readout, ReadRun(plan.choice, reading, classifier, progress));
  TACHO_RETURN_IF_ERROR(WordWhatIsLeftOut(plan.choice, reading, readout));
  if (plan.of_nodes) AddWhatNodesLack(*plan.of_nodes, readout);
  return readout;
}

// The exit status for what was read. Says on standard error why the status is not 0, and which
// requested step or gap was not found.
int StatusOfReading(const ViewFeed& feed) {
  const Result<ViewFeed::Outcome>& outcome = feed.outcome();
  if (!outcome) return Fails({outcome.error().kind, VisibleText(outcome.error().message)});
  std::vector<std::string> messages;
  for (const Error& failure : outcome->failures)
    messages.push_back("incomplete: " + failure.message);
  for (const std::string& reason : IncompleteReasons(*outcome->run)) messages.push_back(reason);
  ComplainAll(messages);
  if (const auto& captures = outcome->run->captures; !captures.empty())
    Complain(VisibleText(CapturesText(captures)));
  SayBlanked(outcome->blanked);
  const auto start = feed.run()->start();
  if (start && !start->lacks.empty()) Complain(VisibleText(start->lacks));
  return messages.empty() ? kDone : kIncomplete;
}

// Prints the address, and opens it in a browser or says how to reach it.
Result<void> Announce(PageServer& server, const ViewOptions& options) {
  const std::string base = fmt::format("http://{}:{}/", HostInUrl(options.host), server.port());
  std::string text = base + "?token=" + server.access().token() + "\n";
  const std::optional<std::string> opener = OpenerFor(BrowserPlaceHere());
  if (!opener && IsLoopbackHost(options.host)) {
    text +=
        fmt::format("no display here: on your own machine run  {}  and open this address there\n",
                    TunnelCommand(MachineName(), server.port()));
  }
  text += "Ctrl-C ends it\n";
  TACHO_RETURN_IF_ERROR(WriteStdout(text));
  if (!IsLoopbackHost(options.host)) {
    Complain(
        fmt::format("--host {}: other machines can reach this port; the key in the address "
                    "keeps them out, but travels unencrypted",
                    options.host));
  }
  if (!opener || options.no_open) return {};
  // Other users of this machine can read command lines, so the browser gets a token that works only
  // once.
  TACHO_ASSIGN_OR_RETURN(const std::string token, server.access().OneTimeToken());
  const auto opened = OpenInBrowser(*opener, base + "?token=" + token);
  if (!opened) Complain(opened.error().message + "; open the address yourself");
  return {};
}

// Serves until a stop request, or until no page has been open for --idle-exit. Returns the exit
// status for what was read, or kInterrupted if reading had not ended.
int ServePages(ViewFeed& feed, ServedRun& run, PageServer& server, const ViewPlan& plan,
               const std::stop_token& stop) {
  WatchedFiles files(feed.files());
  std::optional<int> status;
  int64_t looked_ns = 0, used_ns = MonotonicNs();
  while (!stop.stop_requested()) {
    if (status) std::this_thread::sleep_for(kTick);
    if (!status && feed.WaitForEnd(kTick)) status = StatusOfReading(feed);
    const int64_t now = MonotonicNs();
    if (now - looked_ns >= kLookAtFilesNs) {
      looked_ns = now;
      for (const auto& [path, why] : files.Changes()) {
        Complain(path + " " + why + ": the page shows it as it was read");
        run.Gone(path, why);
      }
    }
    used_ns =
        run.events().listeners() > 0 || !status ? now : std::max(used_ns, server.last_request_ns());
    if (plan.idle_exit && now - used_ns >= plan.idle_exit->ns) break;
  }
  if (!status && feed.WaitForEnd(milliseconds(0))) status = StatusOfReading(feed);
  return status.value_or(kInterrupted);
}

// Starts the server once `feed` has found traces, and serves them. Returns the exit status.
Result<int> ServeRun(ViewFeed& feed, const ViewOptions& options, ViewPlan& plan,
                     const std::stop_token& stop) {
  while (!feed.WaitForRun(kTick)) {
    if (stop.stop_requested()) return kInterrupted;
  }
  if (!feed.run() || (feed.WaitForFirstLook(kFirstLook) && !feed.outcome()))
    return tl::unexpected<Error>(feed.outcome().error());
  if (options.host != "127.0.0.1") plan.server.allow_hosts.push_back(HostInUrl(options.host));
  MarksFile marks(MarksPathOf(options.model.ray ? options.fetch_to.value_or("")
                                                : options.traces.paths.front()));
  const ViewApi api(*feed.run(), marks);
  TACHO_ASSIGN_OR_RETURN(const auto server,
                         PageServer::Start(
                             plan.server,
                             [&api](std::string_view what, const ServerRequest& request) {
                               return api.Answer(what, request);
                             },
                             feed.run()->events()));
  TACHO_RETURN_IF_ERROR(Announce(*server, options));
  return ServePages(feed, *feed.run(), *server, plan, stop);
}

Result<int> View(const ViewOptions& options, ViewPlan plan) {
  TACHO_ASSIGN_OR_RETURN(const auto classifier, Classifier::Create());
  const InterruptScope interrupt(!options.model.ray ? "ending"
                                 : options.fetch_to ? "ending; traces that came are kept"
                                                    : "ending, and removing what was fetched");
  if (options.model.ray) {
    TACHO_RETURN_IF_ERROR(FetchForView(options, classifier, interrupt.token(), plan));
  }
  const Surroundings terminal = SurroundingsOf(STDERR_FILENO);
  ViewFeed feed({.version = std::string(TachoVersion()),
                 .title = TitleOf(options.traces.paths),
                 .command_paths = ComparePaths(options.OnNodes()),
                 .start = plan.start},
                classifier);
  std::thread reading(
      [&] { feed.Finish(ReadForView(feed, plan, classifier, terminal, interrupt.token())); });
  Result<int> status = ServeRun(feed, options, plan, interrupt.token());
  // Only programs that export an nsys report can be stopped; the reading of traces cannot.
  if (!feed.WaitForEnd(feed.exporting() ? kExportsEndWithin : milliseconds(0))) {
    if (LiveColumns(terminal)) DrawOnStderr("\r\x1b[K");
    plan.folder.reset();
    _exit(status ? *status : Fails(status.error()));
  }
  reading.join();
  return status;
}

}  // namespace

std::vector<CommandSpec> ViewSpecs() {
  ViewOptions options;
  return {ViewSpec(options)};
}

Result<int> RunView(const std::vector<std::string>& arguments) {
  ViewOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto parsed, ParseArguments(ViewSpec(options), arguments));
  if (parsed) {
    const auto written = WriteStdout(HelpText(ViewSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanView(options));
  return View(options, std::move(plan));
}

}  // namespace tacho
