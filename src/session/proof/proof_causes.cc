#include "session/proof/proof_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "control/version.h"
#include "session/plan/budget.h"

namespace tacho {
namespace {

// How far a trace's times may lie outside the session before it counts as the trace of another
// session. Kineto uses the clock of the engine's host. A probe measures the offset of that clock
// with an error of up to half a second.
constexpr int64_t kClockSlackNs = 2'000'000'000;
// A trace did not end with its stop if it ends earlier by more than this, and by more than a tenth
// of the window.
constexpr int64_t kEndSlackNs = 500'000'000;
// For a trace that ends before the last profiler ran.
constexpr int64_t kLeastEndSlackNs = 50'000'000;
constexpr uint64_t kNoRoom = 16u << 20;

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string ShortTime(int64_t ns) {
  return ns < 1'000'000'000 ? fmt::format("{:.0f} ms", static_cast<double>(ns) / 1e6)
                            : fmt::format("{:.1f} s", Seconds(ns));
}

Finding Cause(FindingId id, std::string evidence, std::string remedy = "") {
  return {id, "", std::move(evidence), std::move(remedy)};
}

Finding NoRequest(std::string evidence) {
  return Cause(FindingId::kNoRequest, std::move(evidence),
               std::string(KindOf(FindingId::kNoRequest).remedy));
}

// No step was taken, because nobody sent a request or the engine stood still.
Finding WithoutRequest(const WorkerExpectation& worker, std::string_view what) {
  if (worker.silent_under_load)
    return Cause(
        FindingId::kTakesNoRequests,
        fmt::format("{}: tacho's load sent it requests, and no token came in the window", what),
        std::string(KindOf(FindingId::kTakesNoRequests).remedy));
  return NoRequest(fmt::format("{}: no request reached this engine in the window", what));
}

// The number of steps after which the worker's session would end by itself.
std::optional<int64_t> BoundOf(const WorkerExpectation& worker) {
  return worker.steps_bound ? worker.steps_bound : worker.own_bound;
}

// The rank's file is there, but its events lie outside this session's time.
std::optional<Finding> OtherTime(const WorkerExpectation& worker, int64_t rank,
                                 const std::vector<TraceEvidence>& traces) {
  for (const TraceEvidence& trace : traces) {
    if (!worker.Brought(trace.path) || InWindow(worker, trace) || trace.front_end || trace.merged ||
        trace.rank.value_or(0) != rank)
      continue;
    const int64_t off = *trace.first_unix_ns - worker.start_unix_ns;
    std::string text =
        fmt::format("{}: its events lie {:.1f} s {} this session's start: ", trace.path,
                    Seconds(std::abs(off)), off > 0 ? "after" : "before");
    text +=
        worker.key.empty()
            ? "the engine's clock is off from ours by that much, or it is an earlier session's"
            : "it is this session's by its name, so the engine's clock is off from ours by that "
              "much";
    if (worker.facts.clock_offset_ns)
      text += fmt::format(" (the preflight saw {:+.1f} s)", Seconds(*worker.facts.clock_offset_ns));
    return Cause(FindingId::kOtherTime, std::move(text), "set the clocks right (NTP)");
  }
  return std::nullopt;
}

// Why a file is damaged, as far as that can be known.
Finding DamagedBecause(const WorkerExpectation& worker, NoteId defect) {
  const bool cut = defect == NoteId::kTruncatedJson || defect == NoteId::kTruncatedGzip ||
                   defect == NoteId::kCorruptGzip;
  if (cut && worker.trouble) return *worker.trouble;
  if (std::string full = worker.FullDisk(); cut && !full.empty())
    return Cause(FindingId::kDiskFull, std::move(full));
  if (cut && worker.answered_stop)
    return Cause(
        FindingId::kTraceUnfinished,
        "its trace was not finished although the engine answered its stop: a full disk is "
        "the usual cause" +
            (worker.room_bytes ? fmt::format(" (free there: {})",
                                             SizeText(static_cast<double>(*worker.room_bytes)))
                               : ""));
  if (cut)
    return Cause(FindingId::kKilledWhileWriting,
                 "the engine was killed while it wrote, or it still writes (--timeout)");
  if (defect == NoteId::kReadFailed)
    return Cause(FindingId::kFileUnreadable, "the disk or share that holds it fails");
  return Cause(FindingId::kFileDamaged,
               "several engines wrote into it, or the engine's profiler is broken");
}

// The engine names its steps, but the files hold no step with work.
Finding NoStep(const WorkerExpectation& worker, int64_t engine, uint64_t empty_steps) {
  const std::optional<int64_t> bound = BoundOf(worker);
  if (bound && empty_steps > 0 && static_cast<int64_t>(empty_steps) >= *bound)
    return Cause(
        FindingId::kEmptySteps,
        fmt::format("its file holds empty steps alone: the session ended after {}, as it was "
                    "bounded ({}), before a request reached this engine",
                    *bound, worker.steps_bound ? "--steps, or the budget" : "max_iterations"));
  return worker.StepsOf(engine).value_or(0) == 0
             ? WithoutRequest(worker, "its file holds no step")
             : Cause(FindingId::kLoadOutsideWindow,
                     "its file holds no step: the load came before or after the window");
}

// The files hold fewer steps than were asked for.
std::optional<Finding> TooFewSteps(const WorkerExpectation& worker, uint64_t steps) {
  if (worker.interrupted)
    return Cause(FindingId::kInterrupted,
                 fmt::format("interrupted after {} of the {} steps that were asked for", steps,
                             *worker.steps_asked));
  if (worker.ended_by_death || (worker.ended_by_time_ns > 0 && worker.time_asked))
    return std::nullopt;
  if (worker.ended_by_time_ns > 0)
    return Cause(FindingId::kWindowTooShort,
                 fmt::format("{} of the {} steps that were asked for were taken in the window's "
                             "{:.1f} s",
                             steps, *worker.steps_asked, Seconds(worker.ended_by_time_ns)),
                 "--duration gives it longer");
  return Cause(FindingId::kTooFewSteps,
               fmt::format("{} of the {} steps that were asked for: stopped early, or too little "
                           "load",
                           steps, *worker.steps_asked));
}

// The finding that the files hold only a part of the engine's steps; nullopt if nothing shows that.
// `with_empty`: the number of all steps in the files, also without a request. `end`: when the last
// step ends.
std::optional<Finding> HoldsPart(const WorkerExpectation& worker, int64_t engine, uint64_t steps,
                                 uint64_t with_empty, int64_t end) {
  if (worker.steps_asked) return std::nullopt;
  // The session ended where the budget planned it.
  if (worker.steps_bound && static_cast<int64_t>(with_empty) >= *worker.steps_bound)
    return std::nullopt;
  const int64_t early =
      worker.stop_asked_unix_ns == 0 || end == INT64_MAX
          ? 0
          : worker.stop_asked_unix_ns - (end - worker.facts.clock_offset_ns.value_or(0));
  const int64_t window = worker.stop_asked_unix_ns - worker.start_unix_ns;
  const bool ends_early =
      early > std::max(kEndSlackNs + worker.facts.clock_error_ns.value_or(0), window / 10);
  // A slow start loses a few steps. A bound, or somebody else's stop, loses all later steps. The
  // flush after such a stop may stall the engine until our own stop; then the engine takes no steps
  // that its counter could show as missing.
  const auto held = static_cast<int64_t>(steps);
  const std::optional<int64_t> made = worker.StepsOf(engine);
  const bool half = made && !worker.steps_go_on && 2 * held < *made;
  const bool misses = ends_early && (worker.wrote_before_stop || worker.had_work_at_stop ||
                                     (made && 10 * held < 9 * *made));
  if (!half && !misses) return std::nullopt;
  return Cause(
      FindingId::kHoldsPart,
      fmt::format("its file holds {} steps{}{}", steps,
                  made ? fmt::format(" of the {} that the engine's metrics counted", *made) : "",
                  ends_early ? fmt::format(" and ends {:.1f} s before the stop: a stop by "
                                           "somebody else, or a bound (max_iterations)",
                                           Seconds(early))
                             : ": a start that took long, or a bound (max_iterations)"));
}

// If each stage has its own number of steps: finds a stage that holds too few.
std::optional<Finding> ShortStage(const WorkerExpectation& worker,
                                  const std::vector<const TraceEvidence*>& traces) {
  if (!worker.by_stage || !worker.steps_asked) return std::nullopt;
  for (const TraceEvidence* trace : traces) {
    const auto held = static_cast<int64_t>(trace->steps.value_or(0) + trace->empty_steps);
    if (trace->steps && held < *worker.steps_asked)
      return Cause(FindingId::kHoldsPart,
                   fmt::format("its {} stage holds {} of the {} steps that were asked for: the "
                               "window ended first, or too few requests came",
                               trace->stage, held, *worker.steps_asked));
  }
  return std::nullopt;
}

}  // namespace

bool InWindow(const WorkerExpectation& worker, const TraceEvidence& trace) {
  if (!trace.first_unix_ns || !trace.last_unix_ns) return true;  // no events: nothing to compare
  int64_t slack = kClockSlackNs + worker.facts.clock_error_ns.value_or(0);
  int64_t offset = worker.facts.clock_offset_ns.value_or(0);
  return *trace.last_unix_ns - offset >= worker.start_unix_ns - slack &&
         *trace.first_unix_ns - offset <= worker.stop_unix_ns + slack;
}

std::string WorkerExpectation::FullDisk() const {
  if (room_bytes && *room_bytes < kNoRoom)
    return fmt::format("the disk that it writes to is full ({} kB are free)", *room_bytes >> 10);
  // The full disk may be the one for the engine's temporary files.
  if (log_failure.find("No space left") != std::string::npos)
    return "a disk of it is full; its log says: " + log_failure;
  return "";
}

Finding NoFileBecause(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                      const std::vector<TraceEvidence>& all_traces) {
  if (worker.trouble) return *worker.trouble;
  if (worker.start_unix_ns == 0)
    return Cause(FindingId::kNotStarted, "no file: its profiler was never started");
  if (const std::optional<Finding> why = OtherTime(worker, rank, all_traces)) return *why;
  if (const std::optional<int64_t> made = worker.StepsOf(engine)) {
    if (*made == 0) return WithoutRequest(worker, "no file, and its engine took no step");
    if (worker.steps_asked && *made <= *worker.steps_asked)
      return Cause(FindingId::kTooFewSteps,
                   fmt::format("no file: the engine took {} steps and writes only in the step "
                               "after step {}",
                               *made, *worker.steps_asked));
  }
  if (worker.nothing_ran && worker.files.empty() && worker.steps_asked)
    return NoRequest(
        fmt::format("no file: no request reached this engine: its session of {} steps never began",
                    *worker.steps_asked));
  if (worker.why_no_file) return *worker.why_no_file;
  if (worker.files.empty()) {
    if (const std::string full = worker.FullDisk(); !full.empty())
      return Cause(FindingId::kDiskFull, "no file at all: " + full);
    const bool waits =
        EngineRule(worker.facts.kind, worker.facts.version, "waits_for_step") == "yes";
    return Cause(FindingId::kNoFile,
                 fmt::format("no file at all: {}the engine writes elsewhere (--trace-dir, --map, "
                             "--collect-from){}",
                             waits ? "no step came, with which its session begins, or " : "",
                             waits ? "" : ", or it records one session only (restart it)"));
  }
  return Cause(FindingId::kNoFileOfRank,
               "no file of this rank: it died, runs on another machine, or its file was "
               "overwritten by another engine of the same folder");
}

std::optional<Finding> DamageOf(const WorkerExpectation& worker, const TraceEvidence& trace) {
  if (!trace.defect) return std::nullopt;
  const Note& defect = *trace.defect;
  const Finding damaged = DamagedBecause(worker, defect.id);
  return Cause(damaged.id,
               fmt::format("{}; {}{}: {}", damaged.Words(), KindOf(defect.id).id,
                           defect.where.empty() ? "" : " (" + defect.where + ")", trace.path));
}

std::optional<Finding> Objection(const WorkerExpectation& worker, int64_t engine,
                                 const std::vector<const TraceEvidence*>& traces, uint64_t steps,
                                 bool steps_named) {
  uint64_t empty = 0;
  for (const TraceEvidence* trace : traces) empty += trace->empty_steps;
  for (const TraceEvidence* trace : traces) {
    if (std::optional<Finding> damage = DamageOf(worker, *trace)) return damage;
    if (!worker.steps_named && trace->idle)
      return WithoutRequest(worker, trace->path + ": holds no work");
  }
  // Checked before the GPU events: if nothing ran, the GPU had nothing to do.
  const bool no_work = std::all_of(traces.begin(), traces.end(),
                                   [](const TraceEvidence* trace) { return trace->idle; });
  if (worker.steps_named && !worker.by_stage && steps == 0 && (steps_named || no_work))
    return NoStep(worker, engine, empty);
  for (const TraceEvidence* trace : traces)
    if (trace->has_gpu && trace->gpu_events == 0)
      return Cause(FindingId::kGpuNotTraced,
                   trace->path +
                       ": a GPU is named and no GPU event is there: CUPTI was not attached (a "
                       "second profiler, or rights)");
  if (!worker.steps_named) return std::nullopt;
  if (worker.by_stage && traces.size() < 2 && worker.trouble) return worker.trouble;
  if (worker.by_stage && traces.size() < 2)
    return Cause(FindingId::kOneStage,
                 traces.front()->path +
                     ": one stage only, prefill or decode: the other saw no step of its own, or "
                     "the engine was not idle at the start and a decode step came first");
  if (steps_named && steps == 0)
    return Cause(FindingId::kLoadOutsideWindow,
                 "its files hold no step: the load came before or after the window");
  if (worker.steps_asked && steps_named && !worker.by_stage &&
      steps + empty < static_cast<uint64_t>(*worker.steps_asked))
    return TooFewSteps(worker, steps);
  return std::nullopt;
}

std::vector<std::optional<Finding>> ApartFromOthers(const std::vector<RankFiles>& proven) {
  struct Span {
    int64_t begin = INT64_MAX, end = INT64_MIN, error = 0;  // begin and end by our clock
  };
  std::vector<Span> spans;
  Span last{INT64_MIN};  // the span that begins last
  for (const RankFiles& rank : proven) {
    const EngineFacts& facts = rank.worker->facts;
    Span& span = spans.emplace_back();
    span.error = facts.clock_error_ns.value_or(0);
    for (const TraceEvidence* trace : rank.traces) {
      if (!trace->first_unix_ns || !trace->last_unix_ns) continue;
      span.begin = std::min(span.begin, *trace->first_unix_ns - facts.clock_offset_ns.value_or(0));
      span.end = std::max(span.end, *trace->last_unix_ns - facts.clock_offset_ns.value_or(0));
    }
    if (span.begin <= span.end && span.begin > last.begin) last = span;
  }
  std::vector<std::optional<Finding>> findings(proven.size());
  for (size_t i = 0; i < proven.size(); ++i) {
    // A rank that was idle at first has no early events, although its profiler ran. So its profiler
    // counts as running from its first event or from all_running_unix_ns, whichever is earlier.
    const int64_t apart =
        std::min(last.begin, proven[i].worker->all_running_unix_ns) - spans[i].end;
    if (spans[i].begin > spans[i].end || apart <= spans[i].error + last.error) continue;
    findings[i] =
        Cause(FindingId::kApartFromOthers,
              fmt::format("its file ends {} before the last profiler ran and another rank's file "
                          "begins: they share no time",
                          ShortTime(apart)));
  }
  return findings;
}

std::optional<Finding> NamesNoStep(const WorkerExpectation& worker, int64_t engine,
                                   const std::vector<const TraceEvidence*>& traces) {
  const int64_t made = worker.StepsOf(engine).value_or(0);
  if (!worker.one_report || made == 0 ||
      std::ranges::any_of(traces, [](const auto* trace) { return trace->gpu_events > 0; }))
    return std::nullopt;
  return Cause(
      FindingId::kStepsUnnamed,
      fmt::format("its file names no step and holds no GPU work, though the engine took {} "
                  "steps: it shows calls of the host alone",
                  made));
}

std::optional<Finding> LeavesOut(const WorkerExpectation& worker, int64_t engine,
                                 const std::vector<const TraceEvidence*>& traces, uint64_t steps) {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  uint64_t with_empty = steps;
  for (const TraceEvidence* trace : traces) {
    begin = std::min(begin, trace->first_unix_ns.value_or(INT64_MIN));
    end = std::max(end, trace->last_unix_ns.value_or(INT64_MAX));
    with_empty += trace->empty_steps;
  }
  const bool known = begin != INT64_MIN && end != INT64_MAX && begin < end;
  const int64_t offset = worker.facts.clock_offset_ns.value_or(0);
  if (known && worker.all_running_unix_ns != 0) {
    const int64_t before_all = worker.all_running_unix_ns - (end - offset);
    // A short file is allowed less slack, but at least kLeastEndSlackNs, because on busy cores
    // tacho notices the answer to a start late.
    const int64_t slack = std::clamp((end - begin) / 2, kLeastEndSlackNs, kEndSlackNs);
    if (before_all > slack + worker.facts.clock_error_ns.value_or(0))
      return Cause(FindingId::kEndedBeforeOthers,
                   fmt::format("its file ends {} before the last profiler ran: it had its {} steps "
                               "by then, and shows another time than the other ranks",
                               ShortTime(before_all), steps));
  }
  if (known && worker.own_bound && !worker.steps_bound &&
      static_cast<int64_t>(with_empty) == *worker.own_bound)
    return Cause(FindingId::kEndedByOwnBound,
                 fmt::format("it holds {} of the window's {:.1f} s: the engine's own bound of {} "
                             "steps (max_iterations) ended its session",
                             ShortTime(end - begin),
                             Seconds(worker.stop_asked_unix_ns -
                                     std::max(worker.start_unix_ns, worker.all_running_unix_ns)),
                             *worker.own_bound));
  if (worker.steps_asked && worker.ended_by_death && !worker.by_stage &&
      static_cast<int64_t>(with_empty) < *worker.steps_asked)
    return Cause(FindingId::kEndedByDeath,
                 fmt::format("{} of {} steps were taken before another engine died, which ended "
                             "the window",
                             steps, *worker.steps_asked));
  if (worker.steps_asked && worker.ended_by_time_ns > 0 && !worker.by_stage &&
      static_cast<int64_t>(with_empty) < *worker.steps_asked)
    return Cause(FindingId::kEndedByDuration,
                 fmt::format("{} of {} steps were taken before --duration ({:.1f} s) ended", steps,
                             *worker.steps_asked, Seconds(worker.ended_by_time_ns)));
  if (std::optional<Finding> stage = ShortStage(worker, traces)) return stage;
  return HoldsPart(worker, engine, steps, with_empty, end);
}

}  // namespace tacho
