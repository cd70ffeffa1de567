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
  if (recording.via != Via::kDaemon)
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
  for (const std::string& missing : proof.Missing())
    text += Painted(" missing  " + Wrap(VisibleText(missing), style.width - 10, 10), Paint::kRed,
                    style) +
            "\n";
  return text;
}

int StatusOf(const Recording& recording, const Proof& proof) {
  if (recording.interrupted) return kInterrupted;
  bool complete = proof.complete && recording.troubles.empty();
  return complete ? kDone : kIncomplete;
}

}  // namespace

Result<ProvenRecording> ProveRecording(const Recording& recording, const RecordOptions& options,
                                       Narrator& narrator) {
  TACHO_RETURN_IF_ERROR(WriteRecording(recording, options));
  narrator.OnProgress("proof", "reading the traces");
  ProvenRecording proven;
  proven.loaded = ReadTraces(recording);
  narrator.Clear();
  std::vector<TraceEvidence> evidence;
  std::vector<WorkerExpectation> expectations;
  if (proven.loaded)
    for (const TraceAnalysis& trace : proven.loaded->run.traces)
      evidence.push_back(EvidenceOf(trace));
  for (const RecordedWorker& worker : recording.workers) expectations.push_back(worker.expectation);
  proven.proof = Prove(expectations, std::move(evidence));
  proven.status = StatusOf(recording, proven.proof);
  TACHO_RETURN_IF_ERROR(
      WriteRunJson(recording, options, proven.proof, TachoVersion(), proven.status));
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
  if (proven.loaded && !proven.loaded->run.traces.empty())
    text = AnalyzeText(proven.loaded->run, screen) + "\n";
  text += ProofText(recording, proven.proof, style);
  return text + fmt::format(" folder   {}\n", VisibleText(shown));
}

void ComplainOf(const Recording& recording, const ProvenRecording& proven) {
  for (const std::string& trouble : recording.troubles) Complain(VisibleText(trouble));
  for (const std::string& remark : proven.proof.remarks) Complain(VisibleText(remark));
  if (!recording.interrupted) return;
  const bool started =
      std::any_of(recording.workers.begin(), recording.workers.end(),
                  [](const RecordedWorker& w) { return w.expectation.start_unix_ns != 0; });
  Complain(started ? "interrupted: the profilers were stopped, what there was is in the folder"
                   : "interrupted before the profilers were started");
}

}  // namespace tacho
