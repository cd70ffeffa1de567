#include "cli/record_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/trace_evidence.h"
#include "report/analyze_text.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostWorkersShown = 8;

// The traces of the run folder, read once: for the proof and for the screen.
std::optional<Readout<RunAnalysis>> ReadTraces(const Recording& recording) {
  ReadOptions reading;
  reading.paths = {recording.folder.In("traces")};
  ProgressCounter counter;
  Result<Classifier> classifier = Classifier::Create();
  if (!classifier) return std::nullopt;
  Result<Readout<RunAnalysis>> readout = ReadRun(reading, *classifier, counter);
  if (!readout) return std::nullopt;
  return std::move(*readout);
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
  const ControlSpread& starts = recording.starts;
  if (starts.taken < starts.asked)
    text += fmt::format("{}{}", style.dot(), starts.Text("profiler"));
  else if (starts.ns)
    text += fmt::format("{}started{}", style.dot(), starts.Within());
  text += '\n';
  if (std::optional<Recording::Cost> cost = recording.CostOfProfiling())
    text += fmt::format(
        " cost     {:.0f} tokens/s without profiling, {:.0f} with it: {}\n",
        *recording.baseline.TokensPerSecond(), *recording.profiled.TokensPerSecond(),
        std::abs(cost->share) <= cost->error
            ? fmt::format("no difference beyond {:.0f} % of noise", 100 * cost->error)
        : cost->share < 0
            ? fmt::format("no cost seen: {:.1f} % faster with it, give or take {:.1f} %",
                          -100 * cost->share, 100 * cost->error)
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

// What w0, w1, ... of the ranks' table are.
std::string WorkersText(const Recording& recording, const TextStyle& style) {
  const size_t count = recording.workers.size();
  if (count < 2) return "";
  std::string words;
  for (size_t i = 0; i < std::min(count, kMostWorkersShown); ++i)
    words += fmt::format("{}{} {}", i == 0 ? "" : ", ", recording.workers[i].expectation.name,
                         recording.workers[i].worker.url);
  if (count > kMostWorkersShown)
    words += fmt::format(" and {} more (run.json)", count - kMostWorkersShown);
  return fmt::format(" workers  {}\n", Wrap(VisibleText(words), style.width - 10, 10));
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

}  // namespace

ProvenRecording ProveRecording(Recording& recording, const RecordOptions& options,
                               Narrator& narrator) {
  for (std::string& lost : WriteRecording(recording, options))
    recording.troubles.push_back(std::move(lost));
  narrator.OnProgress("proof", "reading the traces");
  ProvenRecording proven;
  proven.readout = ReadTraces(recording);
  narrator.Clear();
  std::vector<TraceEvidence> evidence;
  if (proven.readout)
    for (const TraceAnalysis& trace : proven.readout->run.traces)
      evidence.push_back(EvidenceOf(trace));
  if (options.profile.steps) recording.EndProfiledWith(evidence);
  proven.proof = Prove(recording.Expectations(), std::move(evidence));
  // The engines tell of ranks that no trace does.
  if (proven.readout) proven.readout->run.ranks.ranks_in_all = std::ssize(proven.proof.ranks);
  proven.status = StatusOf(recording, proven.proof);
  proven.json = RunJsonText(recording, options, proven.proof, TachoVersion(), proven.status);
  recording.folder.FreeReserve();
  // What is known is shown all the same.
  const Result<bool> kept = recording.folder.Write("run.json", proven.json, kForOwner);
  if (!kept) proven.status = Fails(kept.error());
  return proven;
}

std::string RecordScreen(const Recording& recording, const ProvenRecording& proven,
                         const TextStyle& style) {
  ScreenOptions screen;
  screen.style = style;
  screen.top = 10;
  std::error_code ignored;
  std::string shown = std::filesystem::relative(recording.folder.path(), ignored).string();
  if (shown.empty() || shown.starts_with("../..")) shown = recording.folder.path();
  screen.command_paths = ShellWord(shown + "/traces");
  std::string text;
  if (proven.readout && !proven.readout->run.traces.empty())
    text = AnalyzeText(proven.readout->run, screen) + "\n";
  text += ProofText(recording, proven.proof, style);
  text += WorkersText(recording, style);
  return text + fmt::format(" folder   {}\n", VisibleText(shown));
}

void ComplainOf(const Recording& recording) {
  if (recording.interrupted_ns) Complain(InterruptText(recording));
}

}  // namespace tacho
