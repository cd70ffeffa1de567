#include "report/documents/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <variant>

#include "model/producer_line.h"
#include "report/tables/result_tables.h"
#include "report/words/caveat.h"
#include "report/words/expert_words.h"
#include "report/words/finding_words.h"
#include "report/words/idle_words.h"
#include "report/words/rank_text.h"
#include "text/fit_name.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostCategories = 12;
// With more than kMostRanks ranks, the screen shows only ranks that differ from the others, at most
// kMostRanksApart of them.
constexpr size_t kMostRanks = 16, kMostRanksApart = 20, kMostRanksInMarkdown = 64;
constexpr size_t kMostSkipped = 5;
constexpr DurationNs kShortGap{1'000};

std::string CompositionText(const DeviceTotals& totals, std::string_view meaning) {
  std::string parts;
  const auto add = [&](std::string_view what, DurationNs time) {
    if (time.ns == 0) return;
    parts +=
        fmt::format("{}{} {}", parts.empty() ? "" : " + ", what, FormatShare(time, totals.window));
  };
  add("compute", totals.compute);
  add("exposed communication", totals.exposed_comm);
  add("exposed copies", totals.exposed_copy);
  add("idle", totals.idle);
  if (!totals.whole) {
    add(kCommAndCopies, totals.busy - totals.compute);
    add(kIdleOrUnrecorded, totals.window - totals.busy);
  }
  return fmt::format("{} = window of {}{} ({})", parts, FormatDuration(totals.window),
                     totals.devices > 1 ? fmt::format(" over {} devices", totals.devices) : "",
                     meaning);
}

}  // namespace

std::string WindowMeaning(const TraceAnalysis& trace) {
  if (trace.scope.window) return "as --window asks";
  return "first to last work";
}

std::string WindowMeaning(const RunAnalysis& run) {
  return !run.traces.empty() && run.traces[0].scope.window ? "as --window asks"
                                                           : "each from first to last work";
}

bool IsPart(const TraceAnalysis& trace) {
  return trace.scope.window || !trace.scope.device.empty();
}

void AddVerdict(Document& document, std::string verdict, std::string caveat) {
  document.AddPart(Labelled{"VERDICT", {std::move(verdict)}, Paint::kBold});
  document.Add(Labelled{"caveat", {std::move(caveat)}, Paint::kYellow});
}

void AddWhereTimeGoes(Document& document, const IdleTable& idle, const DeviceTotals& totals,
                      std::string_view meaning) {
  if (totals.window.ns == 0) return;
  std::vector<DurationNs> descending;
  DurationNs kernels;
  for (const CategoryRow& row : totals.kernels) {
    descending.push_back(row.total);
    kernels += row.total;
  }
  document.AddPart(
      TablePair{{.table = WindowTable(totals, "part"),
                 .title = "Where the time goes",
                 .screen_title = totals.on_host ? "" : "WHERE DEVICE TIME GOES",
                 .screen_rows = RowsWorthShowing(descending, kernels, 3, kMostCategories)},
                {.table = IdleCausesTable(idle, "cause"),
                 .title = "Idle by cause",
                 .markdown_rows = SIZE_MAX},
                CompositionText(totals, meaning)});
  AddIdleLegend(document, idle);
}

void AddIdleLegend(Document& document, const IdleTable& idle) {
  for (const IdleCauseRow& row : idle.causes)
    document.AddForScreen(Paragraph{fmt::format("{} {}", PadRight(IdleCauseId(row.cause), 15),
                                                MeaningOf(row.cause, idle.requests)),
                                    Paint::kDim, 17});
}

void AddTopKernels(Document& document, const KernelTable& kernels, const DeviceTotals& totals,
                   const ScreenOptions& options) {
  std::vector<DurationNs> descending;
  for (const KernelRow& row : kernels.rows) descending.push_back(row.stats.total);
  document.AddPart(
      TitledTable{.table = KernelsTable(kernels, totals, options.style, "name"),
                  .title = fmt::format("Top {}", WorkWords(totals)),
                  .screen_rows = RowsWorthShowing(descending, kernels.total, 3, options.top)});
}

void AddCopies(Document& document, const CopyTable& copies, const ScreenOptions& options) {
  document.AddPart(TitledTable{
      .table = CopiesTable(copies, "kind"), .title = "Copies", .screen_rows = options.top});
}

namespace {

// Moves the ranks that differ to the top, and adds a column that says in what.
void PutApartFirst(const RanksApart& apart, Table& table) {
  std::vector<TableRow> rows;
  std::vector<uint8_t> is_apart(table.rows.size());
  table.columns.push_back(TableColumn{"", "differs in"}.ScreenOnly());
  for (const RanksApart::Apart& each : apart.apart) {
    is_apart[each.row] = 1;
    rows.push_back(table.rows[each.row]);
    rows.back().cells.emplace_back(ApartText(each));
  }
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (is_apart[i] != 0) continue;
    rows.push_back(std::move(table.rows[i]));
    rows.back().cells.emplace_back();
  }
  table.rows = std::move(rows);
}

// Adds whom the ranks waited for, longest first, if the waits are at least kLeastShare of the
// window.
void AddRankBlame(Document& document, const RunAnalysis& run) {
  constexpr size_t kMostShown = 8;
  constexpr double kLeastShare = 0.02;
  const RankBlame& blame = run.ranks.blame;
  DurationNs windows;
  for (const RankRow& row : run.ranks.rows) windows += row.window;
  if (windows.ns <= 0 || ShareOf(blame.waits, windows) < kLeastShare) return;
  const std::vector<Straggler> stragglers = FindStragglers(run.ranks);
  if (blame.table.size() > kMostShown && std::ranges::none_of(stragglers, [](const Straggler& of) {
        return of.sign == Straggler::Sign::kCausesWaiting;
      })) {
    document.Add(Paragraph{
        fmt::format("ranks wait for each other in collectives for {} of the window; none of them "
                    "stands out",
                    FormatShare(blame.waits, windows)),
        Paint::kPlain, 3});
    return;
  }
  Table table = RankBlameTable(run.ranks, "waiting");
  const auto caused = static_cast<size_t>(
      std::ranges::find(table.columns, "caused_ns", &TableColumn::key) - table.columns.begin());
  std::ranges::stable_sort(table.rows, std::greater(), [&](const TableRow& row) {
    return std::get<int64_t>(row.cells[caused]);
  });
  document.AddPart(TitledTable{.table = std::move(table),
                               .title = "Waiting",
                               .screen_rows = kMostShown,
                               .markdown_rows = kMostShown,
                               .cut = true});
}

// Adds what uneven experts cost, and the table of collectives by size if it is short.
void AddExpertsAndSizes(Document& document, const RankTable& ranks) {
  constexpr size_t kMostSizes = 6;
  std::string experts = ExpertsText(ranks);
  if (!experts.empty()) document.Add(Paragraph{std::move(experts), Paint::kPlain, 3});
  const size_t sizes = ranks.blame.sizes.size();
  if (sizes == 0 || sizes > kMostSizes) return;
  document.AddPart(TitledTable{.table = CollectiveSizesTable(ranks.blame, "transfer"),
                               .title = "Transfer",
                               .screen_rows = kMostSizes});
}

}  // namespace

void AddRanks(Document& document, const RunAnalysis& run, const TextStyle& style) {
  if (run.ranks.rows.empty()) return;
  Table table = RanksTable(run.ranks, style, "rank");
  if (BusyIsLeast(run)) SayBusyIsLeast(table);
  std::ranges::find(table.columns, Unit::kStacked, &TableColumn::unit)->marks = {
      "compute", "exposed communication", "exposed copies", "idle"};
  TitledTable part{.table = std::move(table),
                   .title = "Ranks",
                   .screen_rows = kMostRanks,
                   .markdown_rows = kMostRanksInMarkdown};
  std::vector<std::string> rest;
  if (part.table.rows.size() > kMostRanks) {
    const RanksApart apart = FindRanksApart(run.ranks);
    PutApartFirst(apart, part.table);
    // If no rank differs, the first one stands for all.
    part.screen_rows = std::clamp<size_t>(apart.apart.size(), 1, kMostRanksApart);
    part.cut = apart.apart.size() <= kMostRanksApart;
    if (part.cut) part.markdown_rows = part.screen_rows;
    rest = RestTexts(apart);
  }
  document.AddPart(std::move(part));
  for (std::string& text : rest) document.Add(Paragraph{std::move(text), Paint::kPlain, 3});
  for (const std::string& warning : run.ranks.warnings)
    document.AddForScreen(Paragraph{warning, Paint::kYellow, 3});
  AddRankBlame(document, run);
  AddExpertsAndSizes(document, run.ranks);
}

void AddFindingCommand(NextCommand& next, const std::vector<RunFinding>& findings,
                       const ScreenOptions& options) {
  if (findings.empty() || !findings.front().known()) return;
  next.options.push_back({"--findings", "what the time was lost to, dearest first"});
  next.others.push_back(
      {CommandOf(findings.front(), options.command_paths), "the dearest finding in full"});
}

void AddPages(NextCommand& next, std::span<const TraceAnalysis> traces,
              const ScreenOptions& options) {
  if (options.view_paths.empty()) return;
  const auto any = [&](const auto& has) { return std::ranges::any_of(traces, has); };
  if (!any([](const TraceAnalysis& trace) { return !trace.results.empty(); })) {
    const std::string command = "tacho view " + options.view_paths;
    next.others.push_back(any([](const TraceAnalysis& trace) { return !trace.idle.gaps.empty(); })
                              ? NextCommand::Option{command + " --gap 1",
                                                    "at the longest gap (--step N, --find KERNEL)"}
                              : NextCommand::Option{command, "a timeline"});
  }
  next.others.push_back({"tacho report " + options.view_paths, "the same as one HTML file"});
}

Remark NoteRemark(const Note& note, const Notes& notes, std::string_view places) {
  const NoteKind& kind = KindOf(note.id);
  const bool is_info = kind.severity == Severity::kInfo;
  std::string text = fmt::format(" ({}): {}", FormatCount(note.count), kind.text);
  if (!places.empty()) text += fmt::format("; {}", places);
  if (!note.where.empty()) text += "; first at " + note.where;
  return {std::string(kind.id), std::move(text),
          is_info ? "" : fmt::format("; {}", RemedyOf(note.id, notes)),
          is_info ? Paint::kPlain : Paint::kYellow};
}

Document ProducerLines(const std::vector<const TraceHeader*>& headers) {
  constexpr size_t kMost = 5, kLongest = 300;
  std::vector<std::string> lines;
  for (const TraceHeader* header : headers) {
    const bool is_nsys = header->format == TraceFormat::kNsys;
    for (const std::string& line : header->producer_log) {
      std::string text = fmt::format("{}: {}", is_nsys ? "nsys" : "the profiler",
                                     FitName(VisibleText(line), kLongest, false));
      if (std::ranges::find(lines, text) == lines.end()) lines.push_back(std::move(text));
    }
  }
  std::stable_partition(lines.begin(), lines.end(), [](const std::string& line) {
    return MeaningOf(line) != ProducerLine::kOther;
  });
  Document document;
  for (size_t i = 0; i < std::min(lines.size(), kMost); ++i)
    document.Add(Paragraph{lines[i], Paint::kPlain, 3});
  if (lines.size() > kMost)
    document.Add(Paragraph{fmt::format("and {} more lines; --json has all", lines.size() - kMost),
                           Paint::kPlain, 3});
  return document;
}

namespace {

// The kind of a file that does not count in the run's figures.
std::string_view WhatItIs(TraceRole role) {
  if (role == TraceRole::kMerged)
    return "several ranks merged into one file, left out of the figures above";
  return role == TraceRole::kForeign ? "a Chrome trace of another producer"
                                     : "a front-end's trace, no device work";
}

}  // namespace

std::string CapturesText(const std::vector<std::string>& paths) {
  constexpr size_t kNamed = 3;
  std::string text =
      fmt::format("{} of a graph capture {} left out: ", FormatCounted(paths.size(), "trace"),
                  paths.size() == 1 ? "is" : "are");
  for (size_t i = 0; i < std::min(paths.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + paths[i];
  }
  if (paths.size() > kNamed) text += fmt::format(" and {} more", paths.size() - kNamed);
  return text;
}

Document OtherFiles(const RunAnalysis& run) {
  Document document;
  const std::vector<const TraceAnalysis*> ranks = RanksOf(run);
  std::vector<std::string> captures = run.captures;
  const auto add = [&](std::string text) {
    document.Add(Paragraph{std::move(text), Paint::kPlain, 3});
  };
  for (const TraceAnalysis& trace : run.traces) {
    if (std::ranges::find(ranks, &trace) != ranks.end()) continue;
    if (trace.facts.role == TraceRole::kCapture) {
      captures.push_back(trace.path);
      continue;
    }
    add(fmt::format("{}: {}, {}", trace.path, WhatItIs(trace.facts.role),
                    FormatCounted(trace.counts.total, "event")));
  }
  // If the run has no rank, the screen shows the capture files, so they are not listed as left out.
  if (ranks.empty()) captures = run.captures;
  document.Append(LeftOutFiles(run.skipped, std::move(captures)));
  return document;
}

Document LeftOutFiles(const std::vector<std::string>& skipped, std::vector<std::string> captures) {
  Document document;
  std::ranges::sort(captures);
  if (!captures.empty()) document.Add(Paragraph{CapturesText(captures), Paint::kPlain, 3});
  const auto add = [&](std::string text) {
    document.Add(Paragraph{std::move(text), Paint::kYellow, 3});
  };
  for (size_t i = 0; i < std::min(skipped.size(), kMostSkipped); ++i) add("skipped: " + skipped[i]);
  if (skipped.size() > kMostSkipped)
    add(fmt::format("and {} more; --json lists all", skipped.size() - kMostSkipped));
  return document;
}

IdleTable LongGaps(IdleTable idle) {
  std::erase_if(idle.gaps, [](const IdleGap& gap) { return gap.when.length() <= kShortGap; });
  return idle;
}

void AddTrustParts(std::vector<std::string>& parts, uint64_t linked, uint64_t gpu_events, bool lost,
                   const DeviceTotals& totals, const KernelTable& kernels) {
  if (gpu_events > 0) {
    const double share = static_cast<double>(linked) / static_cast<double>(gpu_events);
    parts.push_back(fmt::format("{} % of {}GPU work linked to a launch", FormatPercent(share),
                                lost ? "the recorded " : ""));
    if (totals.overlaps > 0) parts.push_back(FormatCounted(totals.overlaps, "overlap") + " kept");
  }
  if (!kernels.rows.empty())
    parts.push_back(fmt::format("{} % of {} time classified", FormatPercent(kernels.coverage),
                                WorkWord(totals)));
}

std::string StepsInWords(uint64_t count, std::string_view phase) {
  return phase == PhaseName(Phase::kOther) ? FormatCounted(count, "step") + " of unknown phase"
                                           : FormatCounted(count, fmt::format("{} step", phase));
}

std::string SizeText(uint64_t bytes, uint64_t json_bytes) {
  std::string size = FormatBytes(bytes);
  if (bytes == json_bytes) return size;
  return fmt::format("{} ({} of JSON)", size, FormatBytes(json_bytes));
}

std::string EngineText(const TraceFacts& facts) {
  if (facts.engine.empty()) return "";
  std::string name = facts.engine == "vllm"     ? "vLLM"
                     : facts.engine == "sglang" ? "SGLang"
                                                : facts.engine;
  return facts.engine_version.empty() ? name : name + " " + facts.engine_version;
}

}  // namespace tacho
