#include "cli/record_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/load_run.h"
#include "cli/output.h"
#include "cli/record_options.h"
#include "cli/terminal.h"
#include "cli/trace_evidence.h"
#include "report/analyze_text.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

// Phases on standard error: one plain line each when done, and on a terminal a line that changes
// meanwhile.
class Narrator final : public RecordObserver {
 public:
  Narrator(bool live, bool quiet, size_t width) : live_(live), quiet_(quiet), width_(width) {}
  ~Narrator() override { InterruptScope::SetLastWords(nullptr); }

  void OnDone(std::string_view phase, const std::string& what) override {
    if (!quiet_) Line(fmt::format("  {} {}\n", PadRight(phase, 10), VisibleText(what)));
  }
  void OnProgress(std::string_view phase, const std::string& what) override {
    if (!live_ || quiet_) return;
    std::string text = Wiped();
    open_lines_ = 0;
    std::istringstream lines(fmt::format("  {} {}", PadRight(phase, 10), what));
    for (std::string line; std::getline(lines, line); ++open_lines_)
      text += (open_lines_ > 0 ? "\n" : "") + FitText(VisibleText(line), width_);
    Put(text);
  }
  void OnRemark(const std::string& what) override {
    Line(fmt::format("  {} {}\n", PadRight("note", 10), VisibleText(what)));
  }
  void Clear() { Line(""); }
  void OnLeftBehind(const std::string& what) override {
    InterruptScope::SetLastWords(nullptr);
    words_ = "\n";
    std::istringstream lines(what);
    for (std::string line; std::getline(lines, line);) words_ += VisibleText(line) + "\n";
    if (!what.empty()) InterruptScope::SetLastWords(words_.c_str());
  }

 private:
  void Line(const std::string& text) {
    Put(Wiped() + text);
    open_lines_ = 0;
  }
  // Takes the changing lines away again.
  std::string Wiped() const {
    if (open_lines_ == 0) return "";
    std::string text = "\r\x1b[K";
    for (size_t i = 1; i < open_lines_; ++i) text += "\x1b[1A\x1b[K";
    return text;
  }
  static void Put(const std::string& text) {
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }

  const bool live_, quiet_;
  const size_t width_;
  size_t open_lines_ = 0;  // lines that change, the last without its end
  std::string words_;
};

// The traces of the run folder, read once: for the proof and for the screen.
std::optional<Loaded<RunAnalysis>> ReadTraces(const Recording& recording) {
  LoadOptions load;
  load.paths = {recording.folder.In("traces")};
  ProgressCounter counter;
  Result<Classifier> classifier = Classifier::Create();
  if (!classifier) return std::nullopt;
  Result<Loaded<RunAnalysis>> loaded = LoadRun(load, *classifier, counter);
  if (!loaded) return std::nullopt;
  return std::move(*loaded);
}

std::string ProofText(const Recording& recording, const Proof& proof, const TextStyle& style) {
  size_t proven = 0;
  uint64_t least = UINT64_MAX, most = 0;
  for (const RankProof& rank : proof.ranks) {
    proven += rank.proven;
    if (!rank.steps) continue;
    least = std::min(least, *rank.steps);
    most = std::max(most, *rank.steps);
  }
  std::string text = fmt::format(" proof    {} of {} ranks proven", proven, proof.ranks.size());
  if (most > 0)
    text +=
        fmt::format("{}{} engine steps each", style.dot(),
                    least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
  // By the daemon all begin at one time that was told them: there is nothing to measure here.
  if (recording.via != Via::kDaemon && recording.AnyStarted())
    text += fmt::format("{}started within {:.2f} ms", style.dot(),
                        static_cast<double>(recording.start_spread_ns) / 1e6);
  text += '\n';
  if (std::optional<Recording::Cost> cost = recording.CostOfProfiling())
    text +=
        fmt::format(" cost     {:.0f} tokens/s without profiling, {:.0f} with it: {}\n",
                    *recording.baseline.TokensPerSecond(), *recording.profiled.TokensPerSecond(),
                    std::abs(cost->share) <= cost->error
                        ? fmt::format("no difference beyond {:.0f} % of noise", 100 * cost->error)
                        : fmt::format("{:+.1f} %, give or take {:.1f} %", -100 * cost->share,
                                      100 * cost->error));
  const auto line = [&](std::string_view head, const std::string& what, Paint paint) {
    text += Painted(fmt::format(" {}{}", PadRight(head, 9),
                                Wrap(VisibleText(what), style.width - 10, 10)),
                    paint, style) +
            "\n";
  };
  const std::vector<std::string> all_missing = proof.Missing();
  for (const std::string& missing : all_missing) line("missing", missing, Paint::kRed);
  // A rank that is missing for it has named it already.
  for (const std::string& trouble : recording.troubles)
    if (std::none_of(all_missing.begin(), all_missing.end(), [&](const std::string& missing) {
          return missing.ends_with(trouble.substr(trouble.find(": ") + 1));
        }))
      line("trouble", trouble, Paint::kRed);
  for (const std::string& remark : proof.remarks) line("note", remark, Paint::kPlain);
  return text;
}

std::string InterruptText(const Recording& recording) {
  if (!recording.AnyStarted()) return "interrupted before the profilers were started";
  if (recording.daemon)
    return "interrupted: the window went on to its end, which Kineto's daemon cannot move; what "
           "came "
           "is in the folder";
  const bool stopped =
      std::all_of(recording.workers.begin(), recording.workers.end(), [](const RecordedWorker& w) {
        return !w.stopped || w.stopped->verdict == ControlVerdict::kDone ||
               w.stopped->verdict == ControlVerdict::kWasSo;
      });
  return stopped ? "interrupted: the profilers were stopped, what there was is in the folder"
                 : "interrupted: not every profiler could be stopped; what there was is in the "
                   "folder";
}

int StatusOf(const Recording& recording, const Proof& proof) {
  if (recording.interrupted_ns) return kInterrupted;
  bool complete = proof.complete && recording.troubles.empty();
  return complete ? kDone : kIncomplete;
}

int Report(const RecordArguments& arguments, const RecordOptions& options, Recording& recording,
           Narrator& narrator) {
  for (std::string& lost : WriteRecording(recording, options))
    recording.troubles.push_back(std::move(lost));
  narrator.OnProgress("proof", "reading the traces");
  std::optional<Loaded<RunAnalysis>> loaded = ReadTraces(recording);
  narrator.Clear();
  std::vector<TraceEvidence> evidence;
  if (loaded)
    for (const TraceAnalysis& trace : loaded->run.traces) evidence.push_back(EvidenceOf(trace));
  Proof proof = Prove(recording.Expectations(), std::move(evidence));
  int status = StatusOf(recording, proof);
  std::string text = RunJsonText(recording, options, proof, TachoVersion(), status);
  recording.folder.FreeReserve();
  // What is known is shown all the same.
  const Result<bool> kept = recording.folder.Write("run.json", text);
  if (!kept) status = Fails(kept.error());
  if (!arguments.json) {
    text.clear();
    ScreenOptions screen;
    screen.style = StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto);
    screen.top = 10;
    std::error_code ignored;
    std::string shown = std::filesystem::relative(recording.folder.path(), ignored).string();
    if (shown.empty() || shown.starts_with("../..")) shown = recording.folder.path();
    screen.command_paths = ShellWord(shown + "/traces");
    if (loaded && !loaded->run.traces.empty()) text = AnalyzeText(loaded->run, screen) + "\n";
    text += ProofText(recording, proof, screen.style);
    text += fmt::format(" folder   {}\n", VisibleText(shown));
  }
  if (auto written = WriteStdout(text); !written) return Fails(written.error());
  if (recording.interrupted_ns) Complain(InterruptText(recording));
  return status;
}

}  // namespace

int RunRecord(const std::vector<std::string>& arguments) {
  RecordArguments own;
  auto parsed = ParseArguments(RecordSpec(own), arguments);
  if (!parsed) return Fails(parsed.error());
  if (*parsed) {
    auto written = WriteStdout(RecordHelp());
    return written ? kDone : Fails(written.error());
  }
  Result<RecordOptions> options = RecordOptionsOf(own);
  if (!options) return Fails(options.error());
  options->command = arguments;
  HttpClientOptions http;
  http.bearer_key = options->api_key;
  http.verify_tls = !own.remote.insecure;
  http.ca_file = own.remote.ca_file;
  auto client = HttpClient::Create(http);
  if (!client) return Fails(client.error());

  InterruptScope interrupt;
  const Surroundings errors = SurroundingsOf(STDERR_FILENO);
  Narrator narrator(errors.is_tty && errors.term != "dumb", own.quiet,
                    errors.columns > 20 ? errors.columns - 1 : 96);
  Result<Recording> recording = Record(**client, *options, narrator, interrupt.token());
  if (!recording) return Fails(recording.error());
  return Report(own, *options, *recording, narrator);
}

std::string RecordHelp() {
  RecordArguments arguments;
  return HelpText(RecordSpec(arguments));
}

}  // namespace tacho
