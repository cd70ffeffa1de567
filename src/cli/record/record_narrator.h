#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/screen/slow_notice.h"
#include "session/recording.h"

namespace tacho {

// A recording's phases on standard error: one plain line at the end of each, and on a terminal
// changing lines before that. While profilers run, a Ctrl-C that ends tacho at once says what keeps
// running.
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
  // Called with the finished part of a recording while other workers still write.
  void WhenPartly(std::function<void(Recording&)> show) { show_partly_ = std::move(show); }
  // Reports a preflight that is silent for seconds: each of its requests may wait for `patience`.
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
  size_t open_lines_ = 0;  // lines that change, the last without its end
  std::string words_;
  std::function<void(Recording&)> show_partly_;
  std::optional<SlowNotice> notice_;  // until the preflight is done
};

}  // namespace tacho
