#include "report/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/device_totals.h"
#include "report/format_number.h"
#include "report/rank_text.h"
#include "report/short_paths.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

// Shares below these do not enter the sentence.
constexpr double kIdleWorthNaming = 0.10;
constexpr double kExposedWorthNaming = 0.05;
constexpr double kSlowerWorthNaming = 0.01;

std::string MainIdleCause(const IdleTable& idle) {
  const IdleCauseRow& main = idle.causes.front();
  const std::string share = FormatShare(main.total, idle.window - idle.busy);
  switch (main.cause) {
    case IdleCause::kHostLate:
      return fmt::format("the host launched late for {} of the idle time", share);
    case IdleCause::kLaunchLatency:
      return fmt::format("launches on their way to the device make {} of the idle time", share);
    case IdleCause::kQueued:
      return fmt::format(
          "work that was launched in time waited on the device for {} of the idle time", share);
    case IdleCause::kInGraph:
      return fmt::format("gaps inside graph launches make {} of the idle time", share);
    case IdleCause::kHost:
      return fmt::format("the executing thread was between operators for {} of the idle time",
                         share);
    case IdleCause::kUnknown:
      return fmt::format("for {} of the idle time the next launch is not in the trace", share);
    case IdleCause::kCount:
      break;
  }
  return "";
}

// "rank 3"; the path where no rank is told or several engines' traces tell the same.
std::string LabelOf(const RankTable& ranks, const RankRow& row) {
  const bool alone = std::all_of(ranks.rows.begin(), ranks.rows.end(), [&](const RankRow& other) {
    return other.rank != row.rank || other.group == row.group;
  });
  if (row.rank && alone) return fmt::format("rank {}", *row.rank);
  std::vector<std::string> paths;
  for (const RankRow& other : ranks.rows) paths.push_back(other.path);
  return VisibleText(ShortPaths(paths)[static_cast<size_t>(&row - ranks.rows.data())]);
}

std::string MissingRanks(const RankTable& ranks) {
  return ranks.missing.empty() ? "" : "; " + MissingCountText(ranks);
}

bool IsPart(const RunAnalysis& run) {
  return !run.traces.empty() && (run.traces[0].scope.window || !run.traces[0].scope.device.empty());
}

// What the busy part went to, and what exposed communication cost.
std::string Rest(const DeviceTotals& totals, const KernelTable& kernels, const IdleTable& idle) {
  std::string rest;
  // On a CPU engine all idle time is the host's: naming it would say nothing.
  if (!totals.on_host && ShareOf(totals.idle, totals.window) >= kIdleWorthNaming &&
      !idle.causes.empty()) {
    rest = "; " + MainIdleCause(idle);
  } else if (!kernels.categories.empty()) {
    const CategoryRow& main = kernels.categories.front();
    rest =
        fmt::format("; {} takes {} of the {} time", VisibleText(main.category),
                    FormatShare(main.total, kernels.total), totals.on_host ? "operator" : "kernel");
  }
  if (ShareOf(totals.exposed_comm, totals.window) >= kExposedWorthNaming) {
    rest += fmt::format("; communication is exposed for {} of the window",
                        FormatShare(totals.exposed_comm, totals.window));
  }
  return rest;
}

}  // namespace

std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  if (trace.counts.total == 0) return "the trace holds no event";
  if (!IsWorker(trace)) {
    return "a front-end's trace: no operator and no GPU work in it, so no device time to tell";
  }
  if (totals.window.ns == 0) {
    return fmt::format("no device work {}, so no device time to tell{}", Whereabouts(trace),
                       MissingRanks(ranks));
  }
  std::string who = "GPU busy";
  if (totals.on_host) {
    who = "CPU engine: operators run for";
  } else if (totals.devices > 1) {
    who = fmt::format("{} GPUs busy", totals.devices);
  }
  return fmt::format("{} {} of {}{}{}", who, FormatShare(totals.busy, totals.window),
                     FormatDuration(totals.window), Rest(totals, trace.kernels, trace.idle),
                     MissingRanks(ranks));
}

std::string Verdict(const RunAnalysis& run) {
  const RunTotals totals = TotalsOf(run);
  if (totals.devices.window.ns == 0)
    return fmt::format("no device work {}, so no device time to tell{}",
                       IsPart(run) ? "in these parts of the traces" : "in these traces",
                       MissingRanks(run.ranks));
  std::string out =
      fmt::format("{} {} of the window over {} traces",
                  totals.devices.on_host ? "operators run for" : "GPUs busy",
                  FormatShare(totals.devices.busy, totals.devices.window), totals.workers);
  if (!run.ranks.rows.empty()) {
    out += fmt::format(" ({} % to {} %)", FormatPercent(run.ranks.least_busy),
                       FormatPercent(run.ranks.most_busy));
  }
  out += Rest(totals.devices, totals.kernels, totals.idle);
  if (run.ranks.slowest) {
    const DurationNs middle = run.ranks.median_of_others;
    const double more = ShareOf(run.ranks.slowest_compute - middle, middle);
    if (more >= kSlowerWorthNaming) {
      out += fmt::format("; {} computes longest: {}, {} % more than the median of the others",
                         LabelOf(run.ranks, run.ranks.rows[*run.ranks.slowest]),
                         FormatDuration(run.ranks.slowest_compute), FormatPercent(more));
    }
  }
  return out + MissingRanks(run.ranks);
}

}  // namespace tacho
