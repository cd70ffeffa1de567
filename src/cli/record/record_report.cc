#include "cli/record/record_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/record/record_ending.h"
#include "cli/record/recording_document.h"
#include "cli/report/report_command.h"
#include "cli/report/report_drawings.h"
#include "cli/screen/output.h"
#include "cli/screen/overhead_text.h"
#include "report/documents/analyze_document.h"
#include "report/json/brief_json.h"
#include "session/plan/worker_figures.h"
#include "session/proof/trace_evidence.h"
#include "session/run_folder/earlier_run.h"
#include "session/run_folder/load_requests.h"
#include "session/run_folder/run_json.h"

namespace tacho {
namespace {

// Reads the traces of the run folder once, for both the proof and the screen.
std::optional<Readout<RunAnalysis>> ReadTraces(const Recording& recording, Drawings& drawings) {
  // If nsys could not export its reports before, does not try again.
  if (recording.nsys && std::ranges::all_of(recording.workers, [](const RecordedWorker& worker) {
        return worker.expectation.files.empty();
      }))
    return std::nullopt;
  RunProgress silent;
  Result<Classifier> classifier = Classifier::Create();
  if (!classifier) return std::nullopt;
  DrawingKeeper keeper(*classifier);
  const RequestTable requests = RequestsOf(recording);
  Result<Readout<RunAnalysis>> readout =
      ReadRun({.paths = {recording.folder.In("traces")}},
              {.in_flight = InFlightOf(recording),
               .requests = &requests,
               .on_analysed = [&](const AnalysedTrace& read) { keeper.Draw(read); }},
              *classifier, silent);
  if (!readout) return std::nullopt;
  drawings = std::move(keeper).Choose(readout->run);
  return std::move(*readout);
}

// Writes report.html into the run folder. Returns false if it cannot be written; that does not make
// the recording fail.
bool WriteReport(const Recording& recording, const ProvenRecording& proven, Drawings drawings) {
  const std::string page = RenderPage(
      proven.readout->run, {recording.folder.path(), "", proven.json, std::move(drawings)});
  const Result<void> written = recording.folder.Write("report.html", page, kForOwner);
  if (!written) Complain(written.error().message);
  return written.has_value();
}

std::string InterruptText(const Recording& recording) {
  if (!recording.AnyStarted() && recording.overhead)
    return "interrupted in the windows of --overhead: the profilers were stopped, what was "
           "measured is in the folder";
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

void SayWhatNsysLacks(Recording& recording, const std::vector<TraceEvidence>& traces,
                      RecordObserver& observer) {
  if (traces.empty() ||
      std::ranges::any_of(traces, [](const TraceEvidence& t) { return t.gpu_events > 0; }))
    return;
  const bool steps = std::ranges::any_of(
      traces, [](const TraceEvidence& trace) { return trace.steps.value_or(0) > 0; });
  ReportFinding(recording, observer,
                {FindingId::kNsysNoGpu, "",
                 steps ? "the report holds no GPU work: only ranges (NVTX) and calls of the OS"
                       : "the report holds neither GPU work nor a range (NVTX) that names a step"});
}

int StatusOf(const Recording& recording, const Proof& proof) {
  if (recording.interrupted_ns) return kInterrupted;
  return proof.complete && !recording.HasTrouble() ? kDone : kIncomplete;
}

// The folder as the user would type it.
std::string Typed(const std::string& folder) {
  std::error_code ignored;
  std::string relative = std::filesystem::relative(folder, ignored).string();
  return relative.empty() || relative.starts_with("../..") ? folder : relative;
}

// A table with the figures of each scenario. "" if there is only one: the ending has its figures.
std::string ScenariosText(const ProvenRecording& proven, const TextStyle& style) {
  const std::optional<KeptRecording> kept = KeptRecordingOf(proven.json);
  const auto has_several = [](const std::optional<KeptWindow>& window) {
    return window && !window->scenarios.empty();
  };
  if (!kept || !(has_several(kept->baseline) || has_several(kept->profiled))) return "";
  Document document;
  document.Add(TitledTable{.table = LoadWindows(*kept), .title = "Load"});
  return RenderText(std::move(document), style);
}

}  // namespace

bool ProvenRecording::HasAnalysis(const Recording& recording) const {
  return readout && !readout->run.traces.empty() && !recording.GaveUp();
}

ProvenRecording ProveRecording(Recording& recording, const RecordOptions& options,
                               Narrator& narrator) {
  std::ranges::move(WriteRecording(recording, options), std::back_inserter(recording.findings));
  narrator.OnProgress("proof", "reading the traces");
  ProvenRecording proven;
  Drawings drawings;
  proven.readout = ReadTraces(recording, drawings);
  narrator.Clear();
  std::vector<TraceEvidence> evidence;
  if (proven.readout)
    for (const TraceAnalysis& trace : proven.readout->run.traces)
      evidence.push_back(EvidenceOf(trace));
  if (recording.nsys) SayWhatNsysLacks(recording, evidence, narrator);
  KeepRecorded(recording, evidence);
  proven.proof = Prove(recording.Expectations(), evidence);
  recording.EndProfiledWith(evidence, proven.proof);
  // Takes the numbers of ranks from the proof. The traces do not give them: some ranks have no
  // trace, and a trace may not name its rank.
  if (proven.readout) {
    RankTable& ranks = proven.readout->run.ranks;
    ranks.ranks_in_all = std::ssize(proven.proof.ranks);
    ranks.ranks_with_trace = std::ranges::count_if(
        proven.proof.ranks, [](const RankProof& rank) { return !rank.paths.empty(); });
  }
  proven.status = StatusOf(recording, proven.proof);
  const bool any = proven.HasAnalysis(recording);
  proven.json = RunJsonText(recording, options, proven.proof, TachoVersion(), proven.status,
                            any ? BriefJson(proven.readout->run) : "");
  recording.folder.FreeReserve();
  // If this fails, the results are still shown.
  const Result<void> kept = recording.folder.Write("run.json", proven.json, kForOwner);
  if (!kept) proven.status = Fails(kept.error());
  if (const auto own = any ? KeptRecordingOf(proven.json) : std::nullopt)
    proven.earlier = EarlierRun(recording.folder.path(), *own);
  if (any) proven.has_report = WriteReport(recording, proven, std::move(drawings));
  return proven;
}

std::string RecordScreen(const Recording& recording, const ProvenRecording& proven,
                         const TextStyle& style, std::string_view shown) {
  ScreenOptions screen;
  screen.style = style;
  screen.top = 10;
  std::string text;
  const auto add = [&](const std::string& part, std::string_view gap = "\n") {
    if (!part.empty() && shown.find(part) == std::string_view::npos) text.append(part).append(gap);
  };
  // These remarks come first, because they say what the figures below do not include.
  for (const Finding& remark : proven.proof.remarks)
    if (!remark.IsTrouble())
      add(RenderText(Labelled{"window", {remark.Text()}, Paint::kRed}, style), "");
  if (proven.HasAnalysis(recording))
    add(shown.empty() ? AnalyzeText(proven.readout->run, screen)
                      : RanksText(proven.readout->run, screen));
  add(ScenariosText(proven, style));
  if (recording.overhead && recording.load) add(OverheadText(*recording.overhead, style));
  const size_t before = text.size();
  add(DetailsText(recording, proven, style), "");
  add(WorkersText(recording, style), "");
  if (text.size() > before) text += "\n";
  return text + EndingText(recording, proven,
                           {.run = Typed(recording.folder.path()),
                            .earlier = proven.earlier.empty() ? "" : Typed(proven.earlier)},
                           style);
}

void ComplainOf(const Recording& recording) {
  if (recording.interrupted_ns) Complain(InterruptText(recording));
}

}  // namespace tacho
