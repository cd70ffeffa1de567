#include <fmt/format.h>

#include <algorithm>

#include "report/analyze_text.h"
#include "report/rank_text.h"
#include "report/result_tables.h"
#include "report/screen_parts.h"
#include "report/verdict.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

std::string DeviceNames(const TraceAnalysis& trace) {
  std::string names;
  for (const DeviceTime& device : trace.devices) {
    if (device.on_host) return "CPU engine";
    for (const DeviceProperties& properties : trace.header.devices) {
      if (properties.id == device.device && names.find(properties.name) == std::string::npos) {
        names += (names.empty() ? "" : ", ") + properties.name;
      }
    }
  }
  if (names.empty()) return "";
  const size_t count = trace.devices.size();
  return (count > 1 ? fmt::format("{} x ", count) : "") + VisibleText(names);
}

}  // namespace

std::vector<std::string> HeaderParts(const TraceAnalysis& trace) {
  const TraceFacts& facts = trace.facts;
  const auto bytes = static_cast<int64_t>(trace.bytes),
             json_bytes = static_cast<int64_t>(trace.json_bytes);
  std::vector<std::string> parts;
  if (facts.role != TraceRole::kWorker) parts.emplace_back(TraceRoleName(facts.role));
  if (facts.rank) {
    parts.push_back(fmt::format("rank {}", *facts.rank) +
                    (facts.world_size ? fmt::format(" of {}", *facts.world_size) : ""));
  }
  parts.push_back(EngineText(facts));
  parts.push_back(facts.stage);
  parts.push_back(DeviceNames(trace));
  parts.push_back(FormatCounted(trace.counts.total, "event"));
  parts.push_back(bytes == json_bytes ? FormatBytes(bytes)
                                      : fmt::format("{} ({} of JSON)", FormatBytes(bytes),
                                                    FormatBytes(json_bytes)));
  if (!trace.span.empty()) {
    parts.push_back(FormatDuration(trace.span.length()) + " from first to last event");
  }
  return parts;
}

std::vector<std::string> TrustParts(const TraceAnalysis& trace, const RankTable& ranks,
                                    const DeviceTotals& totals) {
  std::vector<std::string> parts;
  parts.emplace_back(trace.notes.lost_data() ? "incomplete: totals are lower bounds (see NOTES)"
                                             : "no event lost");
  if (!ranks.missing.empty()) parts.push_back("missing: " + MissingRanksText(ranks));
  const uint64_t gpu_events = trace.launches.gpu_events + trace.launches.without_correlation;
  if (gpu_events > 0) {
    parts.push_back(LinkedText(trace.launches.with_launch, gpu_events));
    parts.push_back(OverlapsText(totals));
  }
  if (!trace.kernels.rows.empty()) {
    parts.push_back(fmt::format("{} % of {} time classified", FormatPercent(trace.kernels.coverage),
                                WorkWord(totals)));
  }
  if (!trace.facts.options.empty()) {
    parts.push_back(fmt::format("recorded with {}", fmt::join(trace.facts.options, ", ")));
  }
  return parts;
}

std::string ScopeText(const TraceAnalysis& trace) {
  std::string line;
  if (trace.scope.window) {
    line = fmt::format("only {} to {} of the trace",
                       FormatDuration(trace.scope.window->start - trace.span.start),
                       FormatDuration(trace.scope.window->end - trace.span.start));
    const auto cut =
        static_cast<uint64_t>(std::count_if(trace.steps.steps.begin(), trace.steps.steps.end(),
                                            [](const Step& step) { return step.cut; }));
    if (cut > 0)
      line += fmt::format("; {} {} beyond it and {} counted whole", FormatCounted(cut, "step"),
                          cut == 1 ? "reaches" : "reach", cut == 1 ? "is" : "are");
  }
  if (!trace.scope.device.empty()) {
    line +=
        fmt::format("{}only device {}", line.empty() ? "" : ", ", VisibleText(trace.scope.device));
  }
  return line;
}

std::string LaunchesText(const LaunchTable& launches) {
  const uint64_t all = launches.gpu_events + launches.without_correlation;
  if (all == 0) return "";
  const auto count = [](uint64_t value) { return FormatCount(static_cast<int64_t>(value)); };
  std::string text = FormatCounted(all, "piece") + " of GPU work";
  const auto add = [&](uint64_t pieces, std::string_view what) {
    if (pieces > 0) text += fmt::format(", {} {}", pieces == all ? "all" : count(pieces), what);
  };
  add(launches.with_launch, "linked to a launch");
  add(launches.without_launch, "launched before the recording began");
  add(launches.without_correlation, "not telling their launch");
  if (!launches.graphs.empty()) {
    text += fmt::format(
        "; {} {} of them",
        FormatCounted(launches.graphs.size(), "graph launch carries", "graph launches carry"),
        count(launches.graph_gpu_events));
    if (launches.graphs.size() > 1) {
      text += fmt::format(", {} at most", count(launches.max_gpu_events_per_launch));
    }
  } else {
    text += "; no graph launch";
  }
  if (launches.shorter_than_launch > 0) {
    text +=
        "; " + FormatCounted(launches.shorter_than_launch, "kernel is shorter than its launch call",
                             "kernels are shorter than their launch call");
  }
  if (launches.delay.count > 0) {
    text += fmt::format("; delay from launch to start: median {}, p99 {}",
                        FormatDuration(launches.delay.p50), FormatDuration(launches.delay.p99));
  }
  return text;
}

namespace {

std::string StepsTitle(const StepTable& steps) {
  if (steps.method == "annotated" || steps.method.empty()) return "STEPS";
  return fmt::format("STEPS ({})", steps.method);
}

std::string LaunchLines(const LaunchTable& launches, const TextStyle& style) {
  const std::string text = LaunchesText(launches);
  if (text.empty()) return "";
  Table calls = ApisTable(launches.apis, "HOST CALLS");
  FoldRows(calls, kTopCalls);
  return fmt::format("\n{}\n {}\n{}", Painted(" LAUNCHES", Paint::kBold, style),
                     Wrap(text, style.width - 1, 1, style.unicode),
                     calls.rows.empty() ? "" : RenderText(calls, style));
}

std::string NotesPart(const TraceAnalysis& trace, const TextStyle& style) {
  if (trace.notes.list().empty() && trace.facts.cannot_tell.empty()) return "";
  std::string out = "\n" + Painted(" NOTES", Paint::kBold, style) + "\n";
  for (const Note& note : trace.notes.list()) out += NoteLines(note, "", style);
  for (const std::string& sentence : trace.facts.cannot_tell) {
    out += " " +
           Wrap("cannot tell: " + VisibleText(sentence, style.unicode), style.width - 1, 3,
                style.unicode) +
           "\n";
  }
  return out;
}

std::string Next(const TraceAnalysis& trace, const ScreenOptions& options) {
  if (options.command_paths.empty()) return "";
  std::vector<NextOption> more;
  if (trace.kernels.rows.size() > options.top) more.push_back({"--kernels", "all kernels"});
  if (trace.idle.gaps.size() > kTopGaps) more.push_back({"--gaps", "the longest gaps"});
  if (!trace.steps.steps.empty()) more.push_back({"--steps", "every step"});
  more.push_back({"--json", "all figures, for programs"});
  return NextOptions("tacho analyze " + options.command_paths, more, options.style);
}

}  // namespace

std::string TraceScreen(const TraceAnalysis& trace, const RankTable& ranks,
                        const ScreenOptions& options) {
  const TextStyle& style = options.style;
  const DeviceTotals totals = TotalsOf(trace.devices);
  const bool many_devices = trace.devices.size() > 1;
  std::string out;
  out += Labelled("trace", VisibleText(trace.path, style.unicode), Paint::kBold, style);
  out += LabelledParts("", HeaderParts(trace), Paint::kPlain, style);
  if (const std::string scope = ScopeText(trace); !scope.empty()) {
    out += Labelled("scope", scope, Paint::kYellow, style);
  }
  const bool incomplete = trace.notes.lost_data() || !ranks.missing.empty();
  out += LabelledParts("trust", TrustParts(trace, ranks, totals),
                       incomplete ? Paint::kYellow : Paint::kPlain, style);
  const std::string verdict = Verdict(trace, ranks);
  out += VerdictLines(verdict, Caveat(trace), style);
  out += Section(StepPhasesTable(trace.steps, StepsTitle(trace.steps)), options.top, style);
  if (many_devices) out += Section(DevicesTable(trace.devices), trace.devices.size(), style);
  out += WhereTimeGoes(trace.idle, totals, WindowMeaning(trace), style);

  std::vector<DurationNs> totals_of_kernels, self_of_ops;
  DurationNs self;
  for (const KernelRow& row : trace.kernels.rows) totals_of_kernels.push_back(row.stats.total);
  for (const OpRow& row : trace.ops.rows) {
    self_of_ops.push_back(row.cpu_self);
    self += row.cpu_self;
  }
  out += Section(KernelsTable(trace.kernels, totals, style, TopWorkTitle(totals)),
                 RowsWorthShowing(totals_of_kernels, trace.kernels.total, 3, options.top), style);
  out += Section(OpsTable(trace.ops.rows, !totals.on_host, false, "TOP HOST OPERATORS"),
                 RowsWorthShowing(self_of_ops, self, 3, options.top), style);
  out += Section(CopiesTable(trace.copies), options.top, style);
  out += LaunchLines(trace.launches, style);
  IdleTable longest = LongGaps(trace.idle);
  std::vector<DurationNs> lengths;
  for (const IdleGap& gap : longest.gaps) lengths.push_back(gap.when.length());
  longest.gaps.resize(RowsWorthShowing(lengths, totals.idle, 1, kTopGaps));
  out += Section(GapsTable(longest, trace.span.start, many_devices, style, "LONGEST GAPS"),
                 kTopGaps, style);
  out += NotesPart(trace, style);
  const std::string next = Next(trace, options);
  return out + (next.empty() ? "" : VerdictAgain(out, verdict, BriefVerdict(trace, ranks), style)) +
         next;
}

}  // namespace tacho
