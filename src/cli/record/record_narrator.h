#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/screen/slow_notice.h"
#include "session/recording.h"

namespace tacho {

// A recording's phases on standard error: one plain line at the end of each, and on a terminal
// changing lines before that. If a second Ctrl-C ends tacho while profilers run, a message names
// what keeps running.
class Narrator final : public RecordObserver {
 public:
  // live_columns: the width of changing lines; absent: none are shown. quiet: only remarks.
  Narrator(std::optional<size_t> live_columns, bool quiet)
      : live_columns_(live_columns), quiet_(quiet) {}
  ~Narrator() override;

  void OnDone(std::string_view phase, const std::string& what) override;
  void OnProgress(std::string_view phase, const std::string& what) override;
  void OnRemark(const std::string& what) override;
  void OnLeftBehind(const std::string& what) override;
  void OnPartly(Recording& recording) override;
  // Sets the function that gets the finished part of a recording while other workers still write.
  void WhenPartly(std::function<void(Recording&)> show) { show_partly_ = std::move(show); }
  // Prints a notice if the preflight (the checks before the recording) takes more than two seconds.
  // Each of its requests may wait for `patience`.
  void WaitForPreflight(std::chrono::milliseconds patience) {
    notice_.emplace(StillWaitingText(patience), kPatienceWithoutWords);
  }
  // Erases the changing lines.
  void Clear() { Line(""); }

 private:
  void Line(const std::string& text);
  // The text of a phase: one line; on a terminal as many lines as needed.
  std::string Told(std::string_view phase, const std::string& what) const;
  std::string Wiped() const;

  const std::optional<size_t> live_columns_;
  const bool quiet_;
  size_t open_lines_ = 0;  // how many lines are redrawn; the last one has no line end yet
  std::string words_;
  std::function<void(Recording&)> show_partly_;
  std::optional<SlowNotice> notice_;  // until the preflight is done
};

}  // namespace tacho
