#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/analyze_text.h"
#include "report/rank_text.h"
#include "report/result_tables.h"
#include "report/verdict.h"
#include "text/drawing.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostRanks = 32;  // lines of the table of ranks on the first screen

std::vector<std::string> HeaderParts(const RunAnalysis& run) {
  std::set<std::string> engines;
  int64_t events = 0, bytes = 0, json_bytes = 0;
  for (const TraceAnalysis& trace : run.traces) {
    engines.insert(EngineText(trace.facts));
    events += static_cast<int64_t>(trace.counts.total);
    bytes += static_cast<int64_t>(trace.bytes);
    json_bytes += static_cast<int64_t>(trace.json_bytes);
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
  parts.push_back(FormatCounted(static_cast<uint64_t>(events), "event"));
  parts.push_back(bytes == json_bytes ? FormatBytes(bytes)
                                      : fmt::format("{} ({} of JSON)", FormatBytes(bytes),
                                                    FormatBytes(json_bytes)));
  return parts;
}

std::vector<std::string> TrustParts(const RunAnalysis& run, const RunTotals& totals) {
  size_t incomplete = 0;
  uint64_t gpu_events = 0, linked = 0;
  for (const TraceAnalysis& trace : run.traces) {
    incomplete += trace.notes.lost_data() ? 1 : 0;
    gpu_events += trace.launches.gpu_events + trace.launches.without_correlation;
    linked += trace.launches.with_launch;
  }
  std::vector<std::string> parts;
  parts.push_back(incomplete == 0 ? "no event lost"
                                  : FormatCounted(incomplete, "trace") + " incomplete");
  if (!run.ranks.missing.empty()) {
    parts.push_back("missing: " + MissingRanksText(run.ranks));
  }
  if (gpu_events > 0) {
    parts.push_back(LinkedText(linked, gpu_events));
    parts.push_back(OverlapsText(totals.devices));
  }
  if (!totals.kernels.rows.empty()) {
    parts.push_back(fmt::format("{} % of {} time classified",
                                FormatPercent(totals.kernels.coverage), WorkWord(totals.devices)));
  }
  return parts;
}

std::string RanksPart(const RankTable& ranks, const TextStyle& style) {
  const Table table = RanksTable(ranks, style);
  std::string out = Section(table, kMostRanks, style);
  if (out.empty()) return out;
  TextStyle plain = style;
  plain.color = false;
  const bool drawn = RenderLines(table, plain).front().text.ends_with("  window");
  if (drawn)
    out += Painted(fmt::format(" {} compute  {} exposed communication  {} exposed copies  {} idle",
                               StackedMark(0, style), StackedMark(1, style), StackedMark(2, style),
                               StackedMark(3, style)),
                   Paint::kDim, style) +
           "\n";
  for (const std::string& warning : ranks.warnings) {
    out +=
        Painted(" " + Wrap(VisibleText(warning, style.unicode), style.width - 1, 3, style.unicode),
                Paint::kYellow, style) +
        "\n";
  }
  return out;
}

std::string StepsPart(const RunAnalysis& run, const ScreenOptions& options) {
  if (run.ranks.rows.empty()) return "";
  const RankRow& row = RankOfSteps(run.ranks);
  const StepTable steps = StepsOf(run, row);
  const std::string name = row.identity.RankName(), label = RankLabel(run.ranks, row);
  std::string out = Section(StepPhasesTable(steps, "STEPS, " + (name.empty() ? "one trace" : name)),
                            options.top, options.style);
  if (out.empty() || name == label) return out;
  const std::string of =
      fmt::format("the steps of {}{}", label, run.ranks.slowest ? ", which computes longest" : "");
  return out +
         Painted(" " + Wrap(of, options.style.width - 1, 1, options.style.unicode), Paint::kDim,
                 options.style) +
         "\n";
}

std::string NotesPart(const RunAnalysis& run, const TextStyle& style) {
  struct Gathered {
    Note note;
    size_t traces = 0;
  };
  std::map<NoteId, Gathered> notes;
  for (const TraceAnalysis& trace : run.traces) {
    for (const Note& note : trace.notes.list()) {
      Gathered& into = notes[note.id];
      if (into.traces++ == 0)
        into.note = Note{note.id, 0, trace.path + (note.where.empty() ? "" : ", ") + note.where};
      into.note.count += note.count;
    }
  }
  std::string out;
  for (const auto& [id, gathered] : notes) {
    out += NoteLines(gathered.note,
                     fmt::format("in {} of {} traces", gathered.traces, run.traces.size()), style);
  }
  out += OtherFilesText(run, style);
  return out.empty() ? "" : "\n" + Painted(" NOTES", Paint::kBold, style) + "\n" + out;
}

// What shows one trace alone: its rank where no other trace has it, else its file.
NextOption OneTrace(const RankTable& ranks, const ScreenOptions& options) {
  if (ranks.rows.empty()) return {};
  const RankRow& row = ranks.rows[ranks.slowest.value_or(0)];
  const auto same = std::ranges::count(ranks.rows, row.rank, &RankRow::rank);
  if (row.rank && same == 1) return {fmt::format("--rank {}", *row.rank), "one rank in full"};
  if (!options.is_file || !options.is_file(row.path) || VisibleText(row.path) != row.path)
    return {};
  return {"tacho analyze " + ShellWord(row.path), "one trace in full"};
}

std::string Next(const RankTable& ranks, const ScreenOptions& options) {
  if (options.command_paths.empty()) return "";
  std::vector<NextOption> more;
  const NextOption one = OneTrace(ranks, options);
  const bool is_option = one.option.starts_with("--");
  if (is_option) more.push_back(one);
  more.push_back({"--kernels", "all kernels of each trace"});
  more.push_back({"--json", "all figures, for programs"});
  std::string out = NextOptions("tacho analyze " + options.command_paths, more, options.style);
  if (!is_option && !one.option.empty()) {
    const bool fits = 9 + DisplayWidth(one.option) + one.shows.size() <= options.style.width;
    out += fmt::format("       {}{}\n", one.option,
                       fits ? "  " + Painted(one.shows, Paint::kDim, options.style) : "");
  }
  return out;
}

}  // namespace

std::string OtherFilesText(const RunAnalysis& run, const TextStyle& style) {
  std::string out;
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  for (const TraceAnalysis& trace : run.traces) {
    if (std::find(ranks.begin(), ranks.end(), &trace) != ranks.end()) continue;
    const char* what = trace.facts.role == TraceRole::kMerged
                           ? "several ranks merged into one file, left out of the figures above"
                           : "a front-end's trace, no device work";
    out += " " +
           Wrap(fmt::format("{}: {}, {}", VisibleText(trace.path, style.unicode), what,
                            FormatCounted(trace.counts.total, "event")),
                style.width - 1, 3, style.unicode) +
           "\n";
  }
  return out + SkippedText(run.skipped, style);
}

std::string SkippedText(const std::vector<std::string>& skipped, const TextStyle& style) {
  constexpr size_t kMost = 5;
  std::string out;
  const auto add = [&](const std::string& line) {
    const std::string text =
        Wrap(VisibleText(line, style.unicode), style.width - 1, 3, style.unicode);
    out += Painted(" " + text, Paint::kYellow, style) + "\n";
  };
  for (size_t i = 0; i < skipped.size() && i < kMost; ++i) add("skipped: " + skipped[i]);
  if (skipped.size() > kMost)
    add(fmt::format("and {} more; --json lists all", skipped.size() - kMost));
  return out;
}

std::string RunScreen(const RunAnalysis& run, const ScreenOptions& options) {
  const TextStyle& style = options.style;
  const RunTotals totals = TotalsOf(run);
  std::string out = LabelledParts("run", HeaderParts(run), Paint::kBold, style);
  const bool incomplete =
      !run.ranks.missing.empty() ||
      std::any_of(run.traces.begin(), run.traces.end(),
                  [](const TraceAnalysis& trace) { return trace.notes.lost_data(); });
  out += LabelledParts("trust", TrustParts(run, totals),
                       incomplete ? Paint::kYellow : Paint::kPlain, style);
  const std::string verdict = Verdict(run);
  out += VerdictLines(verdict, Caveat(run), style);
  out += RanksPart(run.ranks, style);
  out += StepsPart(run, options);
  out += WhereTimeGoes(totals.idle, totals.devices, WindowMeaning(run), style);
  std::vector<DurationNs> descending;
  for (const KernelRow& row : totals.kernels.rows) descending.push_back(row.stats.total);
  out += Section(KernelsTable(totals.kernels, totals.devices, style, TopWorkTitle(totals.devices)),
                 RowsWorthShowing(descending, totals.kernels.total, 3, options.top), style);
  out += Section(CopiesTable(totals.copies), options.top, style);
  out += NotesPart(run, style);
  const std::string next = Next(run.ranks, options);
  return out + (next.empty() ? "" : VerdictAgain(out, verdict, BriefVerdict(run), style)) + next;
}

}  // namespace tacho
