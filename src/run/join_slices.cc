#include "run/join_slices.h"

#include <algorithm>
#include <utility>

#include "analysis/ranks/recordings.h"
#include "model/blank_secrets.h"
#include "model/trace_builder.h"
#include "run/outcome.h"

namespace tacho {

std::optional<InFlight> RequestsOf(const Trace& trace, const TraceSource& source,
                                   const RequestsByPath& in_flight) {
  const auto requests = in_flight.find(source.path);
  return requests == in_flight.end() ? std::nullopt : OnClockOf(trace, requests->second);
}

void JoinSlices(const SourceReader& read, const std::vector<TraceSource>& sources,
                const ReadOptions& options, bool keep_secrets, const RequestsByPath& in_flight,
                const Classifier& classifier, RunAnalysis& run) {
  std::vector<RankInput> workers = RankInputsOf(run);
  std::erase_if(workers,
                [](const RankInput& trace) { return trace.facts->role != TraceRole::kWorker; });
  const auto join = [&](const std::vector<size_t>& slices) {
    SlicesTogether together;
    RunProgress silent;
    TraceBuilder builder;
    bool whole = true;
    auto first = sources.end();
    for (const size_t slice : slices) {
      const auto source = std::ranges::find(sources, workers[slice].path, &TraceSource::Display);
      if (first == sources.end()) first = source;
      together.paths.push_back(workers[slice].path);
      size_t sinks = 0;
      const auto only_sink = [&](const std::string&) -> EventSink& {
        ++sinks;
        return builder;
      };
      whole = whole && source != sources.end() && source->path != "-" &&
              read(*source, StreamThreads::kInline, only_sink, silent).has_value() && sinks == 1;
    }
    if (!whole) return;
    Trace trace = std::move(builder).Finish();
    if (!keep_secrets) BlankSecretsOf(trace);
    TraceAnalysis analysis = AnalyzeTrace(trace, classifier,
                                          {.scope = {.window = {}, .device = options.device},
                                           .in_flight = RequestsOf(trace, *first, in_flight),
                                           .key_averages = false});
    if (analysis.devices.empty()) return;  // the slices look like several ranks in one file
    together.devices = std::move(analysis.devices);
    together.idle = std::move(analysis.idle);
    run.together.push_back(std::move(together));
  };
  for (const std::vector<size_t>& slices : OverlappingSlices(workers)) {
    WhileMemoryLasts([&] { join(slices); });
  }
}

}  // namespace tacho
