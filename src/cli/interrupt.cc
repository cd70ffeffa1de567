#include "cli/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <thread>

#include "cli/exit_status.h"
#include "cli/without_interrupts.h"
#include "net/clock.h"

namespace tacho {
namespace {

// timeout(1) signals its child and the child's group; shell and kernel both signal the end of a
// terminal. A signal so soon after the first is the same one.
constexpr int64_t kSameSignalNs = 200'000'000;

std::atomic<int64_t> first_ns = 0;  // time of the first signal; 0: none
std::atomic<bool> from_terminal = false;
std::atomic<int> wake = -1;
std::atomic<const char*> last_words = nullptr;
std::string acknowledgement;  // changes only while the handler is not installed
std::thread watcher;
struct sigaction old_int, old_term, old_hup;

// Calls only what a signal handler may call.
void OnSignal(int, siginfo_t* info, void*) {
  int saved = errno;
  const int64_t now = MonotonicNs();
  int64_t first = 0;
  if (!first_ns.compare_exchange_strong(first, now)) {
    if (now - first < kSameSignalNs) return;
    if (const char* text = last_words.load(); text != nullptr) {
      [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
    }
    _exit(kInterrupted);
  }
  from_terminal = info->si_code == SI_KERNEL;
  [[maybe_unused]] ssize_t said =
      write(STDERR_FILENO, acknowledgement.data(), acknowledgement.size());
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake.load(), &one, sizeof(one));
  errno = saved;
}

}  // namespace

InterruptScope::InterruptScope(const std::string& now) {
  // Over a line that is redrawn.
  acknowledgement = std::string(isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "") +
                    "tacho: interrupted: " + now + " (again: ends at once)\n";
  first_ns = 0;
  wake = eventfd(0, EFD_CLOEXEC);
  struct sigaction action {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
  // The end of a terminal; ignored with nohup.
  sigaction(SIGHUP, nullptr, &old_hup);
  if (old_hup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  // A stop request runs callbacks, which a signal handler must not do, so a thread does it.
  watcher = std::thread([this] {
    // This thread also takes a signal that came while the caller blocked it (WithoutInterrupts).
    const sigset_t interrupts = InterruptSignals();
    pthread_sigmask(SIG_UNBLOCK, &interrupts, nullptr);
    uint64_t count = 0;
    while (read(wake.load(), &count, sizeof(count)) < 0 && errno == EINTR) {
    }
    if (first_ns.load() != 0) source_.request_stop();
  });
}

InterruptScope::~InterruptScope() {
  last_words = nullptr;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake.load(), &one, sizeof(one));
  watcher.join();
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
  sigaction(SIGHUP, &old_hup, nullptr);
  close(wake.exchange(-1));
}

bool InterruptScope::SignalCame() { return first_ns.load() != 0; }

bool InterruptScope::FromTerminal() { return from_terminal; }

void InterruptScope::SetLastWords(const char* text) { last_words = text; }

}  // namespace tacho
