#include "report/analyze_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/analyze_text.h"
#include "report/rank_text.h"
#include "report/result_tables.h"
#include "report/screen_parts.h"
#include "report/verdict.h"
#include "text/format_number.h"
#include "text/markdown_text.h"

namespace tacho {
namespace {

constexpr size_t kMostRankRows = 64;

// "- trust: no event lost, ..."; "" without parts.
std::string Line(std::string_view label, std::vector<std::string> parts) {
  std::erase(parts, "");
  return parts.empty() ? ""
                       : fmt::format("- {}: {}\n", label,
                                     MarkdownText(fmt::format("{}", fmt::join(parts, ", "))));
}

std::string VerdictLines(const std::string& verdict, const std::string& caveat) {
  const std::string doubt =
      caveat.empty() ? "" : fmt::format("- caveat: {}\n", MarkdownText(caveat));
  return fmt::format("- **verdict: {}**\n{}", MarkdownText(verdict), doubt);
}

std::string Part(std::string_view heading, Table table, size_t keep) {
  if (table.rows.empty()) return "";
  FoldRows(table, keep);
  return fmt::format("\n**{}**\n\n{}", heading, RenderMarkdown(table));
}

std::string NotesPart(const TraceAnalysis& trace) {
  std::string out;
  for (const Note& note : trace.notes.list()) {
    const NoteKind& kind = KindOf(note.id);
    out +=
        fmt::format("- **{}** ({}): {}{}\n", kind.id, FormatCount(static_cast<int64_t>(note.count)),
                    kind.text, note.where.empty() ? "" : "; first at " + MarkdownText(note.where));
  }
  for (const std::string& sentence : trace.facts.cannot_tell) {
    out += fmt::format("- cannot tell: {}\n", MarkdownText(sentence));
  }
  return out.empty() ? "" : "\n**Notes**\n\n" + out;
}

std::string TracePart(const TraceAnalysis& trace, const RankTable& ranks,
                      const ScreenOptions& options) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  const bool many_devices = trace.devices.size() > 1;
  std::string out = fmt::format("\n### {}\n\n", MarkdownText(trace.path));
  out += Line("trace", HeaderParts(trace));
  out += Line("scope", {ScopeText(trace)});
  out += Line("trust", TrustParts(trace, ranks, totals));
  out += VerdictLines(Verdict(trace, ranks), Caveat(trace));
  out += Part("Steps", StepPhasesTable(trace.steps, "phase"), options.top);
  if (many_devices) out += Part("Devices", DevicesTable(trace.devices, "device"), 16);
  if (totals.window.ns > 0) {
    out += Part("Where the time goes", WindowTable(totals, options.top, "part"), 32);
    out += "\n" + MarkdownText(CompositionText(totals, WindowMeaning(trace))) + "\n";
    out += Part("Idle by cause", IdleCausesTable(trace.idle, "cause"), 16);
  }
  out += Part(fmt::format("Top {}", WorkWords(totals)),
              KernelsTable(trace.kernels, totals, options.style, "name"), options.top);
  out += Part("Top host operators", OpsTable(trace.ops.rows, !totals.on_host, false, "name"),
              options.top);
  out += Part("Copies", CopiesTable(trace.copies, "kind"), options.top);
  if (const std::string launches = LaunchesText(trace.launches); !launches.empty()) {
    out += "\n**Launches**\n\n" + MarkdownText(launches) + "\n";
    out += Part("Host calls", ApisTable(trace.launches.apis, "call"), kTopCalls);
  }
  IdleTable longest = LongGaps(trace.idle);
  if (longest.gaps.size() > kTopGaps) longest.gaps.resize(kTopGaps);
  out += Part("Longest gaps",
              GapsTable(longest, trace.span.start, many_devices, options.style, "gap"), kTopGaps);
  return out + NotesPart(trace);
}

// The whole document, with `top` rows of each long table; the traces that do not fit are left out
// and counted in `left_out`.
std::string Document(const RunAnalysis& run, ScreenOptions options, size_t top,
                     std::string_view version, size_t& left_out) {
  options.top = top;
  std::string out = "## Where the time goes\n";
  // Those of one trace stand in its own verdict.
  const bool alone = run.traces.size() == 1;
  if (!alone) {
    out += "\n" + VerdictLines(Verdict(run), Caveat(run));
    out += Part("Ranks", RanksTable(run.ranks, TextStyle{}, "rank"), kMostRankRows);
  }
  if (!run.ranks.missing.empty()) {
    out += fmt::format("\nmissing: {}\n", MissingRanksText(run.ranks));
  }
  const std::string end = fmt::format("\n<sub>tacho {}</sub>\n", version);
  const auto fits = [&](const std::string& part) {
    return out.size() + part.size() + end.size() + 200 <= kMarkdownLimit;
  };
  left_out = 0;
  for (const TraceAnalysis& trace : run.traces) {
    const std::string part = TracePart(trace, alone ? run.ranks : RankTable{}, options);
    if (left_out > 0 || !fits(part)) {
      ++left_out;
      continue;
    }
    out += part;
  }
  for (const std::string& skipped : run.skipped) {
    const std::string line = fmt::format("\nskipped: {}\n", MarkdownText(skipped));
    if (fits(line)) out += line;
  }
  if (left_out > 0) {
    out += fmt::format("\n{} more {} not fit here: use --rank, --csv or --json.\n", left_out,
                       left_out == 1 ? "trace does" : "traces do");
  }
  return out + end;
}

}  // namespace

std::string AnalyzeMarkdown(const RunAnalysis& run, const ScreenOptions& options,
                            std::string_view version) {
  // More rows than a document of this size can hold need not be tried.
  size_t top = std::min<size_t>(options.top, kMarkdownLimit / 32);
  size_t left_out = 0;
  std::string out = Document(run, options, top, version, left_out);
  while (left_out > 0 && top > 1) out = Document(run, options, top /= 2, version, left_out);
  return out;
}

}  // namespace tacho
