#include "cli/load/load_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <deque>

#include "base/monotonic_clock.h"
#include "cli/screen/output.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr auto kRedrawLine = std::chrono::milliseconds(250);
constexpr size_t kLooksOfRate = 13;  // the rate of a redrawn line covers three seconds
constexpr auto kPlainLineEvery = std::chrono::seconds(10);

LoadLook LookAt(const DriveProgress& progress, int64_t began_ns) {
  return {.at_s = static_cast<double>(MonotonicNs() - began_ns) / 1e9,
          .running = progress.running,
          .waiting = progress.waiting,
          .done = progress.done,
          .failed = progress.failed,
          .output_tokens = progress.output_tokens};
}

std::string Count(uint64_t value) { return FormatCount(value); }

}  // namespace

std::string LoadLine(const std::string& title, const LoadGoal& goal, const LoadLook& now,
                     const LoadLook& before) {
  const double seconds = now.at_s - before.at_s;
  const auto rate = [&](uint64_t to, uint64_t from) {
    return FormatNumber(seconds > 0 ? static_cast<double>(to - from) / seconds : 0);
  };
  std::string of_time;
  if (goal.seconds)
    of_time = std::round(now.at_s) > *goal.seconds ? ", waiting for the last answers"
                                                   : fmt::format(" of {:.0f} s", *goal.seconds);
  const std::string of_all = goal.requests ? " of " + Count(*goal.requests) : "";
  std::string line =
      fmt::format("{} {:.0f} s{}  {}{} done", title, now.at_s, of_time, Count(now.done), of_all);
  if (now.failed > 0) line += fmt::format(", {} failed", Count(now.failed));
  line += fmt::format(", {} running", Count(now.running));
  if (now.waiting > 0) line += fmt::format(", {} waiting", Count(now.waiting));
  return line + fmt::format("  now {} req/s, {} tok/s", rate(now.done, before.done),
                            rate(now.output_tokens, before.output_tokens));
}

LoadProgress::LoadProgress(const DriveProgress& progress, std::string title, LoadGoal goal,
                           ProgressLines lines)
    : progress_(progress), title_(std::move(title)), goal_(goal), lines_(lines) {
  if (lines.shown) thread_ = std::thread([this] { Run(); });
}

LoadProgress::~LoadProgress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void LoadProgress::Run() {
  const int64_t began_ns = MonotonicNs();
  std::deque<LoadLook> looks = {LookAt(progress_, began_ns)};
  const std::optional<size_t> columns = lines_.live_columns;
  const std::chrono::milliseconds period = columns ? kRedrawLine : kPlainLineEvery;
  const size_t looks_of_rate = columns ? kLooksOfRate : 2;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, period, [this] { return end_; })) {
    looks.push_back(LookAt(progress_, began_ns));
    if (looks.size() > looks_of_rate) looks.pop_front();
    const std::string line = LoadLine(title_, goal_, looks.back(), looks.front());
    DrawOnStderr(columns ? "\r" + FitText(line, *columns, lines_.unicode) + "\x1b[K" : line + "\n");
  }
  if (columns) DrawOnStderr("\r\x1b[K");
}

}  // namespace tacho
