#include "cli/export/export_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "export/export_window.h"
#include "export/gpu_csv.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

const char* const kKeptForExport = "an export";

// Turns the traces that ReadRun reads into ranks of a timeline.
class RanksOfExport : public TraceKeeper {
 public:
  explicit RanksOfExport(const Classifier& classifier) : classifier_(classifier) {}

  void OnTrace(size_t, const std::string& path, std::unique_ptr<const Trace> trace,
               const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) override {
    auto rank =
        std::make_unique<ViewedRank>(path, std::move(trace), prepared, classifier_, in_flight);
    const std::lock_guard lock(mutex_);
    ranks_.push_back(std::move(rank));
  }

  // The kept ranks that `analysis` contains, in its order.
  std::unique_ptr<ViewedRun> TakeRun(const RunAnalysis& analysis) {
    std::vector<std::string> paths;
    std::vector<std::unique_ptr<ViewedRank>> ranks;
    for (const TraceAnalysis& of : analysis.traces) {
      const auto found = std::ranges::find_if(
          ranks_, [&](const auto& rank) { return rank && rank->path() == of.path; });
      if (found == ranks_.end()) continue;
      paths.push_back(of.path);
      ranks.push_back(std::move(*found));
    }
    auto run = std::make_unique<ViewedRun>(std::move(paths));
    for (size_t i = 0; i < ranks.size(); ++i) run->Add(std::move(ranks[i]), i);
    return run;
  }

 private:
  const Classifier& classifier_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ViewedRank>> ranks_;
};

// The error if no trace has the part.
tl::unexpected<Error> NoPart(const std::vector<std::string>& without) {
  return Fail(ErrorKind::kUsage,
              without.front() + (without.size() == 1
                                     ? ""
                                     : fmt::format(" (and so for {})",
                                                   FormatCounted(without.size() - 1, "other trace",
                                                                 "other traces"))));
}

}  // namespace

Result<Interval> ExportPart::Of(const std::string& path, const Trace& trace,
                                const LaunchLinks& links, const std::vector<Step>& steps) const {
  const auto fail = [&](std::string why) {
    return Fail(ErrorKind::kUsage, VisibleText(path) + ": " + std::move(why));
  };
  Interval part = kAllTime;
  if (window) {
    const auto on = window->On(trace.span);
    if (!on)
      return fail(fmt::format("--window begins at {}, after the end of the trace at {}",
                              FormatDuration(window->begin.value_or(DurationNs{0})),
                              FormatDuration(trace.span.length())));
    part = *on;
  }
  if (step) {
    if (static_cast<size_t>(*step) > steps.size())
      return fail(steps.empty() ? "--step: the trace names no step of the engine"
                                : fmt::format("--step {}: it has {}", *step,
                                              FormatCounted(steps.size(), "step")));
    part = WindowOfStep(trace, links, steps[static_cast<size_t>(*step) - 1]);
  }
  if ((window || step) && !HasSlices(trace, part))
    return fail("nothing was recorded in " + Words(trace.span));
  return part;
}

std::string ExportPart::Words(Interval span) const {
  if (step) return fmt::format("--step {}", *step);
  if (!window) return "it";
  return fmt::format(
      "--window {} to {} of a trace of {}", FormatDuration(window->begin.value_or(DurationNs{0})),
      window->end ? FormatDuration(*window->end) : "the end", FormatDuration(span.length()));
}

Result<ViewedExport> ReadViewedExport(const ReadingArguments& arguments, const TraceChoice& choice,
                                      const Classifier& classifier, const ExportPart& part) {
  RanksOfExport keeper(classifier);
  const ReadOptions reading{.keeper = &keeper, .kept_for = kKeptForExport};
  TACHO_ASSIGN_OR_RETURN(auto readout, ReadChosen(arguments, choice, reading, classifier));
  ViewedExport out{keeper.TakeRun(readout.run), {}, {}, std::move(readout)};
  const ReadRanks ranks = out.run->ranks();
  const std::vector<RankEntry> entries = out.run->entries();
  for (uint32_t i = 0; i < ranks.size(); ++i) {
    const ViewedRank& rank = *ranks[i];
    const auto window =
        part.Of(rank.path(), rank.trace(), rank.view().links(), rank.view().steps());
    if (window)
      out.ranks.push_back({&rank, i, *window, entries[i].label});
    else
      out.without.push_back(window.error().message);
  }
  if (out.ranks.empty()) return NoPart(out.without);
  return out;
}

Result<QueriedExport> ReadQueriedExport(const ReadingArguments& arguments,
                                        const TraceChoice& choice, const Classifier& classifier,
                                        const ExportPart& part) {
  TACHO_ASSIGN_OR_RETURN(auto read, ReadQueried(arguments, choice, classifier, kKeptForExport));
  QueriedExport out{std::move(read), {}, {}};
  for (const auto& trace : out.read.run->traces) {
    const PreparedTrace& prepared = trace->prepared();
    auto window = part.Of(trace->path(), trace->trace(), prepared.links, prepared.steps.steps);
    if (window && part.gpu_alone && !HasGpuLines(*trace, *window))
      window = Fail(ErrorKind::kUsage,
                    fmt::format("{}: no kernel, copy or memset was recorded in {}",
                                VisibleText(trace->path()), part.Words(trace->trace().span)));
    out.windows.push_back(window ? *window : kNoTime);
    if (!window) out.without.push_back(window.error().message);
  }
  if (out.without.size() == out.windows.size()) return NoPart(out.without);
  // If whole traces are exported, a trace without GPU work (such as a front end's) does not make
  // the export incomplete.
  if (!part.window && !part.step) out.without.clear();
  return out;
}

}  // namespace tacho
