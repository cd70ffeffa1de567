#include "report/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/device_totals.h"
#include "report/format_number.h"
#include "report/rank_text.h"
#include "report/visible_text.h"

namespace tacho {
namespace {

// Shares below these do not enter the sentence.
constexpr double kIdleWorthNaming = 0.10;
constexpr double kExposedWorthNaming = 0.05;

std::string MainIdleCause(const IdleTable& idle) {
  const IdleCauseRow& main = idle.causes.front();
  const std::string share = FormatShare(main.total, idle.window - idle.busy);
  switch (main.cause) {
    case IdleCause::kHostLate:
      return fmt::format("the host launched late for {} of the idle time", share);
    case IdleCause::kInLaunchCall:
      return fmt::format("the host was inside {} for {} of the idle time",
                         main.call.empty() ? "launch calls" : VisibleText(main.call), share);
    case IdleCause::kWaiting:
      return fmt::format(
          "work {}was held back by an event or another queue for {} of the idle time",
          main.call.empty() ? "" : fmt::format("launched by {} ", VisibleText(main.call)), share);
    case IdleCause::kLaunchLatency:
      return fmt::format("launches on their way to the device make {} of the idle time", share);
    case IdleCause::kQueued:
      return fmt::format(
          "work that was launched in time waited on the device for {} of the idle time", share);
    case IdleCause::kInGraph:
      return fmt::format("gaps inside graph launches make {} of the idle time", share);
    case IdleCause::kHost:
      return fmt::format("the executing thread was in no operator for {} of the idle time", share);
    case IdleCause::kInOperator:
      return fmt::format(
          "the executing thread was inside an operator, but in none that it calls, for {} of the "
          "idle time",
          share);
    case IdleCause::kBetweenSteps:
      return fmt::format(
          "{} of the idle time lies between steps: no work was there, or the engine was "
          "scheduling; the trace cannot tell which",
          share);
    case IdleCause::kNoRequest:
      return fmt::format("no request was in flight for {} of the idle time", share);
    case IdleCause::kUnknown:
      return fmt::format("for {} of the idle time the next launch is not in the trace", share);
    case IdleCause::kCount:
      break;
  }
  return "";
}

bool IdleIsWorthNaming(const DeviceTotals& totals) {
  return ShareOf(totals.idle, totals.window) >= kIdleWorthNaming;
}

// Why the figures may be other than those of an engine that is not watched.
enum class Doubt : uint8_t { kEventsMissing, kRecordsDropped, kPythonStacks };

bool HasDoubt(const TraceAnalysis& trace, Doubt doubt) {
  switch (doubt) {
    case Doubt::kEventsMissing:
      return trace.notes.lost_data();
    case Doubt::kRecordsDropped:
      // Kineto's own words, "Exceeded max GPU buffer count" and "... records dropped".
      return std::ranges::any_of(trace.header.producer_log, [](const std::string& line) {
        return line.find("ropped") != std::string::npos ||
               line.find("xceeded") != std::string::npos;
      });
    case Doubt::kPythonStacks:
      return trace.facts.python_stacks && IdleIsWorthNaming(TotalsOf(trace.devices));
  }
  return false;
}

std::string_view DoubtText(Doubt doubt) {
  switch (doubt) {
    case Doubt::kEventsMissing:
      return "events are missing, so what looks idle may have been busy";
    case Doubt::kRecordsDropped:
      return "the profiler says that it stopped early or dropped records, so what looks idle may "
             "have been busy";
    case Doubt::kPythonStacks:
      return "Python stacks were recorded, which slows the host: its part of the idle time is "
             "inflated";
  }
  return "";
}

std::string CaveatOf(const std::vector<const TraceAnalysis*>& traces) {
  std::string out;
  for (const Doubt doubt : {Doubt::kEventsMissing, Doubt::kRecordsDropped, Doubt::kPythonStacks}) {
    const auto doubtful = static_cast<size_t>(std::ranges::count_if(
        traces, [&](const TraceAnalysis* trace) { return HasDoubt(*trace, doubt); }));
    if (doubtful == 0) continue;
    if (!out.empty()) out += "; ";
    if (traces.size() > 1) out += fmt::format("in {} of {} traces ", doubtful, traces.size());
    out += DoubtText(doubt);
  }
  return out;
}

std::string MissingRanks(const RankTable& ranks) {
  return ranks.missing.empty() ? "" : "; " + MissingCountText(ranks);
}

bool IsPart(const RunAnalysis& run) {
  return !run.traces.empty() && (run.traces[0].scope.window || !run.traces[0].scope.device.empty());
}

// What runs on a CPU engine while it is busy.
std::string_view OperatorsText(const DeviceTotals& totals) {
  return totals.has_collectives_beside ? "operators, or collectives of other threads,"
                                       : "operators";
}

// What the busy part went to, and what exposed communication cost.
std::string Rest(const DeviceTotals& totals, const KernelTable& kernels, const IdleTable& idle) {
  std::string rest;
  // On a CPU engine all idle time is the host's: naming it would say nothing.
  if (!totals.on_host && IdleIsWorthNaming(totals) && !idle.causes.empty()) {
    rest = "; " + MainIdleCause(idle);
  } else if (!kernels.categories.empty()) {
    const CategoryRow& main = kernels.categories.front();
    rest = fmt::format("; {} takes {} of the {} time", VisibleText(main.category),
                       FormatShare(main.total, kernels.total), WorkWord(totals));
  }
  if (ShareOf(totals.exposed_comm, totals.window) >= kExposedWorthNaming) {
    rest += fmt::format("; communication is exposed for {} of the window",
                        FormatShare(totals.exposed_comm, totals.window));
  }
  return rest;
}

// " (60.0 % to 70.0 %)". Of several recordings that of one, which need not hold the share of all.
std::string BusyRange(const RankTable& ranks) {
  if (ranks.rows.empty()) return "";
  const bool several = std::ranges::any_of(
      ranks.rows, [&](const RankRow& row) { return row.recording != ranks.rows[0].recording; });
  if (several && ranks.busy_spread() == 0) return "";
  return fmt::format(" ({} % to {} %{})", FormatPercent(ranks.least_busy),
                     FormatPercent(ranks.most_busy), several ? " within one recording" : "");
}

// "; rank 3 computes longest: ...", "" when none stands out.
std::string StragglerClause(const RankTable& ranks) {
  const std::optional<Straggler> straggler = FindStraggler(ranks);
  if (!straggler) return "";
  const std::string label = RankLabel(ranks, ranks.rows[straggler->row]);
  if (straggler->sign == Straggler::Sign::kLeastCollectives) {
    return fmt::format(
        "; {} is in collectives for {}, the median of the others for {}: they may be waiting for "
        "it",
        label, FormatDuration(straggler->time), FormatDuration(straggler->others));
  }
  std::string clause =
      fmt::format("; {} computes longest: {}", label, FormatDuration(straggler->time));
  if (straggler->others.ns > 0) {
    clause +=
        fmt::format(", {} % more than the median of the others",
                    FormatPercent(ShareOf(straggler->time - straggler->others, straggler->others)));
  }
  return clause;
}

// Why there is no device time where an accelerator of another make did the work; "" where none did.
std::string OtherAccelerator(const TraceAnalysis& trace) {
  uint64_t events = 0;
  std::string_view kind;
  for (const auto& [category, count] : trace.facts.by_category) {
    const std::string_view name = category;
    const auto is = [&](std::string_view prefix) { return name.starts_with(prefix); };
    if (!is("mtia_") && !is("hpu_") && !is("glow_") && !is("privateuse1_")) continue;
    if (name.ends_with("_runtime") || name.ends_with("_driver")) continue;  // the host's
    events += count;
    if (kind.empty()) kind = name;
  }
  if (events == 0) return "";
  return fmt::format(
      "device time cannot be told: {} events are of an accelerator that is not read ({})", events,
      kind);
}

}  // namespace

std::string Caveat(const TraceAnalysis& trace) { return CaveatOf({&trace}); }
std::string Caveat(const RunAnalysis& run) { return CaveatOf(RanksOf(run)); }

std::string Verdict(const TraceAnalysis& trace, const RankTable& ranks) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  if (trace.counts.total == 0) {
    return "the file holds no event: is it a trace of PyTorch's profiler?";
  }
  if (totals.window.ns == 0) {
    if (std::string other = OtherAccelerator(trace); !other.empty()) return other;
  }
  if (!IsWorker(trace)) {
    return "a front-end's trace: no operator and no GPU work in it, so no device time to tell";
  }
  if (totals.window.ns == 0) {
    return fmt::format("no device work {}, so no device time to tell{}", Whereabouts(trace),
                       MissingRanks(ranks));
  }
  std::string who = "GPU busy";
  if (totals.on_host) {
    who = fmt::format("CPU engine: {} run for", OperatorsText(totals));
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
  const std::string out =
      fmt::format("{} {} of the window over {} traces",
                  totals.devices.on_host ? fmt::format("{} run for", OperatorsText(totals.devices))
                                         : "GPUs busy",
                  FormatShare(totals.devices.busy, totals.devices.window), totals.workers) +
      BusyRange(run.ranks);
  return out + Rest(totals.devices, totals.kernels, totals.idle) + StragglerClause(run.ranks) +
         MissingRanks(run.ranks);
}

RunVerdict VerdictOf(const RunAnalysis& run) {
  if (const TraceAnalysis* only = OnlyTrace(run)) return {Verdict(*only, run.ranks), Caveat(*only)};
  return {Verdict(run), Caveat(run)};
}

}  // namespace tacho
