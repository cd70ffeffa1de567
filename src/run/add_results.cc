#include "run/add_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace tacho {
namespace {

// Those of the options, as typed, that need events.
std::string NeedEvents(const ReadOptions& options) {
  std::vector<std::string> need;
  if (options.window) need.emplace_back("--window");
  if (!options.device.empty()) need.emplace_back("--device");
  if (options.own_rules) need.emplace_back("--rules");
  if (options.roofline.model) need.emplace_back("--model-config");
  if (options.sources.map) need.emplace_back("--stacks-from");
  return fmt::format("{}", fmt::join(need, " and "));
}

// The sentences about unproven ranks stay as they are: they begin with the name of a worker.
void PlaceOn(const std::string& host, Results& results) {
  const auto place = [&](std::string& path) { path.insert(0, host + ":"); };
  for (TraceAnalysis& trace : results.traces) place(trace.path);
  for (SlicesTogether& slices : results.together) std::ranges::for_each(slices.paths, place);
  for (auto* const texts : {&results.skipped, &results.failed, &results.captures})
    std::ranges::for_each(*texts, place);
}

}  // namespace

tl::unexpected<Error> NeedsEvents(const TraceSource& source, const std::string& options) {
  return Fail(ErrorKind::kUnreadable,
              fmt::format("{}: results of tacho analyze, which hold no events for {}: name the "
                          "trace itself",
                          source.path, options));
}

Result<Outcomes<TraceAnalysis>> TakeResults(const TraceSource& source, const TraceChoice& choice,
                                            const ReadOptions& options, Results& beside) {
  if (options.keeper != nullptr) return NeedsEvents(source, options.kept_for);
  if (const std::string need = NeedEvents(options); !need.empty()) return NeedsEvents(source, need);
  TACHO_ASSIGN_OR_RETURN(auto results, ReadResults(source));
  if (const auto host = options.hosts.find(source.path); host != options.hosts.end())
    PlaceOn(host->second, results);
  Outcomes<TraceAnalysis> outcomes;
  for (TraceAnalysis& trace : results.traces) {
    Outcome<TraceAnalysis>& outcome = outcomes.emplace_back();
    outcome.of_collection = results.is_collection;
    outcome.seen = Seen(trace, trace.path);
    outcome.seen.rank = trace.facts.rank;
    for (const DeviceTime& device : trace.devices) outcome.seen.devices.push_back(device.device);
    outcome.seen.lacks = LacksOf(trace.facts, choice);
    trace.results = source.path;
    if (outcome.seen.lacks == SeenTrace::Lacks::kNothing) outcome.item = std::move(trace);
    if (choice.first_worker_only && outcome.item) break;
  }
  // They were moved from: 5 kB each, of thousands of ranks.
  results.traces.clear();
  results.traces.shrink_to_fit();
  beside = std::move(results);
  return outcomes;
}

void AddResults(const std::vector<TraceSource>& sources, std::vector<Results>& beside,
                Readout<RunAnalysis>& readout) {
  RunAnalysis& run = readout.run;
  // Real traces before those from results.
  std::ranges::stable_sort(run.traces, {}, &TraceAnalysis::results);
  std::map<std::string, std::vector<const TraceAnalysis*>> of_path;
  std::vector<TraceAnalysis> traces;
  traces.reserve(run.traces.size());
  for (TraceAnalysis& trace : run.traces) {
    std::vector<const TraceAnalysis*>& same = of_path[trace.path];
    if (std::ranges::any_of(same,
                            [&](const TraceAnalysis* other) { return IsSameTrace(*other, trace); }))
      continue;
    const bool is_of_another = !same.empty();
    same.push_back(&traces.emplace_back(std::move(trace)));
    if (!is_of_another) continue;
    TraceAnalysis& added = traces.back();
    const std::string path = added.results + ":" + added.path;
    const auto source = std::ranges::find(sources, added.results, &TraceSource::path);
    for (SlicesTogether& slices : beside[static_cast<size_t>(source - sources.begin())].together)
      std::ranges::replace(slices.paths, added.path, path);
    added.path = path;
  }
  run.traces = std::move(traces);
  std::ranges::stable_sort(run.traces, {}, &TraceAnalysis::path);
  for (Results& results : beside) {
    for (SlicesTogether& slices : results.together) {
      if (std::ranges::find(run.together, slices.paths, &SlicesTogether::paths) ==
          run.together.end())
        run.together.push_back(std::move(slices));
    }
    for (std::string& failure : results.failed) {
      if (std::ranges::find(run.failed, failure) != run.failed.end()) continue;
      run.failed.push_back(failure);
      readout.failures.push_back({ErrorKind::kUnreadable, std::move(failure)});
    }
    std::ranges::move(results.skipped, std::back_inserter(run.skipped));
    std::ranges::move(results.captures, std::back_inserter(run.captures));
    for (std::string& sentence : results.unproven) {
      if (std::ranges::find(run.unproven, sentence) == run.unproven.end())
        run.unproven.push_back(std::move(sentence));
    }
  }
  if (sources.size() == 1) return;
  for (std::vector<std::string>* const files : {&run.skipped, &run.captures}) {
    std::ranges::sort(*files);
    files->erase(std::unique(files->begin(), files->end()), files->end());
  }
}

void TakeBlame(const std::vector<TraceSource>& sources, std::vector<Results>& beside,
               RunAnalysis& run) {
  if (sources.size() != 1 || !sources[0].is_results()) return;
  if (run.ranks.rows.size() == beside[0].rank_rows) run.ranks.blame = std::move(beside[0].blame);
}

}  // namespace tacho
