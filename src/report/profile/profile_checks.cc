#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/findings.h"
#include "report/profile/profile_sections.h"
#include "report/words/idle_words.h"
#include "report/words/integrity_words.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

// The thresholds of analyze_profile.py.
constexpr double kGoodUtilisation = 0.90, kPoorUtilisation = 0.80;
constexpr DurationNs kLongGraphLaunch{5'000'000};
constexpr double kMuchDispatch = 0.15, kMuchRouting = 0.05;
constexpr DurationNs kMuchCopying{100'000'000};
constexpr size_t kTopKernels = 30, kManyShort = 5;
constexpr DurationNs kShortKernel{3'000};
constexpr size_t kFindingIndent = 9;

struct Bottleneck {
  std::string_view level;  // HIGH, MED, LOW
  std::string text;
};

void CheckUtilisation(const DeviceTotals& totals, std::vector<Bottleneck>& findings) {
  const double busy = ShareOf(totals.busy, totals.window);
  if (totals.window.ns == 0 || !totals.whole || busy >= kGoodUtilisation) return;
  findings.push_back(
      {busy < kPoorUtilisation ? "HIGH" : "MED",
       fmt::format("{} busy {} of its window: {} idle", DeviceWord(totals),
                   FormatShare(totals.busy, totals.window), FormatDuration(totals.idle))});
}

void CheckGraphLaunches(const LaunchTable& launches, std::vector<Bottleneck>& findings) {
  const DurationStats& calls = launches.graph_calls;
  if (calls.max <= kLongGraphLaunch) return;
  findings.push_back(
      {"HIGH",
       fmt::format("graph launches take up to {} (median {}, p99 {}; {}, {} in "
                   "all)",
                   FormatDuration(calls.max), FormatDuration(calls.p50), FormatDuration(calls.p99),
                   FormatCounted(calls.count, "call"), FormatDuration(calls.total))});
}

void CheckCategory(const KernelTable& kernels, std::string_view category, double limit,
                   std::string_view level, std::string_view what,
                   std::vector<Bottleneck>& findings) {
  const CategoryRow row = CategoriesBelow(kernels, category);
  if (ShareOf(row.total, kernels.total) <= limit) return;
  findings.push_back(
      {level, fmt::format("{} takes {}, {} of kernel time, {} on average", what,
                          FormatDuration(row.total), FormatShare(row.total, kernels.total),
                          FormatDuration({row.total.ns / static_cast<int64_t>(row.count)}))});
}

void CheckHostCopies(const OpTable& ops, std::vector<Bottleneck>& findings) {
  for (const OpRow& row : ops.rows) {
    if (row.name != "aten::copy_" || row.cpu_total <= kMuchCopying) continue;
    findings.push_back(
        {"MED", fmt::format("aten::copy_ takes {} of host time in {}",
                            FormatDuration(row.cpu_total), FormatCounted(row.count, "call"))});
  }
}

void CheckShortKernels(const KernelTable& kernels, std::vector<Bottleneck>& findings) {
  size_t few = 0;
  const size_t top = std::min(kTopKernels, kernels.rows.size());
  for (size_t i = 0; i < top; ++i) few += kernels.rows[i].stats.mean() < kShortKernel ? 1 : 0;
  if (few <= kManyShort) return;
  findings.push_back(
      {"LOW", fmt::format("{} of the {} kernels with the most time last less than {} on "
                          "average",
                          few, top, FormatDuration(kShortKernel))});
}

}  // namespace

void AddBottlenecks(Document& document, const TraceAnalysis& trace) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  std::vector<Bottleneck> findings;
  CheckUtilisation(totals, findings);
  CheckGraphLaunches(trace.launches, findings);
  CheckCategory(trace.kernels, "comm.moe_all_to_all", kMuchDispatch, "HIGH", "MoE all-to-all",
                findings);
  CheckCategory(trace.kernels, "moe.routing", kMuchRouting, "MED", "MoE routing", findings);
  CheckHostCopies(trace.ops, findings);
  if (!totals.on_host) CheckShortKernels(trace.kernels, findings);
  AddTitle(document, "Performance Bottleneck Analysis");
  for (const Bottleneck& finding : findings) {
    const Paint paint = finding.level == "HIGH"  ? Paint::kRed
                        : finding.level == "MED" ? Paint::kYellow
                                                 : Paint::kPlain;
    document.Add(Paragraph{PadRight(fmt::format("[{}]", finding.level), 7) + finding.text, paint,
                           kFindingIndent});
  }
  if (!findings.empty()) return;
  if (totals.window.ns == 0) return AddLine(document, WhyNoDeviceTime(trace));
  AddLine(document, totals.whole ? "none of the six checks found anything"
                                 : "nothing was found, but how much of the window is idle cannot "
                                   "be told: " +
                                       WhyNoIdleTime(trace));
}

void AddCeilings(Document& document, const TraceAnalysis& trace) {
  AddTitle(document, "Optimization Recommendations");
  const DeviceTotals totals = TotalsOf(trace.devices);
  std::vector<RunFinding> findings = FindingsOf(trace);
  std::erase_if(findings, [](const RunFinding& finding) { return !finding.known(); });
  if (findings.empty() && !trace.idle.known)
    return AddLine(document, "what could be gained cannot be told: " + WhyNoIdleTime(trace));
  if (totals.window.ns == 0) return AddLine(document, WhyNoDeviceTime(trace));
  if (findings.empty()) return AddLine(document, "this trace shows no possible gain");
  AddLine(document, "The most that can be gained where, were that cost gone entirely:");
  for (const RunFinding& finding : findings) {
    AddLine(document, fmt::format("{} {} = {} of the window", PadRight(finding.id, 24),
                                  PadLeft(FormatDuration(finding.cost), 9),
                                  FormatShare(finding.cost, totals.window)));
  }
  if (MuchIsUnknown(trace.idle))
    AddLine(document, "what is unknown may be of any cause of idle time, which then gains more");
}

}  // namespace tacho
