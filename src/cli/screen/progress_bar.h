#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/screen/interrupt.h"
#include "run/progress.h"
#include "text/text_style.h"

namespace tacho {

// A line on standard error that appears after half a second and is redrawn from then on. Owns one
// thread.
class RedrawnLine {
 public:
  using Line = std::function<std::string(double seconds)>;
  // `line` and `last` run on the object's own thread. If a line was drawn, the text of `last`
  // replaces it at the end and stays; if that text is "", no line stays.
  explicit RedrawnLine(
      Line line, Line last = [](double) { return ""; });
  RedrawnLine(const RedrawnLine&) = delete;
  RedrawnLine& operator=(const RedrawnLine&) = delete;
  ~RedrawnLine();

 private:
  void Run();

  const Line line_, last_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

// Shows the progress of reading. If `enabled` (standard error is a terminal), it draws a bar after
// half a second, and leaves one plain line at the end. Otherwise it prints only a line for each
// file that another program (such as nsys) must first export. While such a program runs, the first
// Ctrl-C ends that program.
class ProgressBar : public RunProgress {
 public:
  // `stop`: the token of the command's InterruptScope; absent: it has none.
  ProgressBar(const TextStyle& style, bool enabled, std::optional<std::stop_token> stop = {});
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void OnPlan(size_t traces, uint64_t stored_bytes) override;
  void OnBytes(uint64_t stored_bytes) override { done_bytes_ += stored_bytes; }
  std::stop_token StopOfExports() override;
  void OnExportBegin(const std::string& file, const std::string& program) override;
  void OnExportShare(double share) override { export_share_ = share; }
  void OnExportEnd() override;

 private:
  std::string LineAt(double seconds);

  std::atomic<uint64_t> done_bytes_ = 0, total_bytes_ = 0, traces_ = 0;
  std::atomic<double> export_share_ = 0;
  const TextStyle style_;
  const std::optional<std::stop_token> stop_;
  std::mutex mutex_;
  std::optional<InterruptScope> interrupt_;  // while there are exports
  int exports_ = 0;
  std::string exporting_;  // the newest running export, "FILE with nsys 2022.4.2.1"; "": none runs
  std::optional<RedrawnLine> line_;  // declared last: its thread uses the members above
};

}  // namespace tacho
