#pragma once

#include <stop_token>

namespace tacho {

// Turns Ctrl-C, SIGTERM and SIGHUP into a stop request while it lives, for commands that have
// something to put in order first. A second one, 0.2 s later or more, ends the process at
// once, after `last_words` were written to standard error (they are kept, not copied: they
// must outlive this). One at a time.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

  std::stop_token token() const { return source_.get_token(); }
  // What a second signal says; "" for nothing. Safe to call at any time.
  static void SetLastWords(const char* text);

 private:
  std::stop_source source_;
};

}  // namespace tacho
