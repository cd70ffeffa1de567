#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/analyze_text.h"
#include "report/drawing.h"
#include "report/format_number.h"
#include "report/result_tables.h"
#include "report/verdict.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostRanks = 32;  // lines of the table of ranks on the first screen

std::string HeaderLine(const RunAnalysis& run, const TextStyle& style) {
  std::set<std::string> engines;
  int64_t events = 0, bytes = 0, json_bytes = 0;
  size_t workers = 0;
  for (const TraceAnalysis& trace : run.traces) {
    if (const std::string engine = EngineText(trace.facts); !engine.empty()) engines.insert(engine);
    events += static_cast<int64_t>(trace.counts.total);
    bytes += static_cast<int64_t>(trace.bytes);
    json_bytes += static_cast<int64_t>(trace.json_bytes);
    workers += IsWorker(trace) ? 1 : 0;
  }
  std::string line = fmt::format("{} traces", run.traces.size());
  const auto add = [&](const std::string& part) { line += std::string(style.dot()) + part; };
  if (workers < run.traces.size()) line += fmt::format(", {} of workers", workers);
  if (run.ranks.world_size) {
    add(fmt::format("{} of {} ranks", run.ranks.present.size(), *run.ranks.world_size));
  }
  for (const std::string& engine : engines) add(engine);
  add(FormatCount(events) + " events");
  add(bytes == json_bytes ? FormatBytes(bytes)
                          : fmt::format("{} ({} of JSON)", FormatBytes(bytes), FormatBytes(json_bytes)));
  return line;
}

std::string Numbers(const std::vector<int64_t>& numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }

std::string TrustLine(const RunAnalysis& run, const RunTotals& totals, const TextStyle& style) {
  size_t incomplete = 0;
  uint64_t gpu_events = 0, linked = 0;
  for (const TraceAnalysis& trace : run.traces) {
    incomplete += trace.notes.lost_data() ? 1 : 0;
    gpu_events += trace.launches.gpu_events;
    linked += trace.launches.with_launch;
  }
  std::string line = incomplete == 0 ? "no event lost" : fmt::format("{} traces incomplete", incomplete);
  const auto add = [&](const std::string& part) { line += std::string(style.dot()) + part; };
  if (!run.ranks.missing.empty()) add("missing: rank " + Numbers(run.ranks.missing));
  if (gpu_events > 0) {
    add(fmt::format("{} % of GPU work linked to its launch",
                    FormatPercent(static_cast<double>(linked) / static_cast<double>(gpu_events))));
    add(fmt::format("{} overlaps kept", FormatCount(static_cast<int64_t>(totals.devices.overlaps))));
  }
  if (!totals.kernels.rows.empty()) {
    add(fmt::format("{} % of {} time classified", FormatPercent(totals.kernels.coverage),
                    totals.devices.on_host ? "operator" : "kernel"));
  }
  return line;
}

std::string RanksPart(const RankTable& ranks, const TextStyle& style) {
  RankTable shown = ranks;
  std::vector<std::string> paths;
  for (const RankRow& row : shown.rows) paths.push_back(row.path);
  if (!style.whole_names) paths = ShortPaths(paths);
  for (size_t i = 0; i < shown.rows.size(); ++i) shown.rows[i].path = paths[i];
  std::string out = Section(RanksTable(shown, style), kMostRanks, style);
  if (out.empty()) return out;
  out += Painted(fmt::format(" {} compute  {} exposed communication  {} exposed copies  {} idle",
                             StackedMark(0, style), StackedMark(1, style), StackedMark(2, style),
                             StackedMark(3, style)),
                 Paint::kDim, style) +
         "\n";
  for (const std::string& warning : ranks.warnings) {
    out += Painted(" " + Wrap(VisibleText(warning, style.unicode), style.width - 1, 3), Paint::kYellow,
                   style) +
           "\n";
  }
  return out;
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
      if (into.traces++ == 0) into.note = Note{note.id, 0, trace.path + (note.where.empty() ? "" : ", ") + note.where};
      into.note.count += note.count;
    }
  }
  std::string out;
  for (const auto& [id, gathered] : notes) {
    out += NoteLines(gathered.note, fmt::format("in {} of {} traces", gathered.traces, run.traces.size()),
                     style);
  }
  out += OtherFilesText(run, style);
  return out.empty() ? "" : "\n" + Painted(" NOTES", Paint::kBold, style) + "\n" + out;
}

}  // namespace

std::string OtherFilesText(const RunAnalysis& run, const TextStyle& style) {
  std::string out;
  for (const TraceAnalysis& trace : run.traces) {
    if (IsWorker(trace)) continue;
    out += " " +
           Wrap(fmt::format("{}: a front-end's trace, {} events, no device work",
                            VisibleText(trace.path, style.unicode),
                            FormatCount(static_cast<int64_t>(trace.counts.total))),
                style.width - 1, 3) +
           "\n";
  }
  for (const std::string& skipped : run.skipped) {
    out += Painted(" " + Wrap("skipped: " + VisibleText(skipped, style.unicode), style.width - 1, 3),
                   Paint::kYellow, style) +
           "\n";
  }
  return out;
}

std::string RunScreen(const RunAnalysis& run, const ScreenOptions& options) {
  const TextStyle& style = options.style;
  const RunTotals totals = TotalsOf(run);
  std::string out = Labelled("run", HeaderLine(run, style), Paint::kBold, style);
  const bool incomplete = !run.ranks.missing.empty() ||
                          std::any_of(run.traces.begin(), run.traces.end(), [](const TraceAnalysis& trace) {
                            return trace.notes.lost_data();
                          });
  out += Labelled("trust", TrustLine(run, totals, style), incomplete ? Paint::kYellow : Paint::kPlain, style);
  out += "\n" + Labelled("VERDICT", Verdict(run), Paint::kBold, style);
  out += RanksPart(run.ranks, style);
  out += WhereTimeGoes(totals.kernels, totals.copies, totals.idle, totals.devices, options);
  std::vector<DurationNs> descending;
  for (const KernelRow& row : totals.kernels.rows) descending.push_back(row.stats.total);
  out += Section(KernelsTable(totals.kernels, totals.devices, style,
                              totals.devices.on_host ? "TOP LEAF OPERATORS" : "TOP KERNELS"),
                 RowsWorthShowing(descending, totals.kernels.total, 3, options.top), style);
  out += Section(CopiesTable(totals.copies), options.top, style);
  out += NotesPart(run, style);
  if (options.command_paths.empty()) return out;
  const std::string base = "tacho analyze " + options.command_paths;
  std::vector<NextCommand> commands;
  if (!run.ranks.present.empty()) {
    const int64_t rank = run.ranks.slowest && run.ranks.rows[*run.ranks.slowest].rank
                             ? *run.ranks.rows[*run.ranks.slowest].rank
                             : run.ranks.present.front();
    commands.push_back({fmt::format("{} --rank {}", base, rank), "one rank in full"});
  }
  commands.push_back({base + " --kernels", "all kernels of each trace"});
  commands.push_back({base + " --json", "all figures for programs"});
  return out + NextCommands(commands, style);
}

}  // namespace tacho
