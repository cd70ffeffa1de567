#pragma once

#include <stop_token>

namespace tacho {

// Turns Ctrl-C, SIGTERM and SIGHUP into a stop request while it lives, for commands that must clean
// up. A second one, at least 0.2 s later, ends the process at once, after it has written
// `last_words` to standard error (not copied: they must outlive this object). Only one object at a
// time.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

  std::stop_token token() const { return source_.get_token(); }
  // The text that a second signal prints; "" for none. Safe to call at any time.
  static void SetLastWords(const char* text);

 private:
  std::stop_source source_;
};

}  // namespace tacho
