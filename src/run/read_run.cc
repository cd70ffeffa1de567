#include "run/read_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "analysis/ranks/digest_bytes.h"
#include "analysis/requests/run_requests.h"
#include "base/base64.h"
#include "base/parallel.h"
#include "io/trace_sources.h"
#include "model/blank_secrets.h"
#include "model/producer_line.h"
#include "model/trace_builder.h"
#include "run/add_results.h"
#include "run/copied_traces.h"
#include "run/join_slices.h"
#include "run/kept_acceptance.h"
#include "run/model_config.h"
#include "run/outcome.h"
#include "run/read_requests.h"
#include "run/run_place.h"
#include "run/unproven_ranks.h"

namespace tacho {
namespace {

using Lacks = SeenTrace::Lacks;

template <typename Sink>
struct SourcePart {
  std::string name;  // the name that NextSink was called with
  Sink sink;
};
template <typename Sink>
// Pointers, so that the sinks do not move.
using Parts = std::vector<std::unique_ptr<SourcePart<Sink>>>;

struct InputPlan {
  Discovery found;
  size_t threads = 1;
  StreamThreads stream_threads = StreamThreads::kInline;
  bool is_collection = false;
  std::optional<SessionChoice> sessions;  // absent if the paths do not show them
};

// Keeps only sources of the chosen session, if the paths show their sessions. If there are results,
// keeps all: the path of a file of results does not show the sessions of the traces in it.
void ChooseByName(const std::string& session, InputPlan& plan) {
  if (std::ranges::any_of(plan.found.traces, &TraceSource::is_results)) return;
  std::vector<std::string> paths;
  for (const TraceSource& source : plan.found.traces) paths.push_back(source.Display());
  auto sessions = SessionsByName(paths);
  if (!sessions) return;
  plan.sessions = ChooseSession(session, *std::move(sessions), std::move(paths));
  const std::vector<bool> chosen = plan.sessions->IsChosen();
  size_t next = 0;
  std::erase_if(plan.found.traces, [&](const TraceSource&) { return !chosen[next++]; });
}

Result<InputPlan> PlanInput(const TraceChoice& choice, RunProgress& progress) {
  InputPlan plan;
  TACHO_ASSIGN_OR_RETURN(plan.found, FindTraces(choice.paths));
  const std::vector<TraceSource>& traces = plan.found.traces;
  plan.is_collection = choice.is_run || choice.paths.size() > 1 || traces.size() != 1 ||
                       !traces[0].member.empty() || traces[0].path != choice.paths[0];
  if (!choice.session.empty()) ChooseByName(choice.session, plan);
  plan.threads = choice.threads == 0 ? CoreCount() : choice.threads;
  // There are fewer files than cores, so the other cores can decompress ahead.
  if (traces.size() < plan.threads) plan.stream_threads = StreamThreads::kAhead;
  bool all_known = true;
  uint64_t total = 0;
  for (const TraceSource& source : traces) {
    all_known = all_known && source.stored_bytes > 0;
    total += source.stored_bytes;
  }
  progress.OnPlan(traces.size(), all_known ? total : 0);
  return plan;
}

// Runs `job` for one source. If one trace does not fit into memory, the others must still be read.
template <typename Item, typename Job>
Result<Outcomes<Item>> RunJob(const InputPlan& plan, size_t source, std::string_view out_of_memory,
                              const Job& job) {
  Result<Outcomes<Item>> outcomes = FailAt(
      ErrorKind::kUnreadable, plan.found.traces[source].Display(), std::string(out_of_memory));
  WhileMemoryLasts([&] { outcomes = job(plan.found.traces[source], source, plan.stream_threads); });
  return outcomes;
}

// Finds the sessions of traces that were read, and chooses one.
SessionChoice ChooseByContent(const std::string& session, const std::vector<SeenTrace>& seen) {
  std::vector<RankInput> inputs;
  std::vector<std::string> paths;
  for (const SeenTrace& trace : seen) {
    RankInput& input = inputs.emplace_back();
    input.path = trace.path;
    input.base_time_ns = trace.base_time_ns;
    input.span = trace.span;
    input.trace_id = trace.trace_id;
    paths.push_back(trace.path);
  }
  return ChooseSession(session, SessionsOf(inputs), std::move(paths));
}

// Takes over the lists of what was found but is not read.
template <typename Run>
void TakeOthers(Discovery& found, Readout<Run>& readout) {
  readout.run.skipped = std::move(found.skipped);
  readout.run.captures = std::move(found.captures);
  readout.failures = std::move(found.failures);
}

// Runs `job` for each source and collects the outcomes in the order of the sources.
template <typename Item, typename Run, typename Job>
Result<Readout<Run>> Collect(InputPlan plan, const TraceChoice& choice,
                             std::string_view out_of_memory, const Job& job,
                             TraceKeeper* keeper = nullptr) {
  const std::vector<TraceSource>& sources = plan.found.traces;
  std::vector<Result<Outcomes<Item>>> outcomes(sources.size());
  size_t ran = 0;
  const auto run = [&](size_t i) {
    if (keeper != nullptr) keeper->OnBegin(i);
    outcomes[i] = RunJob<Item>(plan, i, out_of_memory, job);
    if (keeper != nullptr) keeper->OnEnd(i, outcomes[i] ? nullptr : &outcomes[i].error());
  };
  if (choice.first_worker_only) {
    while (ran < sources.size()) {
      run(ran++);
      if (outcomes[ran - 1] && !outcomes[ran - 1]->empty() && outcomes[ran - 1]->back().item) {
        break;
      }
    }
    outcomes.resize(ran);
  } else {
    ParallelFor(sources.size(), plan.threads, run);
  }
  Readout<Run> readout;
  readout.is_collection = plan.is_collection;
  readout.sessions = std::move(plan.sessions);
  TakeOthers(plan.found, readout);
  std::vector<std::optional<Item>> items;
  for (Result<Outcomes<Item>>& of_source : outcomes) {
    if (!of_source && of_source.error().kind == ErrorKind::kInterrupted)
      return tl::unexpected<Error>(of_source.error());
    if (!of_source) {
      readout.failures.push_back(of_source.error());
      continue;
    }
    readout.is_collection = readout.is_collection || of_source->size() > 1;
    for (Outcome<Item>& outcome : *of_source) {
      readout.is_collection = readout.is_collection || outcome.of_collection;
      readout.seen.push_back(std::move(outcome.seen));
      items.push_back(std::move(outcome.item));
    }
  }
  if (items.empty() && !readout.failures.empty() && !sources.empty()) {
    Error error = readout.failures.front();
    if (readout.failures.size() > 1) {
      error.message += fmt::format(" (and none of the {} other inputs can be read)",
                                   readout.failures.size() - 1);
    }
    return tl::unexpected<Error>(std::move(error));
  }
  if (!choice.session.empty() && !readout.sessions) {
    readout.sessions = ChooseByContent(choice.session, readout.seen);
    const std::vector<bool> chosen = readout.sessions->IsChosen();
    size_t seen = 0, item = 0;
    std::erase_if(readout.seen, [&](const SeenTrace&) { return !chosen[seen++]; });
    std::erase_if(items, [&](const std::optional<Item>&) { return !chosen[item++]; });
  }
  for (std::optional<Item>& item : items) {
    if (item) readout.run.traces.push_back(*std::move(item));
  }
  for (const Error& failure : readout.failures) readout.run.skipped.push_back(failure.message);
  std::sort(readout.run.skipped.begin(), readout.run.skipped.end());
  return readout;
}

std::vector<std::string> DevicesOf(const Trace& trace) {
  std::set<std::string_view> devices;
  for (const Stream& stream : trace.words.streams()) devices.insert(trace.Text(stream.device));
  return {devices.begin(), devices.end()};
}

template <typename Item>
void Place(const std::string& path, const TraceSizes& sizes, Item& item) {
  item.path = path;
  item.bytes = sizes.stored;
  item.json_bytes = sizes.json;
}

// Reads each trace of one source into a sink of its own. `parts`: the sinks, sorted by name. A
// single trace gets no name.
template <typename Sink>
Result<TraceSizes> ReadParts(const SourceReader& read, const TraceSource& source,
                             StreamThreads threads, RunProgress& progress, Parts<Sink>& parts) {
  const auto next_sink = [&](const std::string& name) -> EventSink& {
    std::erase_if(parts, [&](const auto& part) { return part->name == name; });
    parts.push_back(std::make_unique<SourcePart<Sink>>());
    parts.back()->name = name;
    return parts.back()->sink;
  };
  TACHO_ASSIGN_OR_RETURN(const TraceSizes sizes, read(source, threads, next_sink, progress));
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a->name < b->name; });
  if (parts.size() == 1 && source.part.empty()) parts.front()->name.clear();
  return sizes;
}

// Reads one source. `more` computes the items of those traces that are of the chosen ranks.
template <typename Item, typename More>
Result<Outcomes<Item>> ReadTraces(const SourceReader& read, const TraceSource& source,
                                  StreamThreads threads, const TraceChoice& choice,
                                  RunProgress& progress, const More& more) {
  Parts<TraceBuilder> parts;
  TACHO_ASSIGN_OR_RETURN(const auto sizes, ReadParts(read, source, threads, progress, parts));
  Outcomes<Item> outcomes;
  bool first = true;
  for (const auto& part : parts) {
    Trace trace = std::move(part->sink).Finish();
    const std::string path = TracePath(source, part->name);
    Outcome<Item>& outcome = outcomes.emplace_back();
    outcome.first = first;
    outcome.seen = Seen(trace, path);
    if (!choice.keep_secrets) outcome.seen.blanked = BlankSecretsOf(trace);
    outcome.seen.devices = DevicesOf(trace);
    if (!choice.ranks.empty() || choice.first_worker_only) {
      const TraceFacts facts = GatherFacts(trace, path);
      outcome.seen.rank = facts.rank;
      outcome.seen.lacks = LacksOf(facts, choice);
    }
    if (outcome.seen.lacks == Lacks::kNothing) more(std::move(trace), outcome);
    if (!outcome.item) continue;
    Place(path, sizes, *outcome.item);
    first = false;
    if (choice.first_worker_only) break;
  }
  return outcomes;
}

// Whether a trace that was missing in a recording has been added since.
bool IsThereNow(const UnprovenRank& rank, const RunAnalysis& run) {
  return rank.without_file && std::ranges::any_of(run.traces, [&](const TraceAnalysis& trace) {
           const TraceFacts& facts = trace.facts;
           return facts.rank && std::pair(facts.identity.worker, *facts.rank) == *rank.without_file;
         });
}

// Adds what is said of unproven ranks and was not in results. If the user named only folders of
// workers, adds only sentences about these workers.
void AddUnproven(const TraceChoice& choice, RunAnalysis& run) {
  std::vector<std::string> paths, workers;
  for (const TraceAnalysis& trace : run.traces)
    paths.push_back(trace.results.empty() ? trace.path : trace.results);
  for (const std::string& path : choice.paths)
    if (const auto place = RunPlaceOf(path)) workers.push_back(place->worker);
  const bool by_worker = workers.size() == choice.paths.size();
  for (UnprovenRank& rank : FindUnproven(paths)) {
    const bool is_asked =
        !by_worker || std::ranges::any_of(workers, [&](const std::string& worker) {
          return IsOfWorker(rank.sentence, worker);
        });
    const bool is_known = std::ranges::find(run.unproven, rank.sentence) != run.unproven.end();
    if (is_asked && !is_known && !IsThereNow(rank, run))
      run.unproven.push_back(std::move(rank.sentence));
  }
}

// Adds the requests of a recording if all traces belong to it. `given`: from ReadOptions.
void AddRequestsOfRun(const RequestTable* given, RunAnalysis& run) {
  std::set<std::string> folders;
  for (const TraceAnalysis& trace : run.traces) {
    const auto place = trace.results.empty() ? RunPlaceOf(trace.path) : std::nullopt;
    folders.insert(place ? place->folder : "");
  }
  if (folders.size() == 1 && !folders.begin()->empty())
    AnalyzeRequests(run, given != nullptr ? *given : ReadRequests(*folders.begin()));
}

TraceAnalysis NotAnalysed(const std::string& path, const TraceHeader& header, TraceFacts facts,
                          Interval span) {
  TraceAnalysis analysis;
  analysis.path = path;
  analysis.header = header;
  analysis.facts = std::move(facts);
  analysis.span = span;
  return analysis;
}

// Finds what is missing in a run whose traces were not analyzed.
void FindMissing(const TraceChoice& choice, bool whole, RunAnalysis& run) {
  AnalyzeRun(run, whole);
  if (whole) AddUnproven(choice, run);
}

}  // namespace

std::optional<Interval> TraceWindow::On(Interval span) const {
  if (begin && *begin >= span.length()) return std::nullopt;
  return Interval{span.start + begin.value_or(DurationNs{0}),
                  end && *end < span.length() ? span.start + *end : span.end};
}

// Long: each trace goes through several stages, from its source to its figures; they stand here in
// their order.
Result<Readout<RunAnalysis>> ReadRun(const TraceChoice& choice, const ReadOptions& options,
                                     const Classifier& classifier, RunProgress& progress,
                                     const SourceReader& read) {
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanInput(choice, progress));
  const std::vector<TraceSource> sources = plan.found.traces;
  const auto in_flight = FindInFlight(sources, options.in_flight);
  if (options.keeper != nullptr) options.keeper->OnFound(plan.found);
  std::vector<Results> beside(sources.size());
  auto readout = Collect<TraceAnalysis, RunAnalysis>(
      std::move(plan), choice, "needs more memory than there is: try --summary",
      [&](const TraceSource& source, size_t number, StreamThreads threads) {
        if (source.is_results()) return TakeResults(source, choice, options, beside[number]);
        return ReadTraces<TraceAnalysis>(
            read, source, threads, choice, progress,
            [&](Trace&& read_trace, Outcome<TraceAnalysis>& outcome) {
              Scope scope{.window = {}, .device = options.device};
              if (options.window) {
                scope.window = options.window->On(read_trace.span);
                if (!scope.window) {
                  outcome.seen.lacks = Lacks::kWindow;
                  return;
                }
              }
              const std::optional<InFlight> requests = RequestsOf(read_trace, source, in_flight);
              auto kept = std::make_unique<const Trace>(std::move(read_trace));
              const Trace& trace = *kept;
              TraceAnalysis analysis = [&] {
                const size_t at_once = threads == StreamThreads::kAhead ? 2 : 1;
                const PreparedTrace prepared = Prepare(trace, classifier, scope, at_once);
                if (options.keeper != nullptr)
                  options.keeper->OnTrace(number, outcome.seen.path, std::move(kept), prepared,
                                          requests);
                return AnalyzeTrace(prepared, classifier,
                                    {.scope = scope,
                                     .in_flight = requests,
                                     .path = outcome.seen.path,
                                     .key_averages = options.key_averages,
                                     .step_profile = options.step_profile,
                                     .digest = true,
                                     .roofline = WithKeptModel(options.roofline, outcome.seen.path),
                                     .sources = options.sources,
                                     .threads = at_once});
              }();
              analysis.first_of_file = outcome.first;
              if (analysis.speculation.steps > 0)
                AddKeptAcceptance(outcome.seen.path, analysis.speculation);
              if (!options.device.empty() && analysis.devices.empty())
                outcome.seen.lacks = Lacks::kDevice;
              else
                outcome.item = std::move(analysis);
              if (options.on_analysed && outcome.item)
                options.on_analysed(
                    {outcome.seen.path, trace, *outcome.item, requests ? &*requests : nullptr});
            });
      },
      options.keeper);
  if (!readout) return readout;
  const bool is_all = readout->run.traces.size() == readout->seen.size();
  for (const Error& failure : readout->failures) readout->run.failed.push_back(failure.message);
  if (std::ranges::any_of(sources, &TraceSource::is_results)) AddResults(sources, beside, *readout);
  LeaveOutCopies(readout->run);
  // A window counts from the first event of its own slice. So with a window, the slices show
  // different times and cannot be joined.
  if (!options.window)
    JoinSlices(read, sources, options, choice.keep_secrets, in_flight, classifier, readout->run);
  const bool whole =
      readout->is_collection && is_all && choice.ranks.empty() && !choice.first_worker_only;
  AnalyzeRun(readout->run, whole);
  TakeBlame(sources, beside, readout->run);
  if (!whole) readout->run.unproven.clear();
  if (!options.window && options.device.empty()) AddRequestsOfRun(options.requests, readout->run);
  // A recording that reads its own traces has not proved them yet.
  if (whole && !options.in_flight) AddUnproven(choice, readout->run);
  for (TraceAnalysis& trace : readout->run.traces) {
    if (options.digests && trace.digest) trace.digest_text = Base64(BytesOfDigest(*trace.digest));
  }
  return readout;
}

Result<Readout<RunAnalysis>> ReadFiles(const TraceChoice& choice, const FileUse& use,
                                       RunProgress& progress, const SourceReader& read) {
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanInput(choice, progress));
  auto readout = Collect<TraceAnalysis, RunAnalysis>(
      std::move(plan), choice, "needs more memory than there is",
      [&](const TraceSource& source, size_t,
          StreamThreads threads) -> Result<Outcomes<TraceAnalysis>> {
        if (source.is_results()) return NeedsEvents(source, "tacho stats");
        std::vector<Trace> traces;
        TACHO_ASSIGN_OR_RETURN(
            auto outcomes, ReadTraces<TraceAnalysis>(
                               read, source, threads, choice, progress,
                               [&](Trace&& trace, Outcome<TraceAnalysis>& outcome) {
                                 outcome.item = NotAnalysed(
                                     outcome.seen.path, trace.header,
                                     WhoWrote(trace, WorkOf(trace), outcome.seen.path), trace.span);
                                 outcome.item->notes = trace.notes;
                                 NoteProducerLines(trace.header, outcome.item->notes);
                                 traces.push_back(std::move(trace));
                               }));
        if (!traces.empty()) use(source, traces);
        return outcomes;
      });
  if (readout) FindMissing(choice, readout->is_collection, readout->run);
  return readout;
}

Result<Readout<RunSummary>> ReadSummaries(const TraceChoice& all, RunProgress& progress,
                                          const SourceReader& read) {
  const TraceChoice choice{
      .paths = all.paths, .threads = all.threads, .keep_secrets = all.keep_secrets};
  TACHO_ASSIGN_OR_RETURN(auto plan, PlanInput(choice, progress));
  auto readout = Collect<TraceSummary, RunSummary>(
      std::move(plan), choice, "needs more memory than there is",
      [&](const TraceSource& source, size_t,
          StreamThreads stream_threads) -> Result<Outcomes<TraceSummary>> {
        if (source.is_results()) return NeedsEvents(source, "--summary");
        Parts<SummarySink> parts;
        TACHO_ASSIGN_OR_RETURN(const auto sizes,
                               ReadParts(read, source, stream_threads, progress, parts));
        Outcomes<TraceSummary> outcomes;
        for (const auto& part : parts) {
          part->sink.Finish();
          if (!choice.keep_secrets) BlankSecretsOf(part->sink.basics());
          Outcome<TraceSummary>& outcome = outcomes.emplace_back();
          const std::string path = TracePath(source, part->name);
          outcome.item = Summarized(part->sink, path);
          Place(path, sizes, *outcome.item);
        }
        return outcomes;
      });
  if (!readout) return readout;
  RunAnalysis run;
  for (const TraceSummary& trace : readout->run.traces)
    run.traces.push_back(NotAnalysed(trace.path, trace.header, trace.facts, trace.span));
  FindMissing(choice, readout->is_collection, run);
  readout->run.ranks = std::move(run.ranks);
  readout->run.unproven = std::move(run.unproven);
  return readout;
}

}  // namespace tacho
