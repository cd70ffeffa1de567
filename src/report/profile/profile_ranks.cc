#include <fmt/format.h>

#include <algorithm>

#include "report/profile/profile_sections.h"
#include "report/words/caveat.h"
#include "report/words/rank_text.h"
#include "text/format_number.h"
#include "text/short_paths.h"

namespace tacho {

void AddCrossRank(Document& document, const RunAnalysis& run) {
  AddTitle(document, "Cross-Rank Comparison");
  Table table{
      "ranks",
      {TableColumn{"rank", "rank", Unit::kText}.Stretches(),
       TableColumn{"window_ns", "span", Unit::kDuration},
       TableColumn{"busy_ns", "busy", Unit::kDuration}, TableColumn{"share", "util", Unit::kShare},
       TableColumn{"kernel_ns", "kernel", Unit::kDuration},
       TableColumn{"moe_ns", "MoE a2a", Unit::kDuration},
       TableColumn{"gemm_ns", "GEMM", Unit::kDuration},
       TableColumn{"comm_ns", "comm", Unit::kDuration},
       TableColumn{"exposed_ns", "exposed", Unit::kDuration}},
      {}};
  std::vector<std::string> paths;
  double least = 1, most = 0;
  bool all_whole = true;
  const std::vector<const TraceAnalysis*> traces = RanksOf(run);
  for (const TraceAnalysis* trace : traces) paths.push_back(trace->path);
  paths = ShortPaths(paths);
  for (size_t i = 0; i < traces.size(); ++i) {
    const TraceAnalysis& trace = *traces[i];
    const DeviceTotals totals = TotalsOf(trace.devices);
    const bool is_timed = totals.window.ns > 0;
    const double busy = ShareOf(totals.busy, totals.window);
    if (is_timed) {
      least = std::min(least, busy);
      most = std::max(most, busy);
      all_whole &= !BusyIsLeast(trace);
    }
    const std::string name = trace.facts.identity.Name();
    const auto time = [&](DurationNs of_devices) {
      return is_timed ? Cell(of_devices.ns) : Cell();
    };
    // If the device's times are refused, sums of kernel durations are still known.
    const bool has_work = is_timed || trace.kernels.total.ns > 0;
    const auto sum = [&](DurationNs of_kernels) { return has_work ? Cell(of_kernels.ns) : Cell(); };
    table.Add({name + (name.empty() ? "" : "  ") + paths[i], time(totals.window), time(totals.busy),
               is_timed ? Cell(busy) : Cell(), sum(trace.kernels.total),
               sum(CategoriesBelow(trace.kernels, "comm.moe_all_to_all").total),
               sum(CategoriesBelow(trace.kernels, "gemm").total),
               sum(CategoriesBelow(trace.kernels, "comm").total),
               totals.whole ? time(totals.exposed_comm) : Cell()});
  }
  document.Add(TitledTable{std::move(table)});
  document.Add(Gap{});
  if (least <= most && all_whole)
    AddLine(document,
            fmt::format("utilisation: {} % to {} % (spread {} points)", FormatPercent(least),
                        FormatPercent(most), FormatPercent(most - least)));
  else if (least <= most)
    AddLine(document, fmt::format("utilisation: at least {} % to {} %: work is missing",
                                  FormatPercent(least), FormatPercent(most)));
  if (!run.ranks.missing.empty()) {
    AddLine(document, fmt::format("missing: {} ({})", MissingRanksText(run.ranks),
                                  MissingCountText(run.ranks)));
  }
  for (const std::string& warning : run.ranks.warnings)
    document.Add(Paragraph{warning, Paint::kPlain, 4});
}

}  // namespace tacho
