#include "session/proof_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "session/budget.h"

namespace tacho {
namespace {

// How far a trace's own clock may be from ours before it is taken for another session's. Kineto's
// times are those of the engine's host; a probe tells its offset to half a second.
constexpr int64_t kClockSlackNs = 2'000'000'000;
// A trace that ends so long before its stop, and by a tenth of the window, did not end with it.
constexpr int64_t kEndSlackNs = 500'000'000;
constexpr uint64_t kNoRoom = 16u << 20;
constexpr std::string_view kDriveEveryEngine =
    "(drive every engine: load straight to the workers, or more of it)";

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string ShortTime(int64_t ns) {
  return ns < 1'000'000'000 ? fmt::format("{:.0f} ms", static_cast<double>(ns) / 1e6)
                            : fmt::format("{:.1f} s", Seconds(ns));
}

// After how many steps its session ended by itself.
std::optional<int64_t> BoundOf(const WorkerExpectation& worker) {
  return worker.steps_bound ? worker.steps_bound : worker.own_bound;
}

// Its file lies there, but holds another time than this session's. "" when there is none.
std::string OtherTime(const WorkerExpectation& worker, int64_t rank,
                      const std::vector<TraceEvidence>& traces) {
  for (const TraceEvidence& trace : traces) {
    if (!worker.Brought(trace.path) || InWindow(worker, trace) || trace.front_end || trace.merged ||
        trace.rank.value_or(0) != rank)
      continue;
    const int64_t off = *trace.first_unix_ns - worker.start_unix_ns;
    std::string text =
        fmt::format("{}: its events lie {:.1f} s {} this session's start: ", trace.path,
                    Seconds(std::abs(off)), off > 0 ? "behind" : "before");
    text +=
        worker.key.empty()
            ? "the engine's clock is off from ours by that much, or it is an earlier session's"
            : "it is this session's by its name, so the engine's clock is off from ours by that "
              "much";
    if (worker.facts.clock_offset_ns)
      text += fmt::format(" (the preflight saw {:+.1f} s)", Seconds(*worker.facts.clock_offset_ns));
    return text + "; set the clocks right (NTP)";
  }
  return "";
}

// Why a file is damaged, as far as that can be told.
std::string DamagedBecause(const WorkerExpectation& worker, std::string_view defect) {
  const bool cut = defect.starts_with("truncated") || defect.starts_with("corrupt-gzip");
  if (cut && !worker.trouble.empty()) return worker.trouble;
  if (std::string full = worker.FullDisk(); cut && !full.empty()) return full;
  if (cut && worker.answered_stop)
    return "its trace was not finished although the engine answered its stop: a full disk is the "
           "usual cause" +
           (worker.room_bytes ? fmt::format(" (free there: {})",
                                            SizeText(static_cast<double>(*worker.room_bytes)))
                              : "");
  if (cut) return "the engine was killed while it wrote, or it still writes (--timeout)";
  if (defect.starts_with("read-failed")) return "the disk or share that holds it fails";
  return "several engines wrote into it, or the engine's profiler is broken";
}

}  // namespace

bool InWindow(const WorkerExpectation& worker, const TraceEvidence& trace) {
  if (!trace.first_unix_ns || !trace.last_unix_ns) return true;  // no events: nothing to hold
  int64_t slack = kClockSlackNs + worker.facts.clock_error_ns.value_or(0);
  int64_t offset = worker.facts.clock_offset_ns.value_or(0);
  return *trace.last_unix_ns - offset >= worker.start_unix_ns - slack &&
         *trace.first_unix_ns - offset <= worker.stop_unix_ns + slack;
}

std::string WorkerExpectation::FullDisk() const {
  if (room_bytes && *room_bytes < kNoRoom)
    return fmt::format("the disk that it writes to is full ({} kB are free)", *room_bytes >> 10);
  // Of its own temporary files, perhaps.
  if (log_failure.find("No space left") != std::string::npos)
    return "a disk of it is full; its log says: " + log_failure;
  return "";
}

std::string NoFileBecause(const WorkerExpectation& worker, int64_t engine, int64_t rank,
                          const std::vector<TraceEvidence>& traces) {
  if (!worker.trouble.empty()) return worker.trouble;
  if (worker.start_unix_ns == 0) return "no file: its profiler was never started";
  if (std::string why = OtherTime(worker, rank, traces); !why.empty()) return why;
  if (const std::optional<int64_t> made = worker.StepsOf(engine)) {
    if (*made == 0)
      return fmt::format("no file, and its engine took no step: no request reached it {}",
                         kDriveEveryEngine);
    if (worker.steps_asked && *made <= *worker.steps_asked)
      return fmt::format(
          "no file: the engine took {} steps and writes only in the step after step {}", *made,
          *worker.steps_asked);
  }
  if (worker.nothing_ran && worker.files.empty() && worker.steps_asked)
    return fmt::format(
        "no file: no request reached this engine: its session of {} steps never began {}",
        *worker.steps_asked, kDriveEveryEngine);
  if (worker.by_daemon)
    return "no file of this rank: its process never asked Kineto's daemon (started without "
           "KINETO_USE_DAEMON=1, or it hangs), or it died";
  if (worker.files.empty()) {
    if (const std::string full = worker.FullDisk(); !full.empty()) return "no file at all: " + full;
    return "no file at all: the engine writes elsewhere (--trace-dir, --map, --collect-from), or "
           "it records one session only (restart it)";
  }
  return "no file of this rank: it died, runs on another machine, or its file was overwritten by "
         "another engine of the same folder";
}

std::string Objection(const WorkerExpectation& worker, int64_t engine,
                      const std::vector<const TraceEvidence*>& traces, uint64_t steps,
                      bool steps_told) {
  uint64_t empty = 0;
  for (const TraceEvidence* trace : traces) empty += trace->empty_steps;
  for (const TraceEvidence* trace : traces) {
    if (!trace->defect.empty())
      return fmt::format("{}; {}: {}", DamagedBecause(worker, trace->defect), trace->defect,
                         trace->path);
    if (!worker.steps_named && trace->idle)
      return fmt::format("{}: holds no work: no request reached this engine in the window",
                         trace->path);
  }
  // Before the GPU: where nothing ran it had nothing to do.
  const bool no_work = std::all_of(traces.begin(), traces.end(),
                                   [](const TraceEvidence* trace) { return trace->idle; });
  if (worker.steps_named && !worker.by_stage && steps == 0 && (steps_told || no_work)) {
    const std::optional<int64_t> bound = BoundOf(worker);
    if (bound && empty > 0 && static_cast<int64_t>(empty) >= *bound)
      return fmt::format(
          "its file holds empty steps alone: the session ended after {}, as it was bounded ({}), "
          "before a request reached this engine",
          *bound, worker.steps_bound ? "--steps, or the budget" : "max_iterations");
    const bool idle = worker.StepsOf(engine).value_or(0) == 0;
    return idle ? fmt::format(
                      "its file holds no step: no request reached this engine in the window {}",
                      kDriveEveryEngine)
                : "its file holds no step: the load came before or after the window";
  }
  for (const TraceEvidence* trace : traces) {
    if (trace->has_gpu && trace->gpu_events == 0)
      return fmt::format(
          "{}: a GPU is named and no GPU event is there: CUPTI was not attached (a "
          "second profiler, or rights)",
          trace->path);
  }
  if (!worker.steps_named) return "";
  if (worker.by_stage && traces.size() < 2 && !worker.trouble.empty()) return worker.trouble;
  if (worker.by_stage && traces.size() < 2)
    return fmt::format(
        "{}: one stage only, prefill or decode: the other saw no step of its own, or "
        "the engine was not idle at the start and a decode step came first",
        traces.front()->path);
  if (steps_told && steps == 0)
    return "its files hold no step: the load came before or after the window";
  if (worker.steps_asked && steps_told && !worker.by_stage &&
      steps + empty < static_cast<uint64_t>(*worker.steps_asked)) {
    if (worker.ended_by_time_ns > 0 && worker.time_asked) return "";
    if (worker.ended_by_time_ns > 0)
      return fmt::format(
          "{} of the {} steps that were asked for were taken in the window's {:.1f} s: --duration "
          "gives it longer",
          steps, *worker.steps_asked, Seconds(worker.ended_by_time_ns));
    return fmt::format("{} of the {} steps that were asked for: stopped early, or too little load",
                       steps, *worker.steps_asked);
  }
  return "";
}

std::string LeavesOut(const WorkerExpectation& worker, int64_t engine,
                      const std::vector<const TraceEvidence*>& traces, uint64_t steps) {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  uint64_t with_empty = steps;
  for (const TraceEvidence* trace : traces) {
    begin = std::min(begin, trace->first_unix_ns.value_or(INT64_MIN));
    end = std::max(end, trace->last_unix_ns.value_or(INT64_MAX));
    with_empty += trace->empty_steps;
  }
  const bool told = begin != INT64_MIN && end != INT64_MAX && begin < end;
  const int64_t offset = worker.facts.clock_offset_ns.value_or(0);
  const int64_t before_all = worker.all_running_unix_ns - (end - offset);
  if (told && worker.all_running_unix_ns != 0 &&
      before_all > kEndSlackNs + worker.facts.clock_error_ns.value_or(0))
    return fmt::format(
        "its file ends {:.1f} s before the last profiler ran: it had its {} steps by then, and "
        "shows another time than the other ranks",
        Seconds(before_all), steps);
  if (told && worker.own_bound && !worker.steps_bound &&
      static_cast<int64_t>(with_empty) == *worker.own_bound)
    return fmt::format(
        "it holds {} of the window's {:.1f} s: the engine's own bound of {} steps (max_iterations) "
        "ended its session",
        ShortTime(end - begin),
        Seconds(worker.stop_asked_unix_ns -
                std::max(worker.start_unix_ns, worker.all_running_unix_ns)),
        *worker.own_bound);
  if (worker.steps_asked && worker.ended_by_time_ns > 0 && !worker.by_stage &&
      static_cast<int64_t>(with_empty) < *worker.steps_asked)
    return fmt::format("{} of {} steps were taken before --duration ({:.1f} s) ended", steps,
                       *worker.steps_asked, Seconds(worker.ended_by_time_ns));
  const std::optional<int64_t> counted = worker.StepsOf(engine);
  if (worker.steps_asked || !counted) return "";
  // As the budget had it.
  if (worker.steps_bound && static_cast<int64_t>(with_empty) >= *worker.steps_bound) return "";
  const int64_t made = *counted;
  const int64_t early = worker.stop_asked_unix_ns == 0 || end == INT64_MAX
                            ? 0
                            : worker.stop_asked_unix_ns - (end - offset);
  const int64_t window = worker.stop_asked_unix_ns - worker.start_unix_ns;
  const bool ends_early =
      early > std::max(kEndSlackNs + worker.facts.clock_error_ns.value_or(0), window / 10);
  // A start that takes its time costs some; a bound or a stranger's stop costs all behind it.
  const auto held = static_cast<int64_t>(steps);
  if (worker.steps_go_on && !ends_early) return "";
  if (2 * held >= made && !(ends_early && 10 * held < 9 * made)) return "";
  return fmt::format("its file holds {} of the {} steps that the engine's metrics counted{}", steps,
                     made,
                     ends_early ? fmt::format(" and ends {:.1f} s before the stop: a stop by "
                                              "somebody else, or a bound (max_iterations)",
                                              Seconds(early))
                                : ": a start that took long, or a bound (max_iterations)");
}

}  // namespace tacho
