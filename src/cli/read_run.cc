#include "cli/read_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "analysis/recordings.h"
#include "base/parallel.h"
#include "cli/session_choice.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "io/discover.h"
#include "model/trace_builder.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

Error At(const TraceSource& source, const Error& error) {
  const std::string where = VisibleText(source.Display());
  return error.message.find(source.path) == std::string::npos ? error.WithContext(where) : error;
}

void NoteDefect(const BlockStream& stream, Notes& notes) {
  switch (stream.defect()) {
    case StreamDefect::kNone:
      break;
    case StreamDefect::kTruncated:
      notes.Add(NoteId::kTruncatedGzip, stream.defect_text());
      break;
    case StreamDefect::kCorrupt:
      notes.Add(NoteId::kCorruptGzip, stream.defect_text());
      break;
    case StreamDefect::kTrailingJunk:
      notes.Add(NoteId::kTrailingJunk, stream.defect_text());
      break;
    case StreamDefect::kReadFailed:
      notes.Add(NoteId::kReadFailed, stream.defect_text());
      break;
  }
}

struct Sizes {
  uint64_t stored = 0, json = 0;
};

// Streams one source into a sink, whose own header and notes are filled.
template <typename Sink>
Result<Sizes> ReadSource(const TraceSource& source, StreamThreads threads, Sink& sink,
                         ProgressCounter& counter) {
  auto opened = OpenSource(source, threads);
  if (!opened) return tl::unexpected<Error>(At(source, opened.error()));
  const std::unique_ptr<BlockStream> stream = CountingStream(std::move(*opened), counter);
  const auto read = ReadKinetoJson(*stream, sink, sink.header(), sink.notes());
  NoteDefect(*stream, sink.notes());
  if (!read) return tl::unexpected<Error>(At(source, read.error()));
  // What standard input held is known only now.
  const uint64_t stored = source.stored_bytes > 0 ? source.stored_bytes : stream->stored_bytes();
  return Sizes{stored, read->json_bytes};
}

std::string DevicesOf(const Trace& trace) {
  std::set<std::string_view> devices;
  for (const Stream& stream : trace.words.streams()) devices.insert(trace.Text(stream.device));
  return devices.empty() ? "none" : fmt::format("{}", fmt::join(devices, ", "));
}

using RequestsByPath = std::map<std::string, WorkerInFlight>;

std::optional<InFlight> RequestsOf(const Trace& trace, const TraceSource& source,
                                   const RequestsByPath& in_flight) {
  const auto requests = in_flight.find(source.path);
  return requests == in_flight.end() ? std::nullopt : OnClockOf(trace, requests->second);
}

// nullopt: not a trace that was asked for.
Result<std::optional<TraceAnalysis>> Analyse(const TraceSource& source, StreamThreads threads,
                                             const ReadOptions& options,
                                             const RequestsByPath& in_flight,
                                             const Classifier& classifier,
                                             ProgressCounter& counter) {
  TraceBuilder builder;
  const auto sizes = ReadSource(source, threads, builder, counter);
  if (!sizes) return tl::unexpected<Error>(sizes.error());
  const Trace trace = std::move(builder).Finish();
  if (options.rank && GatherFacts(trace).rank != options.rank)
    return std::optional<TraceAnalysis>();
  Scope scope{.window = {}, .device = options.device};
  if (options.window) {
    const auto window = options.window->On(trace.span);
    if (!window) return tl::unexpected<Error>(At(source, window.error()));
    scope.window = *window;
  }
  TraceAnalysis analysis =
      AnalyzeTrace(trace, classifier,
                   {.scope = scope,
                    .in_flight = RequestsOf(trace, source, in_flight),
                    .key_averages = options.key_averages,
                    .threads = threads == StreamThreads::kAhead ? size_t{2} : size_t{1}});
  if (!options.device.empty() && analysis.devices.empty()) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: no device '{}' in it; devices: {}", VisibleText(source.Display()),
                            VisibleText(options.device), VisibleText(DevicesOf(trace))));
  }
  analysis.path = source.Display();
  analysis.bytes = sizes->stored;
  analysis.json_bytes = sizes->json;
  return std::optional<TraceAnalysis>(std::move(analysis));
}

struct InputPlan {
  Discovery found;
  size_t threads = 1;
  StreamThreads stream_threads = StreamThreads::kInline;
  bool is_collection = false;
};

Result<InputPlan> PlanInput(const ReadOptions& options, ProgressCounter& counter) {
  auto found = FindTraces(options.paths);
  if (!found) return tl::unexpected<Error>(found.error());
  InputPlan plan;
  plan.found = std::move(*found);
  const std::vector<TraceSource>& traces = plan.found.traces;
  plan.threads = options.threads == 0 ? CoreCount() : options.threads;
  // Fewer files than cores: the free ones inflate ahead.
  if (traces.size() < plan.threads) plan.stream_threads = StreamThreads::kAhead;
  plan.is_collection = options.paths.size() > 1 || traces.size() != 1 ||
                       !traces[0].member.empty() || traces[0].path != options.paths[0];
  bool all_known = true;
  uint64_t total = 0;
  for (const TraceSource& source : traces) {
    all_known = all_known && source.stored_bytes > 0;
    total += source.stored_bytes;
  }
  counter.files = traces.size();
  counter.total_bytes = all_known ? total : 0;
  return plan;
}

// What `job` makes of one source. A trace that needs more memory than there is must not take the
// others with it.
template <typename Item, typename Job>
Result<std::optional<Item>> RunJob(const TraceSource& source, StreamThreads threads,
                                   std::string_view out_of_memory, const Job& job) {
  const auto fail = [&]() -> Result<std::optional<Item>> {
    return Fail(ErrorKind::kUnreadable,
                VisibleText(source.Display()) + ": " + std::string(out_of_memory));
  };
  try {
    return job(source, threads);
  } catch (const std::bad_alloc&) {
    return fail();
  } catch (const std::length_error&) {
    return fail();
  } catch (const std::system_error& error) {  // no memory for a thread's stack
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return fail();
  }
}

// Runs `job` over the sources and keeps what came out, in their order.
template <typename Item, typename Run, typename Job>
Result<Readout<Run>> Collect(InputPlan plan, bool first_only, std::string_view out_of_memory,
                             const Job& job) {
  const std::vector<TraceSource>& sources = plan.found.traces;
  std::vector<Result<std::optional<Item>>> items(sources.size());
  const auto run = [&](size_t i) {
    items[i] = RunJob<Item>(sources[i], plan.stream_threads, out_of_memory, job);
  };
  if (first_only) {
    for (size_t i = 0; i < sources.size(); ++i) {
      run(i);
      if (items[i] && items[i]->has_value()) break;
    }
  } else {
    ParallelFor(sources.size(), plan.threads, run);
  }
  Readout<Run> readout;
  readout.is_collection = plan.is_collection;
  readout.run.skipped = std::move(plan.found.skipped);
  readout.failures = std::move(plan.found.failures);
  size_t good = 0;
  for (Result<std::optional<Item>>& item : items) {
    if (!item) {
      readout.failures.push_back(item.error());
      continue;
    }
    ++good;
    if (item->has_value()) readout.run.traces.push_back(std::move(**item));
  }
  if (good == 0 && !readout.failures.empty()) {
    Error error = readout.failures.front();
    if (readout.failures.size() > 1) {
      error.message += fmt::format(" (and none of the {} other inputs can be read)",
                                   readout.failures.size() - 1);
    }
    return tl::unexpected<Error>(std::move(error));
  }
  for (const Error& failure : readout.failures) readout.run.skipped.push_back(failure.message);
  std::sort(readout.run.skipped.begin(), readout.run.skipped.end());
  return readout;
}

// Reads slices of one recording whose work overlaps once more, as one trace: from figures of each
// alone nobody can tell when any of them was busy. Where that fails they stay apart, as sums.
void JoinSlices(const std::vector<TraceSource>& sources, const ReadOptions& options,
                const RequestsByPath& in_flight, const Classifier& classifier, RunAnalysis& run) {
  std::vector<RankInput> workers = RankInputsOf(run);
  std::erase_if(workers,
                [](const RankInput& trace) { return trace.facts->role != TraceRole::kWorker; });
  for (const std::vector<size_t>& slices : OverlappingSlices(workers)) {
    SlicesTogether together;
    ProgressCounter counter;
    TraceBuilder builder;
    bool whole = true;
    auto first = sources.end();
    for (const size_t slice : slices) {
      const auto source = std::ranges::find(sources, workers[slice].path, &TraceSource::Display);
      if (first == sources.end()) first = source;
      together.paths.push_back(workers[slice].path);
      whole = whole && source != sources.end() && source->path != "-" &&
              ReadSource(*source, StreamThreads::kInline, builder, counter).has_value();
    }
    if (!whole) continue;
    const Trace trace = std::move(builder).Finish();
    TraceAnalysis analysis = AnalyzeTrace(trace, classifier,
                                          {.scope = {.window = {}, .device = options.device},
                                           .in_flight = RequestsOf(trace, *first, in_flight),
                                           .key_averages = false});
    together.devices = std::move(analysis.devices);
    together.idle = std::move(analysis.idle);
    run.together.push_back(std::move(together));
  }
}

}  // namespace

Result<Readout<RunAnalysis>> ReadRun(const ReadOptions& options, const Classifier& classifier,
                                     ProgressCounter& counter) {
  auto plan = PlanInput(options, counter);
  if (!plan) return tl::unexpected<Error>(plan.error());
  const std::vector<TraceSource> sources = plan->found.traces;
  const auto in_flight = FindInFlight(sources, options.in_flight);
  auto readout = Collect<TraceAnalysis, RunAnalysis>(
      std::move(*plan), options.first_worker_only, "needs more memory than there is: try --summary",
      [&](const TraceSource& source,
          StreamThreads threads) -> Result<std::optional<TraceAnalysis>> {
        auto analysis = Analyse(source, threads, options, in_flight, classifier, counter);
        const bool front_end =
            analysis && *analysis && (*analysis)->facts.role == TraceRole::kFrontend;
        if (options.first_worker_only && front_end) return std::optional<TraceAnalysis>();
        return analysis;
      });
  if (!readout) return readout;
  if (!options.session.empty()) {
    const auto kept = KeepSession(options.session, readout->run);
    if (!kept) return tl::unexpected<Error>(kept.error());
  }
  // A window begins with each slice anew: there is no stretch of time that they share.
  if (!options.window) JoinSlices(sources, options, in_flight, classifier, readout->run);
  const bool whole = readout->is_collection && !options.rank && !options.first_worker_only;
  AnalyzeRun(readout->run, whole);
  return readout;
}

Result<Readout<RunSummary>> ReadSummaries(const ReadOptions& options, ProgressCounter& counter) {
  auto plan = PlanInput(options, counter);
  if (!plan) return tl::unexpected<Error>(plan.error());
  return Collect<TraceSummary, RunSummary>(
      std::move(*plan), false, "needs more memory than there is",
      [&](const TraceSource& source, StreamThreads threads) -> Result<std::optional<TraceSummary>> {
        SummarySink sink;
        const auto sizes = ReadSource(source, threads, sink, counter);
        if (!sizes) return tl::unexpected<Error>(sizes.error());
        sink.Finish();
        TraceSummary summary = Summarized(sink);
        summary.path = source.Display();
        summary.bytes = sizes->stored;
        summary.json_bytes = sizes->json;
        return std::optional<TraceSummary>(std::move(summary));
      });
}

}  // namespace tacho
