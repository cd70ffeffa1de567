#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>

#include "run/progress.h"

namespace tacho {

// How far a reading has come. The threads that read write it, and another one looks at it. Ends the
// reading, and the programs that convert files for it, when a stop is requested.
class ReadingProgress final : public RunProgress {
 public:
  explicit ReadingProgress(std::stop_token stop) : stop_(std::move(stop)) {}

  void OnPlan(size_t traces, uint64_t stored_bytes) override;
  void OnBytes(uint64_t stored_bytes) override { done_bytes_ += stored_bytes; }
  [[nodiscard]] bool IsStopped() const override { return stop_.stop_requested(); }
  std::stop_token StopOfExports() override { return stop_; }
  void OnExportBegin(const std::string& file, const std::string& program) override;
  void OnExportShare(double share) override { export_share_ = share; }
  void OnExportEnd() override;

  struct Look {
    uint64_t traces = 0, done_bytes = 0, total_bytes = 0;  // total: 0 if it is not known
    std::string line;                                      // what the program's bar shows
  };
  [[nodiscard]] Look LookAt(double seconds, bool unicode) const;
  // The line once all is read.
  [[nodiscard]] std::string LastLine(double seconds) const;

 private:
  const std::stop_token stop_;
  std::atomic<uint64_t> done_bytes_ = 0, total_bytes_ = 0, traces_ = 0;
  std::atomic<double> export_share_ = 0;
  mutable std::mutex mutex_;
  std::string exporting_;  // the newest running conversion, "FILE with nsys 2022.4.2.1"
};

}  // namespace tacho
