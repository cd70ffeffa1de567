#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/findings/findings.h"
#include "report/documents/analyze_document.h"
#include "report/documents/model_parts.h"
#include "report/documents/requests_document.h"
#include "report/tables/result_tables.h"
#include "report/words/caveat.h"
#include "report/words/integrity_words.h"
#include "report/words/rank_text.h"
#include "report/words/verdict.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

std::vector<std::string> HeaderParts(const RunAnalysis& run) {
  std::set<std::string> engines;
  uint64_t events = 0, bytes = 0, json_bytes = 0;
  for (const TraceAnalysis& trace : run.traces) {
    engines.insert(EngineText(trace.facts));
    events += trace.counts.total;
    if (!trace.first_of_file) continue;
    bytes += trace.bytes;
    json_bytes += trace.json_bytes;
  }
  const size_t workers = RanksOf(run).size();
  std::vector<std::string> parts = {FormatCounted(run.traces.size(), "trace")};
  if (workers < run.traces.size()) parts[0] += fmt::format(", {} of workers", workers);
  if (run.ranks.ranks_in_all > 0) {
    parts.push_back(
        fmt::format("{} of {}", FormatCount(run.ranks.ranks_with_trace),
                    FormatCounted(static_cast<uint64_t>(run.ranks.ranks_in_all), "rank")));
  }
  parts.insert(parts.end(), engines.begin(), engines.end());
  parts.push_back(FormatCounted(events, "event"));
  parts.push_back(SizeText(bytes, json_bytes));
  return parts;
}

bool AreWhole(const RunAnalysis& run) { return std::ranges::all_of(run.traces, IsWhole); }

std::vector<std::string> TrustParts(const RunAnalysis& run, const RunTotals& totals) {
  uint64_t gpu_events = 0, linked = 0;
  for (const TraceAnalysis& trace : run.traces) {
    gpu_events += trace.launches.gpu_events + trace.launches.without_correlation;
    linked += trace.launches.with_launch;
  }
  std::vector<std::string> parts = {LossInWords(run)};
  const auto off = std::ranges::count_if(run.traces, [](const TraceAnalysis& trace) {
    return trace.integrity.device_times() && !trace.integrity.common_clock();
  });
  if (off > 0)
    parts.push_back(fmt::format("in {} of {} traces host and device have no clock in common", off,
                                run.traces.size()));
  if (!run.ranks.missing.empty()) {
    parts.push_back("missing: " + MissingRanksText(run.ranks));
  }
  AddTrustParts(parts, linked, gpu_events, std::ranges::any_of(run.traces, LacksWork),
                totals.devices, totals.kernels);
  return parts;
}

void AddSteps(Document& document, const RunAnalysis& run, const ScreenOptions& options) {
  if (run.ranks.rows.empty()) return;
  const RankRow& row = RankOfSteps(run.ranks);
  const std::string name = row.identity.RankName(), label = RankLabel(run.ranks, row);
  Table table = StepPhasesTable(StepsOf(run, row), "phase");
  if (table.rows.empty()) return;
  document.AddPart(TitledTable{.table = std::move(table),
                               .title = name.empty() ? "Steps" : "Steps, " + name,
                               .screen_title = "STEPS, " + (name.empty() ? "one trace" : name),
                               .screen_rows = options.top});
  if (name != label)
    document.Add(Paragraph{fmt::format("the steps of {}{}", label,
                                       run.ranks.slowest ? ", which computes longest" : ""),
                           Paint::kDim});
}

// The model by the rank whose steps are shown: tensor-parallel ranks run the same layers.
void AddModelOfRanks(Document& document, const RunAnalysis& run) {
  if (run.ranks.rows.empty()) return;
  const RankRow& row = RankOfSteps(run.ranks);
  const auto trace = std::ranges::find(run.traces, row.path, &TraceAnalysis::path);
  if (trace == run.traces.end()) return;
  const std::string name = row.identity.RankName();
  AddModel(document, *trace, name.empty() ? "one trace" : name);
}

void AddNotes(Document& document, const RunAnalysis& run) {
  struct Gathered {
    Note note;
    size_t traces = 0;
  };
  std::map<NoteId, Gathered> notes;
  Notes all;
  for (const TraceAnalysis& trace : run.traces) {
    for (const Note& note : trace.notes.list()) {
      Gathered& into = notes[note.id];
      if (into.traces++ == 0)
        into.note = Note{note.id, 0, trace.path + (note.where.empty() ? "" : ", ") + note.where};
      into.note.count += note.count;
      all.Add(note.id, "", note.count);
    }
  }
  Document remarks;
  for (const auto& [id, gathered] : notes)
    remarks.Add(NoteRemark(gathered.note, all,
                           fmt::format("in {} of {} traces", gathered.traces, run.traces.size())));
  std::vector<const TraceHeader*> headers;
  for (const TraceAnalysis& trace : run.traces) headers.push_back(&trace.header);
  remarks.Append(ProducerLines(headers));
  remarks.Append(OtherFiles(run));
  if (remarks.blocks.empty()) return;
  document.AddPart(Heading{Heading::Level::kPart, "Notes"});
  document.Append(std::move(remarks));
}

// The option or command that shows one trace alone: by its rank if no other trace has that rank,
// else by its file. Empty if neither is possible.
NextCommand::Option OneTrace(const RunAnalysis& run, const ScreenOptions& options) {
  const RankTable& ranks = run.ranks;
  if (ranks.rows.empty()) return {};
  const RankRow& row = RankOfSteps(ranks);
  const auto same = std::ranges::count(ranks.rows, row.rank, &RankRow::rank);
  if (row.rank && same == 1) return {fmt::format("--rank {}", *row.rank), "one rank in full"};
  // The path in results that were read back may no longer exist, or not on this machine.
  const auto trace = std::ranges::find(run.traces, row.path, &TraceAnalysis::path);
  if (trace == run.traces.end() || !trace->results.empty()) return {};
  if (!options.is_file || !options.is_file(row.path) || VisibleText(row.path) != row.path)
    return {};
  return {"tacho analyze " + ShellWord(row.path), "one trace in full"};
}

NextCommand Next(const RunAnalysis& run, const ScreenOptions& options) {
  NextCommand next{"tacho analyze " + options.command_paths};
  if (NextCommand::Option one = OneTrace(run, options); !one.option.empty())
    (one.option.starts_with("--") ? next.options : next.others).push_back(std::move(one));
  next.options.push_back({"--kernels", "all kernels of each trace"});
  if (std::ranges::any_of(RanksOf(run), [](const TraceAnalysis* trace) {
        return std::ranges::any_of(trace->memory.devices,
                                   [](const DeviceMemory& of) { return of.peak.has_value(); });
      }))
    next.options.push_back({"--memory", "all that was alive at the peaks"});
  AddFindingCommand(next, FindingsOf(run), options);
  AddRequestCommands(next, run.requests);
  next.options.push_back({"--json", "all figures, for programs"});
  if (run.ranks.recordings > 1 && !options.compare_paths.empty())
    next.others.push_back(
        {"tacho compare " + options.compare_paths, "what changed from the first to the second"});
  AddPages(next, run.traces, options);
  return next;
}

void AddHeader(Document& document, const RunAnalysis& run, const RunTotals& totals) {
  const bool incomplete = !run.ranks.missing.empty() || !AreWhole(run);
  document.Add(Subject{"run", "", HeaderParts(run)});
  document.Add(
      Labelled{"trust", TrustParts(run, totals), incomplete ? Paint::kYellow : Paint::kPlain});
}

}  // namespace

Document RunDocument(const RunAnalysis& run, const ScreenOptions& options) {
  const RunTotals totals = TotalsOf(run);
  Document document;
  AddHeader(document, run, totals);
  const std::string verdict = Verdict(run);
  const std::string caveat = Caveat(run);
  AddVerdict(document, verdict, caveat);
  AddRanks(document, run, options.style);
  AddSteps(document, run, options);
  AddRequests(document, run.requests);
  AddWhereTimeGoes(document, totals.idle, totals.devices, WindowMeaning(run));
  AddModelOfRanks(document, run);
  AddTopKernels(document, totals.kernels, totals.devices, options);
  AddCopies(document, totals.copies, options);
  AddMemoryOfRanks(document, run, options.top);
  AddNotes(document, run);
  if (options.command_paths.empty()) return document;
  document.Add(SaidAgain{"VERDICT", verdict, BriefVerdict(run), caveat});
  document.AddPart(Next(run, options));
  return document;
}

std::string RanksText(const RunAnalysis& run, const ScreenOptions& options) {
  Document document;
  AddHeader(document, run, TotalsOf(run));
  AddRanks(document, run, options.style);
  return RenderText(std::move(document), options.style);
}

std::string AnalyzeText(const RunAnalysis& run, const ScreenOptions& options) {
  // For a single trace, the full report says more than a table with one row.
  const TraceAnalysis* only = OnlyTrace(run);
  if (only == nullptr) return RenderText(RunDocument(run, options), options.style);
  Document document = TraceDocument(*only, run.ranks, options, run.requests);
  Document others =
      run.traces.size() > 1 ? OtherFiles(run) : LeftOutFiles(run.skipped, run.captures);
  if (!others.blocks.empty()) document.Add(Gap{});
  document.Append(std::move(others));
  return RenderText(std::move(document), options.style);
}

}  // namespace tacho
