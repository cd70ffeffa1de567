#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/slow_notice.h"
#include "session/record.h"

namespace tacho {

// A recording's phases on standard error: one plain line each when done, and on a terminal lines
// that change meanwhile. While profilers run, a Ctrl-C that ends tacho at once says what it
// leaves behind.
class Narrator final : public RecordObserver {
 public:
  // live_columns: the width of lines that change; none: there are no such lines. quiet: remarks
  // alone.
  Narrator(std::optional<size_t> live_columns, bool quiet)
      : live_columns_(live_columns), quiet_(quiet) {}
  ~Narrator() override;

  void OnDone(std::string_view phase, const std::string& what) override;
  void OnProgress(std::string_view phase, const std::string& what) override;
  void OnRemark(const std::string& what) override;
  void OnLeftBehind(const std::string& what) override;
  void OnPartly(Recording& recording) override;
  // What is done with the part of a recording whose others still write.
  void WhenPartly(std::function<void(Recording&)> show) { show_partly_ = std::move(show); }
  // Says so where nothing is reported of the preflight for seconds: each of its questions may wait
  // for `patience`.
  void WaitForPreflight(std::chrono::milliseconds patience) {
    notice_.emplace(StillWaitingText(patience), kPatienceWithoutWords);
  }
  // Takes the changing lines away.
  void Clear() { Line(""); }

 private:
  void Line(const std::string& text);
  // The line of a phase; on a terminal as many as it takes.
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
