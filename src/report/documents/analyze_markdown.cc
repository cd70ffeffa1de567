#include "report/documents/analyze_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/documents/analyze_document.h"
#include "report/documents/requests_document.h"
#include "report/tables/finding_tables.h"
#include "report/words/caveat.h"
#include "report/words/rank_text.h"
#include "report/words/verdict.h"
#include "text/markdown_text.h"

namespace tacho {
namespace {

// The part above the reports of the traces.
Document HeadOf(const RunAnalysis& run, const TextStyle& style) {
  Document head;
  head.Add(Heading{Heading::Level::kTitle, "Where the time goes"});
  if (run.traces.size() != 1) {
    AddVerdict(head, Verdict(run), Caveat(run));
    AddRanks(head, run, style);
    AddRequests(head, run.requests);
  }
  head.AddPart(TitledTable{.table = FindingsTable(run, true, "finding"), .title = "Findings"});
  if (!run.ranks.missing.empty()) head.Add(Paragraph{"missing: " + MissingRanksText(run.ranks)});
  return head;
}

// The whole text, with `top` rows of each long table. Traces that do not fit are left out, and
// `left_out` says how many.
std::string Together(const RunAnalysis& run, const Document& head, const ScreenOptions& options,
                     size_t top, std::string_view version, size_t& left_out) {
  std::string out = RenderMarkdown(head);
  const std::string end = fmt::format("\n<sub>tacho {}</sub>\n", version);
  const auto fits = [&](const std::string& part) {
    return out.size() + part.size() + end.size() + 200 <= kMarkdownLimit;
  };
  left_out = 0;
  const RankTable ranks = run.traces.size() == 1 ? run.ranks : RankTable{};
  const RequestAnalysis requests = run.traces.size() == 1 ? run.requests : RequestAnalysis{};
  for (const TraceAnalysis& trace : run.traces) {
    // Renders one document at a time, because each holds every row.
    const std::string part =
        left_out > 0 ? ""
                     : "\n" + RenderMarkdown(TraceDocument(trace, ranks, options, requests), top);
    if (part.empty() || !fits(part)) {
      ++left_out;
      continue;
    }
    out += part;
  }
  if (!run.captures.empty()) {
    const std::string line = fmt::format("\n{}\n", MarkdownText(CapturesText(run.captures)));
    if (fits(line)) out += line;
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
                            std::string_view version, Document more) {
  Document head = HeadOf(run, options.style);
  head.Append(std::move(more));
  // More rows than this cannot fit, at 32 bytes a row.
  size_t top = std::min<size_t>(options.top, kMarkdownLimit / 32);
  size_t left_out = 0;
  std::string out = Together(run, head, options, top, version, left_out);
  while (left_out > 0 && top > 1) out = Together(run, head, options, top /= 2, version, left_out);
  return out;
}

}  // namespace tacho
