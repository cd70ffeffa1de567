#pragma once

#include <string>
#include <string_view>

#include "session/record.h"

namespace tacho {

// A recording's phases on standard error: one plain line each when done, and on a terminal lines
// that change meanwhile. While profilers run, a Ctrl-C that ends tacho at once says what it
// leaves behind.
class Narrator final : public RecordObserver {
 public:
  // live: lines may change; width: theirs, in columns. quiet: remarks alone.
  Narrator(bool live, bool quiet, size_t width) : live_(live), quiet_(quiet), width_(width) {}
  ~Narrator() override;

  void OnDone(std::string_view phase, const std::string& what) override;
  void OnProgress(std::string_view phase, const std::string& what) override;
  void OnRemark(const std::string& what) override;
  void OnLeftBehind(const std::string& what) override;
  // Takes the changing lines away.
  void Clear() { Line(""); }

 private:
  void Line(const std::string& text);
  std::string Wiped() const;

  const bool live_, quiet_;
  const size_t width_;
  size_t open_lines_ = 0;  // lines that change, the last without its end
  std::string words_;
};

}  // namespace tacho
