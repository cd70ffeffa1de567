#include "cli/load_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <deque>

#include "cli/output.h"
#include "net/clock.h"
#include "report/format_number.h"

namespace tacho {
namespace {

constexpr auto kRedrawLine = std::chrono::milliseconds(250);
constexpr size_t kLooksOfRate = 12;  // three seconds

LoadLook LookAt(const DriveProgress& progress, int64_t began_ns) {
  return {.at_s = static_cast<double>(MonotonicNs() - began_ns) / 1e9,
          .sent = progress.sent,
          .running = progress.running,
          .waiting = progress.waiting,
          .done = progress.done,
          .failed = progress.failed,
          .output_tokens = progress.output_tokens};
}

std::string Count(uint64_t value) { return FormatCount(static_cast<int64_t>(value)); }

}  // namespace

std::string LoadLine(const std::string& title, const LoadGoal& goal, const LoadLook& now,
                     const LoadLook& before) {
  const double seconds = now.at_s - before.at_s;
  const auto rate = [&](uint64_t to, uint64_t from) {
    return FormatNumber(seconds > 0 ? static_cast<double>(to - from) / seconds : 0);
  };
  const std::string of_time = goal.seconds ? fmt::format(" of {:.0f} s", *goal.seconds) : "";
  const std::string of_all = goal.requests ? " of " + Count(*goal.requests) : "";
  std::string line = fmt::format("{} {:.0f} s{}  {}{} sent, {} running", title, now.at_s, of_time,
                                 Count(now.sent), of_all, Count(now.running));
  if (now.waiting > 0) line += fmt::format(", {} waiting", Count(now.waiting));
  line += fmt::format(", {} done", Count(now.done));
  if (now.failed > 0) line += fmt::format(", {} failed", Count(now.failed));
  return line + fmt::format("  {} req/s, {} tok/s", rate(now.done, before.done),
                            rate(now.output_tokens, before.output_tokens));
}

LoadProgressLine::LoadProgressLine(const DriveProgress& progress, std::string title, LoadGoal goal,
                                   bool enabled)
    : progress_(progress), title_(std::move(title)), goal_(goal) {
  if (enabled) thread_ = std::thread([this] { Run(); });
}

LoadProgressLine::~LoadProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void LoadProgressLine::Run() {
  const int64_t began_ns = MonotonicNs();
  std::deque<LoadLook> looks = {LookAt(progress_, began_ns)};
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kRedrawLine, [this] { return end_; })) {
    looks.push_back(LookAt(progress_, began_ns));
    if (looks.size() > kLooksOfRate) looks.pop_front();
    DrawOnStderr("\r" + LoadLine(title_, goal_, looks.back(), looks.front()) + "\x1b[K");
  }
  DrawOnStderr("\r\x1b[K");
}

}  // namespace tacho
