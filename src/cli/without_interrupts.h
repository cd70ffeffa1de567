#pragma once

#include <csignal>

namespace tacho {

// Delays Ctrl-C, SIGTERM and SIGHUP while files are half written; they take effect when the object
// ends. Of the calling thread.
class WithoutInterrupts {
 public:
  WithoutInterrupts() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  WithoutInterrupts(const WithoutInterrupts&) = delete;
  WithoutInterrupts& operator=(const WithoutInterrupts&) = delete;
  ~WithoutInterrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace tacho
