#include "report/documents/explain_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "analysis/findings/findings.h"
#include "analysis/findings/request_findings.h"
#include "base/parse_number.h"
#include "report/answers/answer_parts.h"
#include "report/device_totals.h"
#include "report/tables/finding_tables.h"
#include "report/tables/result_tables.h"
#include "report/words/finding_words.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostPlacesShown = 10, kMostGapsShown = 6, kMostCausesShown = 8,
                 kMostRequestsShown = 6, kMostCommKernels = 6;

const RunFinding* FindFinding(const std::vector<RunFinding>& findings, std::string_view which) {
  const auto found = std::ranges::find(findings, which, &RunFinding::id);
  if (found != findings.end()) return &*found;
  const auto number = ParseWhole<size_t>(which);
  return number && *number > 0 && *number <= findings.size() ? &findings[*number - 1] : nullptr;
}

// The parts that have time, the largest first.
std::vector<RequestPart> PartsByTime(const RequestParts& sums) {
  std::vector<RequestPart> parts;
  for (size_t i = 0; i < kRequestParts; ++i) {
    if (sums.ns[i].ns > 0) parts.push_back(static_cast<RequestPart>(i));
  }
  std::ranges::stable_sort(parts, std::greater{}, [&](RequestPart part) { return sums[part]; });
  return parts;
}

// Rows that add up to the finding's whole: the finding, other findings with the same whole, and the
// rest.
Table SharesTable(const RunAnalysis& run, const std::vector<RunFinding>& findings,
                  const RunFinding& of) {
  Table table{
      "whole",
      {TableColumn{"id", "of the whole"}, TableColumn{"cost_ns", "time", Unit::kDuration}.Adds(),
       TableColumn{"share", "share", Unit::kShare}.Adds(),
       TableColumn{"", "", Unit::kBar}.ScreenOnly()},
      {}};
  const auto add = [&](std::string id, DurationNs time, Paint paint) {
    const double share = ShareOf(time, of.whole);
    table.Add({std::move(id), time.ns, share, share}, paint);
  };
  if (of.of == FindingWhole::kRequests) {
    const RequestParts sums = PartsOfSplit(run.requests);
    for (const RequestPart part : PartsByTime(sums))
      add(std::string(RequestPartId(part)), sums[part],
          part == of.part ? Paint::kBold : Paint::kPlain);
    return table;
  }
  DurationNs rest = of.whole;
  for (const RunFinding& finding : findings) {
    if (!finding.known() || finding.of != of.of) continue;
    rest -= finding.cost;
    add(finding.id, finding.cost, finding.id == of.id ? Paint::kBold : Paint::kPlain);
  }
  add("work", rest, Paint::kDim);
  table.never_folded = 1;
  return table;
}

// " over 8 devices" if the window is summed over several devices; else "".
std::string OverDevices(const RunAnalysis& run, const RunFinding& finding) {
  const uint64_t devices = TotalsOf(run).devices.devices;
  const bool is_sum = finding.of != FindingWhole::kRequests && devices > 1;
  return is_sum ? fmt::format(" over {} devices", devices) : "";
}

void AddKernelsOf(Document& document, const RunAnalysis& run, const ScreenOptions& options) {
  const RunTotals totals = TotalsOf(run);
  KernelTable comm = totals.kernels;
  std::erase_if(comm.rows, [](const KernelRow& row) { return !row.category.starts_with("comm"); });
  document.AddPart(TitledTable{.table = KernelsTable(comm, totals.devices, options.style, "kernel"),
                               .title = "Communication kernels, with waits and hidden time",
                               .screen_rows = kMostCommKernels,
                               .cut = true});
}

// Adds the requests that lost the most time to `part`.
void AddRequestsWithMost(Document& document, const RunAnalysis& run, RequestPart part) {
  RequestAnalysis most = run.requests;
  std::erase_if(most.rows, [&](const RequestRow& row) {
    return !row.whole || row.lacks != RequestLacks::kNothing || row.parts[part].ns <= 0;
  });
  std::ranges::stable_sort(most.rows, std::greater{},
                           [&](const RequestRow& row) { return row.parts[part]; });
  most.rows.resize(std::min(most.rows.size(), kMostRequestsShown));
  document.AddPart(TitledTable{.table = RequestsTable(most, {.title = "request", .first = part}),
                               .title = "Requests with most of it",
                               .screen_title = "MOST OF IT"});
}

// Adds tables that show where the finding's cost comes from.
void AddEvidence(Document& document, const RunAnalysis& run, const RunFinding& finding,
                 const ScreenOptions& options) {
  if (finding.kind == RunFindingKind::kWait && finding.rank) {
    const auto row =
        std::ranges::find(run.ranks.blame.table, finding.rank->row, &RankBlame::Row::rank);
    if (row == run.ranks.blame.table.end()) return;
    document.Add(
        Labelled{"rank",
                 {fmt::format("came last in {} of {}", FormatCount(static_cast<int64_t>(row->last)),
                              FormatCounted(row->collectives, "collective")),
                  finding.rank->late_a_step
                      ? FormatDuration(*finding.rank->late_a_step) + " later than the others a step"
                      : "",
                  FormatDuration(row->suffered) + " waited for others itself"}});
    document.AddPart(TitledTable{.table = SkewCausesTable(*row),
                                 .title = "Why it was late",
                                 .screen_rows = kMostCausesShown});
    if (row->paced.ns > 0)
      document.Add(Paragraph{
          fmt::format("{} more of the waiting is for it, but is no lateness: the others' hosts had "
                      "launched ahead while they waited; it is part of wait.others",
                      FormatDuration(row->paced)),
          Paint::kDim});
    return;
  }
  if (finding.places.size() > 1)
    document.AddPart(TitledTable{.table = FindingPlacesTable(run, finding),
                                 .title = "Where it lies",
                                 .screen_rows = kMostPlacesShown});
  if (finding.kind == RunFindingKind::kIdle)
    document.AddPart(TitledTable{.table = FindingGapsTable(run, finding, kMostGapsShown),
                                 .title = "Its longest gaps"});
  if (finding.kind == RunFindingKind::kExposedComm || finding.kind == RunFindingKind::kTransfer)
    AddKernelsOf(document, run, options);
  if (finding.kind == RunFindingKind::kAboveRoof && !finding.places.empty()) {
    const TraceAnalysis& trace = run.traces[finding.places.front().trace];
    const std::string rank = trace.facts.identity.Name();
    document.AddPart(TitledTable{.table = RooflineTable(trace.roofline, std::nullopt, "phase"),
                                 .title = rank.empty() ? "Roofline" : "Roofline, " + rank});
  }
  if (finding.kind == RunFindingKind::kExposedCopies)
    AddCopies(document, TotalsOf(run).copies, options);
  if (finding.kind == RunFindingKind::kRequests) AddRequestsWithMost(document, run, finding.part);
}

NextCommand NextOf(const RunAnalysis& run, const RunFinding& finding,
                   const ScreenOptions& options) {
  NextCommand next;
  const auto add = [&](std::string command, const char* shows) {
    if (next.command.empty())
      next.command = std::move(command);
    else
      next.others.push_back({std::move(command), shows});
  };
  const auto analyze = [&](const char* option, const char* shows) {
    add(fmt::format("tacho analyze {} {}", options.command_paths, option), shows);
  };
  switch (finding.kind) {
    case RunFindingKind::kIdle:
      analyze("--gaps", "the longest gaps, and idle time by cause");
      break;
    case RunFindingKind::kWait:
    case RunFindingKind::kSkew:
    case RunFindingKind::kComputes:
      analyze("--ranks", "the ranks side by side");
      break;
    case RunFindingKind::kTransfer:
    case RunFindingKind::kExposedComm:
      analyze("--kernels --filter comm", "communication kernels by name");
      break;
    case RunFindingKind::kAboveRoof:
      analyze("--roofline", "phases and blocks beside the limits of the hardware");
      break;
    case RunFindingKind::kExposedCopies:
      analyze("--copies", "copies by direction, with their rates");
      break;
    case RunFindingKind::kRequests:
      if (!finding.request.empty())
        add(fmt::format("tacho explain {} {}", options.command_paths, ShellWord(finding.request)),
            "the request with most of it");
      analyze("--requests", "each request and what its time went to");
      break;
  }
  if (!options.view_paths.empty() && !finding.places.empty() && finding.places.front().gap) {
    const RunFinding::Place& place = finding.places.front();
    // Shows the trace alone: `place.gap` is a gap's number in one trace, but `tacho view` of a run
    // numbers the gaps of all traces together.
    const std::string paths =
        run.traces.size() == 1 ? options.view_paths : ShellWord(run.traces[place.trace].path);
    add(fmt::format("tacho view {} --gap {}", paths, *place.gap + 1),
        "the timeline at its longest gap");
  }
  analyze("--findings", "all findings");
  return next;
}

tl::unexpected<Error> NoSuchFinding(const std::vector<RunFinding>& findings,
                                    std::string_view which) {
  std::vector<std::string> ids;
  for (const RunFinding& finding : findings) ids.push_back(finding.id);
  return Fail(ErrorKind::kUsage,
              fmt::format("no finding '{}': {}", VisibleText(which),
                          ids.empty() ? "there is no finding in these traces"
                                      : fmt::format("there are {}", fmt::join(ids, ", "))));
}

}  // namespace

bool HasFinding(const RunAnalysis& run, std::string_view id) {
  const std::vector<RunFinding> findings = FindingsOf(run);
  return std::ranges::find(findings, id, &RunFinding::id) != findings.end();
}

Result<Document> ExplainFinding(const RunAnalysis& run, std::string_view which,
                                const ScreenOptions& options) {
  const std::vector<RunFinding> findings = FindingsOf(run);
  const RunFinding* found = FindFinding(findings, which);
  if (found == nullptr) return NoSuchFinding(findings, which);
  const RunFinding& finding = *found;
  Document document;
  std::vector<std::string> facts;
  if (finding.known())
    facts = {
        FormatDuration(finding.cost),
        fmt::format("{} of {} ({})", FormatShare(finding.cost, finding.whole), WholeText(finding),
                    FormatDuration(finding.whole) + OverDevices(run, finding))};
  document.Add(Subject{"finding", finding.id, std::move(facts)});
  document.Add(Labelled{"what", {Sentence(FindingText(run, finding))}, Paint::kBold});
  if (!finding.known()) return document;
  document.Add(Labelled{"cost is", {MeaningOf(finding)}});
  document.Add(
      Labelled{"sure",
               {std::string(WhyBounded(finding))},
               finding.confidence == Confidence::kMeasured ? Paint::kPlain : Paint::kYellow});
  AddEvidence(document, run, finding, options);
  document.AddPart(TitledTable{.table = SharesTable(run, findings, finding),
                               .title = "What the whole consists of"});
  if (!options.command_paths.empty()) document.AddPart(NextOf(run, finding, options));
  return document;
}

}  // namespace tacho
