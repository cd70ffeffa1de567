#include "report/tables/finding_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "analysis/findings/findings.h"
#include "report/words/finding_words.h"
#include "report/words/rank_text.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

Cell TextOrNone(std::string_view text) { return text.empty() ? Cell() : Cell(std::string(text)); }

std::string NameOfRank(const TraceAnalysis& trace) {
  const std::string name = trace.facts.identity.RankName();
  return name.empty() ? trace.path : name;
}

}  // namespace

Table FindingsTable(const RunAnalysis& run, bool with_text, std::string title) {
  Table table{
      "findings",
      {Col{"id", std::move(title)}, Col{"cost_ns", "cost", kDuration},
       Col{"share", "share", kShare}, Col{"of", "of"}, Col{"of_ns", "", kDuration}.FileOnly(),
       Col{"confidence", "confidence"}, Col{"because"}.FileOnly(), Col{"request"}.FileOnly(),
       Col{"text", "what"}.Stretches().FileOnly(!with_text)},
      {}};
  if (run.traces.empty()) return table;
  for (const RunFinding& finding : FindingsOf(run)) {
    const bool known = finding.known();
    table.Add(
        {finding.id, known ? Cell(finding.cost.ns) : Cell(), known ? Cell(finding.share()) : Cell(),
         known ? TextOrNone(WholeId(finding.of)) : Cell(), known ? Cell(finding.whole.ns) : Cell(),
         TextOrNone(ConfidenceId(finding.confidence)), TextOrNone(WhyUnknownId(finding.because)),
         TextOrNone(finding.request), FindingText(run, finding)});
  }
  return table;
}

void AddFindingTexts(Document& document, const RunAnalysis& run) {
  if (run.traces.empty()) return;
  const std::vector<RunFinding> findings = FindingsOf(run);
  size_t widest = 0;
  for (const RunFinding& finding : findings) widest = std::max(widest, finding.id.size());
  for (const RunFinding& finding : findings)
    document.Add(
        Paragraph{fmt::format("{}  {}", PadRight(finding.id, widest), FindingText(run, finding)),
                  Paint::kDim, widest + 3});
}

Table FindingPlacesTable(const RunAnalysis& run, const RunFinding& finding) {
  Table table{"places",
              {Col{"name", "rank"}.Stretches().Distinct(16), Col{"path"}.FileOnly(),
               Col{"cost_ns", "cost", kDuration}.Adds(), Col{"share", "of it", kShare}.Adds(),
               Col{"", "", kBar}.ScreenOnly()},
              {}};
  for (const RunFinding::Place& place : finding.places) {
    const TraceAnalysis& trace = run.traces[place.trace];
    const double share = ShareOf(place.cost, finding.cost);
    table.Add({NameOfRank(trace), trace.path, place.cost.ns, share, share});
  }
  return table;
}

Table FindingGapsTable(const RunAnalysis& run, const RunFinding& finding, size_t most) {
  struct OfTrace {
    const TraceAnalysis* trace;
    const IdleGap* gap;
    size_t number;
  };
  std::vector<OfTrace> gaps;
  for (const RunFinding::Place& place : finding.places) {
    const TraceAnalysis& trace = run.traces[place.trace];
    for (size_t i = 0; i < trace.idle.gaps.size(); ++i) {
      if (trace.idle.gaps[i].cause == finding.idle)
        gaps.push_back({&trace, &trace.idle.gaps[i], i});
    }
  }
  std::ranges::stable_sort(gaps, std::greater{},
                           [](const OfTrace& of) { return of.gap->when.length(); });
  gaps.resize(std::min(gaps.size(), most));
  Table table{
      "gaps",
      {Col{"name", "rank"}.FileOnly(finding.places.size() < 2), Col{"number", "gap", kCount},
       Col{"at_ns", "at", kDuration}, Col{"dur_ns", "length", kDuration},
       Col{"host", "host"}.Stretches(), Col{"after", "next work"}.Stretches()},
      {}};
  for (const OfTrace& of : gaps)
    table.Add({NameOfRank(*of.trace), CountCell(of.number + 1),
               (of.gap->when.start - of.trace->run_zero()).ns, of.gap->when.length().ns,
               TextOrNone(of.gap->host), TextOrNone(of.gap->after)});
  return table;
}

Table SkewCausesTable(const RankBlame::Row& row) {
  Table table{"causes",
              {Col{"id", "it did longer"}, Col{"ns", "time", kDuration}.Adds(),
               Col{"share", "of the waiting", kShare}.Adds(), Col{"", "", kBar}.ScreenOnly()},
              {}};
  for (const SkewCause& cause : row.caused_by) {
    if (cause.kind == SkewCause::Kind::kPace) continue;
    const double share = ShareOf(cause.time, row.caused_late());
    table.Add({SkewCauseText(cause), cause.time.ns, share, share});
  }
  return table;
}

}  // namespace tacho
