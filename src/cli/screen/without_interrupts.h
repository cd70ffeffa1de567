#pragma once

#include <csignal>

namespace tacho {

inline sigset_t InterruptSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

// Delays Ctrl-C, SIGTERM and SIGHUP while files are half written; they take effect when the object
// is destroyed, or when an InterruptScope begins. Affects only the calling thread.
class WithoutInterrupts {
 public:
  WithoutInterrupts() {
    const sigset_t set = InterruptSignals();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  WithoutInterrupts(const WithoutInterrupts&) = delete;
  WithoutInterrupts& operator=(const WithoutInterrupts&) = delete;
  ~WithoutInterrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace tacho
