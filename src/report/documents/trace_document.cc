#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/findings.h"
#include "report/documents/analyze_document.h"
#include "report/documents/model_parts.h"
#include "report/documents/requests_document.h"
#include "report/tables/result_tables.h"
#include "report/words/caveat.h"
#include "report/words/idle_words.h"
#include "report/words/integrity_words.h"
#include "report/words/rank_text.h"
#include "report/words/verdict.h"
#include "text/format_number.h"

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
  return (count > 1 ? fmt::format("{} x ", count) : "") + names;
}

// What the file is: rank, engine, device, size.
std::vector<std::string> HeaderParts(const TraceAnalysis& trace) {
  const TraceFacts& facts = trace.facts;
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
  parts.push_back(SizeText(trace.bytes, trace.json_bytes));
  if (!trace.span.empty()) {
    parts.push_back(FormatDuration(trace.span.length()) + " from first to last event");
  }
  return parts;
}

// The parts of the line "trust": how far the figures can be trusted.
std::vector<std::string> TrustParts(const TraceAnalysis& trace, const RankTable& ranks,
                                    const DeviceTotals& totals) {
  std::vector<std::string> parts;
  parts.push_back(LossInWords(trace));
  if (trace.integrity.stops.any() && !trace.notes.ends_early())
    parts.emplace_back("the GPU's recording is shorter than the trace");
  if (trace.integrity.device_times() && !trace.integrity.common_clock())
    parts.emplace_back("host and device have no clock in common");
  if (!ranks.missing.empty()) parts.push_back("missing: " + MissingRanksText(ranks));
  AddTrustParts(parts, trace.launches.with_launch,
                trace.launches.gpu_events + trace.launches.without_correlation, LacksWork(trace),
                totals, trace.kernels);
  if (!trace.facts.options.empty()) {
    parts.push_back(fmt::format("recorded with {}", fmt::join(trace.facts.options, ", ")));
  }
  return parts;
}

// How much GPU work is linked to a launch: "929 pieces of GPU work, all linked to a launch; ...";
// "" without GPU work.
std::string LaunchesText(const LaunchTable& launches) {
  const uint64_t all = launches.gpu_events + launches.without_correlation;
  if (all == 0) return "";
  const auto count = [](uint64_t value) { return FormatCount(value); };
  std::string text = FormatCounted(all, "piece") + " of GPU work";
  const auto add = [&](uint64_t pieces, std::string_view what) {
    if (pieces > 0) text += fmt::format(", {} {}", pieces == all ? "all" : count(pieces), what);
  };
  add(launches.with_launch, "linked to a launch");
  add(launches.without_launch, "without a launch in the recording");
  add(launches.without_correlation, "not telling their launch");
  if (!launches.graphs.empty()) {
    const auto with_work = static_cast<uint64_t>(std::ranges::count_if(
        launches.graphs, [](const GraphLaunch& graph) { return graph.gpu_events > 0; }));
    const uint64_t graphs = launches.graphs.size();
    text += fmt::format("; {}{} {} of them", with_work == graphs ? "" : count(with_work) + " of ",
                        with_work == 1 && graphs > 1
                            ? FormatCounted(graphs, "", "graph launches carries")
                            : FormatCounted(graphs, "graph launch carries", "graph launches carry"),
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

// How much of the launch calls' time is profiler overhead: "3.60 ms of the 3.80 ms inside of 40
// launch calls are overhead that the profiler recorded, in 30 of them: 3.48 ms Command Buffer Full
// (the launch queue was full), ..."; "" without any overhead.
std::string OverheadText(const std::optional<OverheadInCalls>& overhead) {
  if (!overhead || overhead->total.ns == 0) return "";
  constexpr size_t kMost = 5;
  std::string text = fmt::format(
      "{} of the {} inside of {} are overhead that the profiler recorded, in {} of them",
      FormatDuration(overhead->total), FormatDuration(overhead->call_time),
      FormatCounted(overhead->calls, "launch call"), FormatCount(overhead->held_up));
  const std::vector<OverheadInCalls::Row>& rows = overhead->rows;
  for (size_t i = 0; i < std::min(rows.size(), kMost); ++i)
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", FormatDuration(rows[i].total),
                        OverheadInWords(rows[i].name));
  if (rows.size() > kMost) text += fmt::format(" and {} more", rows.size() - kMost);
  return text;
}

void AddLaunches(Document& document, const LaunchTable& launches) {
  const std::string text = LaunchesText(launches);
  if (text.empty()) return;
  document.AddPart(Heading{Heading::Level::kPart, "Launches"});
  document.Add(Paragraph{text});
  if (const std::string overhead = OverheadText(launches.overhead); !overhead.empty())
    document.Add(Paragraph{overhead});
  if (launches.apis.empty()) return;
  document.Add(TitledTable{.table = ApisTable(launches.apis, "call"),
                           .title = "Host calls",
                           .screen_rows = kTopCalls,
                           .markdown_rows = kTopCalls});
}

void AddLongestGaps(Document& document, const TraceAnalysis& trace, DurationNs idle,
                    const ScreenOptions& options) {
  IdleTable longest = LongGaps(trace.idle);
  std::vector<DurationNs> lengths;
  for (const IdleGap& gap : longest.gaps) lengths.push_back(gap.when.length());
  longest.gaps.resize(std::min(longest.gaps.size(), options.gaps));
  Table table =
      GapsTable(longest, trace.run_zero(), trace.devices.size() > 1, options.style, "gap");
  if (IsPart(trace)) table = WithoutNumbers(std::move(table));
  const size_t worth = RowsWorthShowing(lengths, idle, 1, options.gaps);
  document.AddPart(TitledTable{.table = std::move(table),
                               .title = "Longest gaps",
                               .screen_rows = worth,
                               .markdown_rows = options.gaps,
                               .cut = true});
  if (worth < longest.gaps.size())
    document.AddForScreen(
        Paragraph{"each other gap is less than 1 % of the idle time; --gaps lists more"});
}

void AddNotes(Document& document, const TraceAnalysis& trace) {
  if (trace.notes.list().empty() && trace.facts.cannot_tell.empty()) return;
  document.AddPart(Heading{Heading::Level::kPart, "Notes"});
  for (const Note& note : trace.notes.list()) document.Add(NoteRemark(note, trace.notes));
  document.Append(ProducerLines({&trace.header}));
  for (const std::string& sentence : trace.facts.cannot_tell)
    document.Add(Remark{"", "cannot tell: " + sentence});
}

NextCommand Next(const TraceAnalysis& trace, const RequestAnalysis& requests,
                 const ScreenOptions& options) {
  NextCommand next{"tacho analyze " + options.command_paths};
  if (trace.kernels.rows.size() > options.top) next.options.push_back({"--kernels", "all kernels"});
  if (trace.idle.gaps.size() > kTopGaps) next.options.push_back({"--gaps", "the longest gaps"});
  if (!trace.steps.steps.empty()) next.options.push_back({"--steps", "every step"});
  if (trace.layers.state == LayersState::kFound)
    next.options.push_back({"--layers", "each layer, by phase"});
  if (trace.graphs.state == GraphsState::kFound)
    next.options.push_back({"--graphs", "CUDA and HIP graphs, and what padding costs"});
  if (!trace.roofline.blocks.empty())
    next.options.push_back({"--roofline", "each block beside the hardware's limits"});
  if (trace.facts.python_stacks)
    next.options.push_back({"--sources", "the Python code that launches each kernel"});
  const auto shows_more = [](const DeviceMemory& memory) {
    return memory.peak && memory.peak->parts &&
           memory.peak->parts->operators.size() > kTopOperators;
  };
  if (std::ranges::any_of(trace.memory.devices, shows_more))
    next.options.push_back({"--memory", "all that was alive at the peaks"});
  AddFindingCommand(next, FindingsOf(trace, requests), options);
  AddRequestCommands(next, requests);
  next.options.push_back({"--json", "all figures, for programs"});
  AddPages(next, {&trace, 1}, options);
  return next;
}

}  // namespace

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
    line += fmt::format("{}only device {}", line.empty() ? "" : ", ", trace.scope.device);
  }
  return line;
}

Document TraceDocument(const TraceAnalysis& trace, const RankTable& ranks,
                       const ScreenOptions& options, const RequestAnalysis& requests) {
  const DeviceTotals totals = TotalsOf(trace.devices);
  const bool incomplete = !IsWhole(trace) || !ranks.missing.empty();
  Document document;
  document.Add(Subject{"trace", trace.path, HeaderParts(trace)});
  document.Add(Labelled{"scope", {ScopeText(trace)}, Paint::kYellow});
  document.Add(Labelled{"trust", TrustParts(trace, ranks, totals),
                        incomplete ? Paint::kYellow : Paint::kPlain});
  const std::string verdict = Verdict(trace, ranks, requests);
  const std::string caveat = Caveat(trace);
  AddVerdict(document, verdict, caveat);
  document.AddPart(TitledTable{.table = StepPhasesTable(trace.steps, "phase"),
                               .title = "Steps",
                               .screen_rows = options.top});
  AddRequests(document, requests);
  if (trace.devices.size() > 1) {
    Table devices = DevicesTable(trace.devices, "device");
    if (BusyIsLeast(trace)) SayBusyIsLeast(devices);
    document.AddPart(
        TitledTable{.table = std::move(devices), .title = "Devices", .markdown_rows = 16});
  }
  AddWhereTimeGoes(document, trace.idle, totals, WindowMeaning(trace));
  AddModel(document, trace);
  AddTopKernels(document, trace.kernels, totals, options);
  std::vector<DurationNs> self_of_ops;
  DurationNs self;
  for (const OpRow& row : trace.ops.rows) {
    self_of_ops.push_back(row.cpu_self);
    self += row.cpu_self;
  }
  const bool any_on_device = std::ranges::any_of(
      trace.ops.rows, [](const OpRow& row) { return row.device_outermost.ns > 0; });
  Table ops = OpsTable(trace.ops.rows, any_on_device, false, "name");
  if (LacksWork(trace)) SayDeviceIsLeast(ops);
  document.AddPart(TitledTable{.table = std::move(ops),
                               .title = "Top host operators",
                               .screen_rows = RowsWorthShowing(self_of_ops, self, 3, options.top)});
  AddCopies(document, trace.copies, options);
  AddMemory(document, trace.memory, trace.run_zero());
  AddLaunches(document, trace.launches);
  AddLongestGaps(document, trace, totals.idle, options);
  AddNotes(document, trace);
  if (options.command_paths.empty()) return document;
  document.Add(SaidAgain{"VERDICT", verdict, BriefVerdict(trace, ranks, requests), caveat});
  document.AddPart(Next(trace, requests, options));
  return document;
}

}  // namespace tacho
