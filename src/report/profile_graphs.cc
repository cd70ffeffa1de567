#include <fmt/format.h>

#include <algorithm>

#include "report/profile_sections.h"
#include "report/result_tables.h"
#include "text/drawing.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kTimelineWidth = 70;
constexpr size_t kTimelineLabel = 8;
constexpr size_t kLongestLaunches = 10;

std::string Number(uint64_t count) { return FormatCount(static_cast<int64_t>(count)); }

std::string LaunchFacts(const LaunchTable& launches) {
  std::string out = Fact("graph launches:", Number(launches.graphs.size()));
  if (launches.graphs.empty()) return out;
  const DurationStats& calls = launches.graph_calls;
  out += Fact("CPU time in them:", FormatDuration(calls.total));
  out += Fact("one launch:", fmt::format("median {}, p99 {}, longest {}", FormatDuration(calls.p50),
                                         FormatDuration(calls.p99), FormatDuration(calls.max)));
  out += Fact("by their time:",
              fmt::format("{} below 1 ms, {} of 1 to 5 ms, {} above 5 ms",
                          Number(launches.graphs_under_1ms), Number(launches.graphs_1_to_5ms),
                          Number(launches.graphs_over_5ms)));
  return out +
         Fact("GPU work under them:", fmt::format("{}, {} at most under one launch",
                                                  FormatCounted(launches.graph_gpu_events, "piece"),
                                                  Number(launches.max_gpu_events_per_launch)));
}

std::string DecodeThroughput(const StepTable& steps) {
  const Throughput decode = ThroughputOf(steps, Phase::kDecode);
  if (decode.tokens == 0 || decode.time.ns <= 0) return "";
  return fmt::format(
      "  decode throughput: {} tokens in {} of decode steps, start to start = {} tokens/s\n",
      FormatCount(decode.tokens), FormatDuration(decode.time), FormatNumber(decode.per_second()));
}

// One line over a span of time: a column is marked where any of what was added lies.
class TimelineLine {
 public:
  explicit TimelineLine(Interval span) : span_(span), marked_(kTimelineWidth, false) {}

  void Add(Interval when) {
    for (size_t i = Column(when.start); i <= Column(when.end); ++i) marked_[i] = true;
    any_ = true;
  }
  // "" when nothing was added.
  [[nodiscard]] std::string Draw(std::string_view label, const TextStyle& style) const {
    if (!any_) return "";
    std::string line;
    for (const bool mark : marked_) line += StackedMark(mark ? 0 : 3, style);
    return fmt::format("  {} |{}|\n", PadRight(label, kTimelineLabel), line);
  }

 private:
  [[nodiscard]] size_t Column(TimeNs at) const {
    const double share =
        static_cast<double>((at - span_.start).ns) / static_cast<double>(span_.length().ns);
    return std::min(kTimelineWidth - 1, static_cast<size_t>(std::max(0.0, share) * kTimelineWidth));
  }

  Interval span_;
  std::vector<bool> marked_;
  bool any_ = false;
};

std::string LongestLaunches(std::vector<GraphLaunch> graphs, TimeNs origin,
                            const TextStyle& style) {
  std::ranges::stable_sort(graphs, [](const GraphLaunch& a, const GraphLaunch& b) {
    return a.call.length() > b.call.length();
  });
  const size_t all = graphs.size();
  graphs.resize(std::min(all, kLongestLaunches));
  const std::string title = all > graphs.size() ? "longest at" : "launch at";
  return "\n" + IndentedTable(GraphsTable(graphs, origin, title), style);
}

}  // namespace

std::string GraphSection(const TraceAnalysis& trace, const TextStyle& style) {
  const std::string out = SmallTitle("CUDA Graph Analysis", style) + LaunchFacts(trace.launches);
  if (trace.steps.steps.empty()) {
    return out + (trace.steps.method.empty()
                      ? "  steps: cannot tell, because the trace has no step annotation\n"
                      : fmt::format("  steps: none {}\n", Whereabouts(trace)));
  }
  return out + "\n" + IndentedTable(StepPhasesTable(trace.steps, "step"), style) +
         DecodeThroughput(trace.steps);
}

std::string LocationsSection(const TraceAnalysis& trace, const TextStyle& style) {
  const std::string title = SmallTitle("CUDA Graph Locations in Timeline", style);
  if (trace.span.empty()) return title + "  nothing in this trace takes time\n";
  std::string lines;
  for (const Phase phase :
       {Phase::kPrefill, Phase::kMixed, Phase::kDecode, Phase::kEmpty, Phase::kOther}) {
    TimelineLine line(trace.span);
    for (const Step& step : trace.steps.steps) {
      if (step.label.phase == phase) line.Add(step.when);
    }
    lines += line.Draw(PhaseName(phase), style);
  }
  TimelineLine launches(trace.span), work(trace.span);
  for (const GraphLaunch& graph : trace.launches.graphs) {
    launches.Add(graph.call);
    if (graph.gpu_events > 0) work.Add(graph.work);
  }
  lines += launches.Draw("launches", style) + work.Draw("GPU work", style);
  if (lines.empty()) {
    return title +
           fmt::format("  neither a graph launch nor a step annotation {}\n", Whereabouts(trace));
  }
  const std::string end = FormatDuration(trace.span.length());
  lines += fmt::format("  {} 0{}\n", PadRight("", kTimelineLabel), PadLeft(end, kTimelineWidth));
  if (!trace.launches.graphs.empty()) {
    lines += LongestLaunches(trace.launches.graphs, trace.span.start, style);
  }
  return title + lines;
}

}  // namespace tacho
