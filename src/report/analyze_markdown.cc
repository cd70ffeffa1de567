#include "report/analyze_markdown.h"

#include <fmt/format.h>

#include "report/format_number.h"
#include "report/result_tables.h"
#include "report/verdict.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kTopGaps = 5;

// Text that stands in a line, not in a table: nothing in it may become markup.
std::string Plain(std::string_view text) {
  std::string out;
  for (const char c : VisibleText(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '`' || c == '*' || c == '_' || c == '[' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
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
                    kind.text, note.where.empty() ? "" : "; first at " + Plain(note.where));
  }
  for (const std::string& sentence : trace.facts.cannot_tell) {
    out += fmt::format("- cannot tell: {}\n", Plain(sentence));
  }
  return out.empty() ? "" : "\n**Notes**\n\n" + out;
}

std::string TracePart(const TraceAnalysis& trace, const ScreenOptions& options) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  const bool many_devices = trace.devices.size() > 1;
  std::string out = fmt::format("\n### {}\n\n{}.\n", Plain(trace.path), Plain(Verdict(trace)));
  out += Part("Steps", StepPhasesTable(trace.steps, "phase"), options.top);
  if (many_devices) out += Part("Devices", DevicesTable(trace.devices, "device"), 16);
  if (totals.window.ns > 0) {
    out += Part("Where the time goes",
                WindowTable(trace.kernels, trace.copies, totals, options.top, "part"), 32);
    out += Part("Idle by cause", IdleCausesTable(trace.idle, "cause"), 16);
  }
  out += Part(totals.on_host ? "Top leaf operators" : "Top kernels",
              KernelsTable(trace.kernels, totals, options.style, "name"), options.top);
  out += Part("Top host operators", OpsTable(trace.ops.rows, !totals.on_host, false, "name"),
              options.top);
  out += Part("Copies", CopiesTable(trace.copies, "kind"), options.top);
  IdleTable longest = trace.idle;
  if (longest.gaps.size() > kTopGaps) longest.gaps.resize(kTopGaps);
  out += Part("Longest gaps", GapsTable(longest, trace.span.start, many_devices, "gap"), kTopGaps);
  return out + NotesPart(trace);
}

}  // namespace

std::string AnalyzeMarkdown(const RunAnalysis& run, const ScreenOptions& options,
                            std::string_view version) {
  std::string out = "## Where the time goes\n";
  if (run.traces.size() > 1) {
    out += fmt::format("\n{}.\n", Plain(Verdict(run)));
    out += Part("Ranks", RanksTable(run.ranks, TextStyle{}, "rank"), 64);
  }
  const std::string end = fmt::format("\n<sub>tacho {}</sub>\n", version);
  size_t left_out = 0;
  for (const TraceAnalysis& trace : run.traces) {
    const std::string part = TracePart(trace, options);
    if (left_out > 0 || out.size() + part.size() + end.size() + 200 > kMarkdownLimit) {
      ++left_out;
      continue;
    }
    out += part;
  }
  for (const std::string& skipped : run.skipped) {
    const std::string line = fmt::format("\nskipped: {}\n", Plain(skipped));
    if (out.size() + line.size() + end.size() + 200 <= kMarkdownLimit) out += line;
  }
  if (left_out > 0) {
    out +=
        fmt::format("\n{} more traces do not fit here: use --rank, --csv or --json.\n", left_out);
  }
  return out + end;
}

}  // namespace tacho
