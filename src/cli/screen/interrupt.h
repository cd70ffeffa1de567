#pragma once

#include <stop_token>
#include <string>
#include <string_view>

namespace tacho {

// Writes text to standard error from a signal handler. Writes nothing if a full pipe would make it
// wait.
void SayInHandler(std::string_view text);

// While it lives, turns Ctrl-C, SIGTERM and SIGHUP into a stop request, for commands that must
// clean up. The first signal is acknowledged at once on standard error, with what happens now:
// "tacho: interrupted: ending the load (again: ends at once)". A second signal, at least 0.2 s
// later, ends the process at once; before that, the text given to SetLastWords is written to
// standard error (the text is not copied: it must outlive this object). A signal that comes too
// late for a stop request is raised again when the object ends. Only one object may exist at a
// time. WithoutInterrupts bridges the time between two of them.
class InterruptScope {
 public:
  // `now`: what happens after the first signal, such as "ending the load".
  explicit InterruptScope(const std::string& now);
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

  std::stop_token token() const { return source_.get_token(); }
  // Whether the first signal came from the terminal: then all processes in its foreground got it.
  static bool FromTerminal();
  // The text that a second signal prints; "" for none. Safe to call at any time.
  static void SetLastWords(const char* text);

 private:
  std::stop_source source_;
};

}  // namespace tacho
