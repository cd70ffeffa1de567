#include "simulate/trace/trace_window.h"

#include <memory>

#include "base/parse_number.h"
#include "base/time.h"
#include "base/words.h"
#include "net/kineto_message.h"
#include "simulate/trace/trace_flush.h"

namespace tacho::simulate {
namespace {

// Kineto's defaults.
constexpr int64_t kWarmUpNs = 5'000 * kNsPerMs, kDurationNs = 500 * kNsPerMs;
constexpr int64_t kLookNs = 1'000 * kNsPerMs;  // how often Kineto looks for a request

// Turns "FOLDER/x.json" into "FOLDER/x_PID.json".
std::string WithPid(std::string_view path, int64_t pid) {
  const size_t dot = path.ends_with(".json") ? path.size() - 5 : path.size();
  return std::string(path.substr(0, dot)) + "_" + std::to_string(pid) +
         std::string(path.substr(dot));
}

bool IsAllowed(std::string_view path, const std::string& folder) {
  if (folder.empty()) return true;
  return path.starts_with(folder.ends_with('/') ? folder : folder + '/') &&
         path.find("..") == std::string_view::npos;
}

// Removes from the content what a trace lacks that Kineto recorded without torch.profiler.
TraceSource OnDemand(TraceSource source, const TraceWindowOrder& order) {
  source.on_demand = true;
  source.names = StepNames::kNone;  // engines name their steps only for their own profiler
  source.scopes = false;
  source.with_flops = false;
  source.with_stack = order.with_stack;
  source.record_shapes = order.record_shapes;
  source.profile_memory = order.profile_memory;
  source.trace_name = order.path;
  return source;
}

// Calls `begin` when the window begins. When it is over, calls `end` with what `begin` returned.
template <typename Begin, typename End>
void AtWindow(Loop& loop, const TraceWindowOrder& order, Begin begin, End end) {
  const int64_t start = order.start_unix_ns - loop.UnixNs(0);
  // Kineto creates the file before it warms up, when it has nothing to write yet.
  loop.At(start - order.warm_up_ns, [path = order.path] { WriteTextFile(path + ".tmp", ""); });
  loop.At(start, [&loop, begin, end, until = start + order.duration_ns, order] {
    order.begun();
    loop.At(until, [end, state = begin()] { end(state); });
  });
}

}  // namespace

std::optional<TraceWindowOrder> ReadKinetoConfig(std::string_view text, int64_t pid,
                                                 int64_t now_unix_ns,
                                                 const std::string& allowed_folder) {
  TraceWindowOrder order;
  order.pid = pid;
  order.duration_ns = kDurationNs;
  order.warm_up_ns = kWarmUpNs;
  int64_t start_ms = 0;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    const int64_t number = ParseWhole<int64_t>(value).value_or(0);
    if (key == "ACTIVITIES_LOG_FILE")
      order.path = IsAllowed(value, allowed_folder) ? WithPid(value, pid)
                                                    : KinetosOwnFileOf(std::to_string(pid));
    if (key == "PROFILE_START_TIME") start_ms = number;
    if (key == "ACTIVITIES_DURATION_MSECS") order.duration_ns = number * kNsPerMs;
    if (key == "ACTIVITIES_WARMUP_PERIOD_SECS") order.warm_up_ns = number * 1'000 * kNsPerMs;
    if (key == "PROFILE_REPORT_INPUT_SHAPES") order.record_shapes = value == "true";
    if (key == "PROFILE_PROFILE_MEMORY") order.profile_memory = value == "true";
    if (key == "PROFILE_WITH_STACK") order.with_stack = value == "true";
  }
  const int64_t soonest = now_unix_ns + kLookNs + order.warm_up_ns;
  order.start_unix_ns = start_ms == 0 ? soonest : start_ms * kNsPerMs;
  if (order.path.empty() || order.duration_ns <= 0 || order.start_unix_ns < soonest) return {};
  return order;
}

void RecordTraceWindow(Loop& loop, Engine& engine, TraceSource source, const Faults& faults,
                       int64_t worker, const TraceWindowOrder& order, std::function<void()> died) {
  auto flush = std::make_shared<RankFlush>();
  flush->source = OnDemand(std::move(source), order);
  flush->lost = faults.Amount(FaultKind::kLoseRank, worker, -1) == flush->source.rank;
  TraceFile& file = flush->file;
  file.path = order.path;
  file.makes_folder = false;  // Kineto does not make the folder
  file.slow_ns = faults.Amount(FaultKind::kSlowFlush, worker);
  file.truncate = faults.Has(FaultKind::kTruncate, worker);
  file.disk_full = faults.Has(FaultKind::kDiskFull, worker);
  file.die = faults.Has(FaultKind::kDieInFlush, worker) && flush->source.rank == 0;
  AtWindow(
      loop, order, [&engine] { return engine.OpenRecording(); },
      [&loop, &engine, flush, done = order.done, died = std::move(died)](int recording) {
        flush->recording = std::make_shared<const Recording>(engine.CloseRecording(recording));
        if (engine.dead()) return;  // the process that would write the trace is dead
        FlushTraces(loop, {*flush}, [done, died](const std::vector<FileOutcome>& outcomes) {
          outcomes.front().end == FileEnd::kDied ? died() : done();
        });
      });
}

void RecordEmptyWindow(Loop& loop, TraceSource source, const TraceWindowOrder& order) {
  auto flush = std::make_shared<RankFlush>();
  flush->source = OnDemand(std::move(source), order);
  flush->source.content = TraceContent::kNothing;
  flush->source.pid = order.pid;
  flush->source.process_name = order.process_name;
  flush->file.path = order.path;
  flush->file.makes_folder = false;
  auto recording = std::make_shared<Recording>();
  recording->start_ns = order.start_unix_ns;
  recording->end_ns = order.start_unix_ns + order.duration_ns;
  flush->recording = std::move(recording);
  AtWindow(
      loop, order, [] { return 0; },
      [&loop, flush, done = order.done](int) {
        FlushTraces(loop, {*flush}, [done](const auto&) { done(); });
      });
}

}  // namespace tacho::simulate
