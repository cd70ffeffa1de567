#include "serve/meta_json.h"

#include <algorithm>
#include <map>

#include "analysis/steps/step_times.h"
#include "report/answers/answers.h"
#include "report/device_totals.h"
#include "report/documents/analyze_document.h"
#include "report/words/caveat.h"
#include "report/words/integrity_words.h"
#include "report/words/verdict.h"
#include "serve/place_json.h"
#include "view/navigate.h"

namespace tacho {
namespace {

void WriteSpan(JsonWriter& json, Interval when) {
  json.Fields("from_ns", when.start, "to_ns", when.end);
}

void WritePalettes(JsonWriter& json, const Classifier& classifier) {
  json.BeginObject("palettes");
  for (const Palette palette : kAllPalettes) {
    size_t color = 0;
    json.Rows(PaletteKey(palette), ColorNames(palette),
              [&](std::string_view name) { json.Fields("name", name, "color", color++); });
  }
  json.End();
  json.BeginRow("categories");
  for (const std::string& category : classifier.categories())
    json.Field(category, static_cast<int>(ColorOfCategory(category)));
  json.End();
  json.BeginRow("blocks");
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    const auto block = static_cast<LayerBlock>(i);
    json.Field(LayerBlockId(block), static_cast<int>(ColorOfBlock(block)));
  }
  json.End();
}

// nullopt for -1: the step's name does not state the count.
std::optional<int64_t> Known(int64_t count) {
  return count < 0 ? std::nullopt : std::optional(count);
}

void WriteSteps(JsonWriter& json, const ReadRanks& ranks) {
  json.BeginArray("steps");
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i] || !ranks[i]->view().untold().all.empty()) continue;
    const std::vector<Step>& steps = ranks[i]->view().steps();
    const std::vector<Interval> times = StepTimes(steps);
    for (size_t k = 0; k < steps.size(); ++k) {
      const StepLabel& label = steps[k].label;
      const Interval when = ranks[i]->ToRun(steps[k].when);
      const auto context = Known(label.context_requests),
                 generation = Known(label.generation_requests);
      std::optional<int64_t> requests;
      if (context || generation) requests = context.value_or(0) + generation.value_or(0);
      json.BeginRow();
      json.Fields("rank", i, "number", k + 1, "phase", PhaseName(label.phase));
      WriteSpan(json, when);
      json.Field("until_ns", ranks[i]->ToRun(times[k].end));
      json.Fields("context_tokens", Known(label.context_tokens), "generation_tokens",
                  Known(label.generation_tokens), "requests", requests);
      json.End();
    }
  }
  json.End();
}

void WriteStart(JsonWriter& json, const ServedRun& run) {
  const auto start = run.start();
  if (!start) return;
  json.BeginRow("start");
  if (start->when) WriteSpan(json, *start->when);
  if (start->at) json.Fields("rank", start->at->rank, "row", start->at->row);
  json.Fields("q", UnlessEmpty(run.info().start.name), "lacks", UnlessEmpty(start->lacks));
  json.End();
}

void WriteClock(JsonWriter& json, const ViewedRun& view) {
  json.BeginRow("clock");
  json.Field("shared", view.clock().shared);
  if (const auto collectives = view.collectives()) {
    json.Rows("residuals", collectives->residuals, [&](const ClockResidual& residual) {
      json.Fields("rank", residual.rank, "against", residual.against, "ns", residual.ahead,
                  "spread_ns", residual.spread, "collectives", residual.collectives);
    });
    json.BeginRow("communication_kernels");
    json.Fields("count", collectives->kernels, "unmatched", collectives->unmatched);
    json.End();
  }
  json.End();
}

// Null if there is no analysis yet, or if the rank's trace is not in it.
const TraceAnalysis* AnalysisOf(const RankEntry& entry, const RunAnalysis* analysis) {
  if (analysis == nullptr) return nullptr;
  const auto trace = std::ranges::find(analysis->traces, entry.path, &TraceAnalysis::path);
  return trace != analysis->traces.end() ? &*trace : nullptr;
}

// Writes what cannot be told about a rank; before there is an analysis, only what its rows show.
void WriteUntold(JsonWriter& json, const RankRows& rows, const TraceAnalysis* analysis) {
  const UntoldFigures& untold = rows.untold();
  const bool no_idle = !untold.idle_time.empty();
  const bool is_least =
      untold.device_time.empty() && (analysis != nullptr ? BusyIsLeast(*analysis) : no_idle);
  const bool incomplete = analysis != nullptr && !IsWhole(*analysis);
  json.Fields("no_idle_time", UnlessEmpty(untold.idle_time), "no_device_time",
              UnlessEmpty(untold.device_time), "no_figures", UnlessEmpty(untold.all),
              "busy_is_least", UnlessIs(is_least, false), "incomplete",
              UnlessIs(incomplete, false));
}

void WriteAnswer(JsonWriter& json, const Answer& answer, const RunAnalysis& analysis,
                 const std::vector<RankEntry>& entries) {
  json.Fields("id", answer.id, "question", answer.question, "sentence",
              UnlessEmpty(answer.sentence), "figure", UnlessEmpty(answer.figure), "of",
              UnlessEmpty(answer.of), "cannot_tell", UnlessEmpty(answer.cannot_tell), "share",
              answer.share);
  if (!answer.at) return;
  const auto entry =
      std::ranges::find(entries, analysis.traces[answer.at->trace].path, &RankEntry::path);
  if (entry == entries.end() || !entry->rank) return;
  json.BeginRow("at");
  json.Field("rank", entry - entries.begin());
  WriteSpan(json, entry->rank->ToRun(answer.at->when));
  json.End();
}

// Writes the values for the bar and the tables of the first screen. They cover the same traces as
// the verdict, and are counted in the same way.
void WriteTotals(JsonWriter& json, const RunAnalysis& run) {
  const TraceAnalysis* only = OnlyTrace(run);
  const RunTotals all = only != nullptr ? RunTotals() : TotalsOf(run);
  const DeviceTotals devices = only != nullptr ? TotalsOf(only->devices) : all.devices;
  const IdleTable& idle = only != nullptr ? only->idle : all.idle;
  std::vector<CategoryRow> work = devices.kernels;
  for (const CategoryRow& row : {devices.copies, devices.memsets}) {
    if (row.count > 0) work.push_back(row);
  }
  std::ranges::stable_sort(
      work, [](const CategoryRow& a, const CategoryRow& b) { return a.total > b.total; });
  json.BeginRow("totals");
  json.Fields("devices", devices.devices, "window_ns", devices.window, "busy_ns", devices.busy,
              "compute_ns", devices.compute);
  if (devices.whole)
    json.Fields("idle_ns", devices.idle, "exposed_comm_ns", devices.exposed_comm, "exposed_copy_ns",
                devices.exposed_copy);
  json.Rows("causes", idle.causes, [&](const IdleCauseRow& row) {
    json.Fields("id", IdleCauseId(row.cause), "ns", row.total, "count", row.count);
  });
  json.Rows("work", work, [&](const CategoryRow& row) {
    json.Fields("id", row.category, "ns", row.total, "count", row.count);
  });
  json.End();
}

// The lines of the first screen after "trust", and the commands under its "next:".
struct ScreenParts {
  std::vector<std::string> trust, next;
};

ScreenParts PartsOf(const RunAnalysis& run, const std::string& command_paths) {
  ScreenOptions screen;
  screen.command_paths = command_paths;
  ScreenParts parts;
  const TraceAnalysis* only = OnlyTrace(run);
  const Document document =
      only != nullptr ? TraceDocument(*only, run.ranks, screen) : RunDocument(run, screen);
  for (const Document::Block& block : document.blocks) {
    if (const auto* labelled = std::get_if<Labelled>(&block.content);
        labelled != nullptr && labelled->label == "trust") {
      parts.trust = labelled->parts;
    }
    const auto* next = std::get_if<NextCommand>(&block.content);
    if (next == nullptr || command_paths.empty()) continue;
    for (const NextCommand::Option& option : next->options)
      parts.next.push_back(next->command + " " + option.option);
    for (const NextCommand::Option& other : next->others) parts.next.push_back(other.option);
  }
  return parts;
}

}  // namespace

void WriteReadJson(JsonWriter& json, const ServedRun& run) {
  size_t read = 0, failed = 0;
  const std::vector<RankEntry> entries = run.view().entries();
  for (const RankEntry& entry : entries) {
    read += entry.state == RankState::kRead ? 1 : 0;
    failed += entry.state == RankState::kFailed ? 1 : 0;
  }
  json.Fields("traces", entries.size(), "read", read, "failed", failed, "stored_bytes",
              run.info().stored_bytes, "read_bytes", run.read_bytes());
}

void WriteRankJson(JsonWriter& json, const RankEntry& entry, const TraceAnalysis* analysis) {
  json.Fields("path", entry.path, "label", entry.label, "state", RankStateName(entry.state), "why",
              UnlessEmpty(entry.why));
  if (!entry.rank) {
    json.Fields("names", 0, "slices", 0);
    json.List("rows", std::vector<int>());
    return;
  }
  const ViewedRank& rank = *entry.rank;
  json.BeginRow("span");
  WriteSpan(json, rank.span());
  json.End();
  json.Fields("offset_ns", rank.offset(), "names", rank.names().size(), "slices", rank.slices());
  WriteUntold(json, rank.view(), analysis);
  const Notes& notes = analysis != nullptr ? analysis->notes : rank.trace().notes;
  json.Rows("notes", notes.list(), [&](const Note& note) {
    const NoteKind& kind = KindOf(note.id);
    json.Fields("id", kind.id, "severity", SeverityName(kind.severity), "text", kind.text);
  });
  json.Rows("rows", rank.rows(), [&](const TimelineRow& row) {
    json.Fields("kind", RowKindName(row.kind), "owner", row.owner, "label", row.label, "palette",
                PaletteKey(row.palette), "lanes", row.lanes.size(), "slices", row.slices(), "lacks",
                UnlessEmpty(row.lacks), "group", RowGroupName(row.group));
  });
}

std::string MetaJson(const ServedRun& run) {
  // Get the analysis first: once it is there, all ranks are there too.
  const std::shared_ptr<const RunAnalysis> analysis = run.analysis();
  const std::vector<RankEntry> entries = run.view().entries();
  ReadRanks ranks;
  for (const RankEntry& entry : entries) ranks.push_back(entry.rank);
  JsonWriter json;
  json.BeginObject();
  json.BeginRow("tacho");
  json.Field("version", run.info().version);
  json.End();
  json.Field("title", run.info().title);
  WriteClock(json, run.view());
  json.BeginRow("span");
  WriteSpan(json, SpanOf(ranks));
  json.End();
  json.BeginRow("read");
  WriteReadJson(json, run);
  json.End();
  WritePalettes(json, run.classifier());
  json.BeginArray("ranks");
  for (const RankEntry& entry : entries) {
    json.BeginObject();
    WriteRankJson(json, entry, AnalysisOf(entry, analysis.get()));
    json.End();
  }
  json.End();
  WriteSteps(json, ranks);
  json.Rows("gaps", LongestRunGaps(ranks), [&](const RunGap& gap) {
    json.Fields("rank", gap.rank, "device", gap.gap->device);
    WriteSpan(json, gap.when);
    json.Field("cause", IdleCauseId(gap.gap->cause));
  });
  WriteStart(json, run);
  json.End();
  return std::move(json).Finish();
}

std::string SummaryJson(const ServedRun& run, const RunAnalysis& analysis) {
  const RunVerdict verdict = VerdictOf(analysis);
  const ScreenParts parts = PartsOf(analysis, run.info().command_paths);
  const std::vector<RankEntry> entries = run.view().entries();
  JsonWriter json;
  json.BeginObject();
  json.Fields("verdict", verdict.text, "brief", UnlessEmpty(verdict.brief), "caveat",
              UnlessEmpty(verdict.caveat));
  json.List("trust", parts.trust);
  WriteTotals(json, analysis);
  json.Rows("answers", Answers(analysis),
            [&](const Answer& answer) { WriteAnswer(json, answer, analysis, entries); });
  json.List("next", parts.next);
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
