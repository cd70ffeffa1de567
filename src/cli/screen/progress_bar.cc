#include "cli/screen/progress_bar.h"

#include <unistd.h>

#include "cli/screen/output.h"
#include "cli/screen/progress_line.h"

namespace tacho {
namespace {

constexpr auto kQuietFor = std::chrono::milliseconds(500);
constexpr auto kRedrawBar = std::chrono::milliseconds(100);

}  // namespace

RedrawnLine::RedrawnLine(Line line, Line last)
    : line_(std::move(line)), last_(std::move(last)), thread_([this] { Run(); }) {}

RedrawnLine::~RedrawnLine() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void RedrawnLine::Run() {
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, kQuietFor, [this] { return end_; })) return;
  const auto seconds = [this] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  };
  do {
    DrawOnStderr("\r" + line_(seconds()) + "\x1b[K");
  } while (!ended_.wait_for(lock, kRedrawBar, [this] { return end_; }));
  DrawOnStderr("\r\x1b[K" + last_(seconds()));
}

ProgressBar::ProgressBar(const TextStyle& style, bool enabled, std::optional<std::stop_token> stop)
    : style_(style), stop_(std::move(stop)) {
  if (!enabled) return;
  line_.emplace([this](double seconds) { return LineAt(seconds); },
                [this](double seconds) { return ReadLine(done_bytes_, seconds) + "\n"; });
}

void ProgressBar::OnPlan(size_t traces, uint64_t stored_bytes) {
  traces_ = traces;
  total_bytes_ = stored_bytes;
}

std::stop_token ProgressBar::StopOfExports() {
  const std::lock_guard lock(mutex_);
  ++exports_;
  if (stop_) return *stop_;
  if (!interrupt_) interrupt_.emplace("ending the program that exports");
  return interrupt_->token();
}

void ProgressBar::OnExportBegin(const std::string& file, const std::string& program) {
  const std::lock_guard lock(mutex_);
  exporting_ = file + " with " + program;
  export_share_ = 0;
  if (!line_) Complain("exporting " + exporting_);
}

void ProgressBar::OnExportEnd() {
  const std::lock_guard lock(mutex_);
  if (--exports_ > 0) return;
  exporting_.clear();
  interrupt_.reset();
}

std::string ProgressBar::LineAt(double seconds) {
  const std::lock_guard lock(mutex_);
  if (exporting_.empty()) return ProgressLine(done_bytes_, total_bytes_, traces_, seconds, style_);
  return ExportLine(exporting_, export_share_, seconds);
}

}  // namespace tacho
