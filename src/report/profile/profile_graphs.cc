#include <fmt/format.h>

#include <algorithm>

#include "report/profile/profile_sections.h"
#include "report/tables/result_tables.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kTimelineWidth = 70;
constexpr size_t kTimelineLabel = 8;
constexpr size_t kLongestLaunches = 10;

void AddLaunchFacts(Document& document, const LaunchTable& launches) {
  AddFact(document, "graph launches:", FormatCount(launches.graphs.size()));
  if (launches.graphs.empty()) return;
  const DurationStats& calls = launches.graph_calls;
  AddFact(document, "CPU time in them:", FormatDuration(calls.total));
  AddFact(document, "one launch:",
          fmt::format("median {}, p99 {}, longest {}", FormatDuration(calls.p50),
                      FormatDuration(calls.p99), FormatDuration(calls.max)));
  AddFact(document, "by their time:",
          fmt::format("{} below 1 ms, {} of 1 to 5 ms, {} above 5 ms",
                      FormatCount(launches.graphs_under_1ms), FormatCount(launches.graphs_1_to_5ms),
                      FormatCount(launches.graphs_over_5ms)));
  AddFact(document, "GPU work under them:",
          fmt::format("{}, {} at most under one launch",
                      FormatCounted(launches.graph_gpu_events, "piece"),
                      FormatCount(launches.max_gpu_events_per_launch)));
}

void AddDecodeThroughput(Document& document, const StepTable& steps) {
  const Throughput decode = ThroughputOf(steps, Phase::kDecode);
  if (decode.tokens == 0 || decode.time.ns <= 0) return;
  AddLine(document,
          fmt::format(
              "decode throughput: {} tokens in {} of decode steps, start to start = {} tokens/s",
              FormatCount(decode.tokens), FormatDuration(decode.time),
              FormatNumber(decode.per_second())));
}

// A line of text that stands for a span of time. A column is marked if an added interval touches
// it.
class TimelineLine {
 public:
  explicit TimelineLine(Interval span) : span_(span), marks_(kTimelineWidth, 0) {}

  void Add(Interval when) {
    for (size_t i = Column(when.start); i <= Column(when.end); ++i) marks_[i] = 1;
    any_ = true;
  }
  // Adds the line to the document, unless it has no marks.
  void AddTo(Document& document, std::string_view label) const {
    if (any_)
      document.Add(DrawnLine{fmt::format("{} |", PadRight(label, kTimelineLabel)), marks_, "|"});
  }

 private:
  [[nodiscard]] size_t Column(TimeNs at) const {
    const double share =
        static_cast<double>((at - span_.start).ns) / static_cast<double>(span_.length().ns);
    return std::min(kTimelineWidth - 1, static_cast<size_t>(std::max(0.0, share) * kTimelineWidth));
  }

  Interval span_;
  std::vector<double> marks_;
  bool any_ = false;
};

void AddLongestLaunches(Document& document, std::vector<GraphLaunch> graphs, TimeNs origin) {
  std::ranges::stable_sort(graphs, [](const GraphLaunch& a, const GraphLaunch& b) {
    return a.call.length() > b.call.length();
  });
  const size_t all = graphs.size();
  graphs.resize(std::min(all, kLongestLaunches));
  document.AddPart(
      TitledTable{GraphsTable(graphs, origin, all > graphs.size() ? "longest at" : "launch at")});
}

}  // namespace

void AddGraphs(Document& document, const TraceAnalysis& trace) {
  AddSection(document, "CUDA Graph Analysis");
  AddLaunchFacts(document, trace.launches);
  if (trace.steps.steps.empty())
    return AddLine(document, trace.steps.method.empty()
                                 ? "steps: cannot tell, because the trace has no step annotation"
                                 : fmt::format("steps: none {}", Whereabouts(trace)));
  document.AddPart(TitledTable{StepPhasesTable(trace.steps, "step")});
  AddDecodeThroughput(document, trace.steps);
}

void AddGraphLocations(Document& document, const TraceAnalysis& trace) {
  AddSection(document, "CUDA Graph Locations in Timeline");
  if (trace.span.empty()) return AddLine(document, "nothing in this trace takes time");
  const std::vector<GraphLaunch>& graphs = trace.launches.graphs;
  if (trace.steps.steps.empty() && graphs.empty())
    return AddLine(document, fmt::format("neither a graph launch nor a step annotation {}",
                                         Whereabouts(trace)));
  for (const Phase phase :
       {Phase::kPrefill, Phase::kMixed, Phase::kDecode, Phase::kEmpty, Phase::kOther}) {
    TimelineLine line(trace.span);
    for (const Step& step : trace.steps.steps) {
      if (step.label.phase == phase) line.Add(step.when);
    }
    line.AddTo(document, PhaseName(phase));
  }
  TimelineLine launches(trace.span), work(trace.span);
  for (const GraphLaunch& graph : graphs) {
    launches.Add(graph.call);
    if (!graph.work.empty()) work.Add(graph.work);
  }
  launches.AddTo(document, "launches");
  work.AddTo(document, "GPU work");
  const std::string end = FormatDuration(trace.span.length());
  AddLine(document,
          fmt::format("{} 0{}", PadRight("", kTimelineLabel), PadLeft(end, kTimelineWidth)));
  if (!graphs.empty()) AddLongestLaunches(document, graphs, trace.span.start);
}

}  // namespace tacho
