#include "cli/screen/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <thread>

#include "base/monotonic_clock.h"
#include "cli/exit_status.h"
#include "cli/screen/without_interrupts.h"

namespace tacho {
namespace {

// The same event may send two signals: timeout(1) signals its child and the child's group, and when
// a terminal closes, shell and kernel both send one. A second signal within this time is ignored.
constexpr int64_t kSameSignalNs = 200'000'000;

std::atomic<int64_t> first_ns = 0;  // time of the first signal; 0: none
std::atomic<int> first_number = 0;
std::atomic<bool> from_terminal = false;
std::atomic<bool> scope_ends = false;
std::atomic<int> wake = -1;
std::atomic<const char*> last_words = nullptr;
std::string acknowledgement;  // changes only while the handler is not installed
std::thread watcher;
struct sigaction old_int, old_term, old_hup;

// Calls only what a signal handler may call.
void OnSignal(int number, siginfo_t* info, void*) {
  int saved = errno;
  const int64_t now = MonotonicNs();
  int none = 0;
  first_number.compare_exchange_strong(none, number);
  int64_t first = 0;
  if (!first_ns.compare_exchange_strong(first, now)) {
    if (now - first < kSameSignalNs) return;
    if (const char* text = last_words.load(); text != nullptr) SayInHandler(text);
    _exit(kInterrupted);
  }
  from_terminal = info->si_code == SI_KERNEL;
  SayInHandler(acknowledgement);
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake.load(), &one, sizeof(one));
  errno = saved;
}

}  // namespace

void SayInHandler(std::string_view text) {
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, 0) <= 0) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

InterruptScope::InterruptScope(const std::string& now) {
  assert(!watcher.joinable() && "only one at a time");
  // Overwrites a line that is being redrawn.
  acknowledgement = std::string(isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "") +
                    "tacho: interrupted: " + now + " (again: ends at once)\n";
  first_ns = 0, first_number = 0, scope_ends = false;
  wake = eventfd(0, EFD_CLOEXEC);
  struct sigaction action {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
  // SIGHUP means that the terminal was closed. Under nohup it is ignored, and stays so.
  sigaction(SIGHUP, nullptr, &old_hup);
  if (old_hup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  // A stop request runs callbacks, which a signal handler must not do, so a thread does it.
  watcher = std::thread([this] {
    // Unblocks the signals in this thread, so that it takes them even while the caller blocks them
    // (WithoutInterrupts).
    const sigset_t interrupts = InterruptSignals();
    pthread_sigmask(SIG_UNBLOCK, &interrupts, nullptr);
    for (bool is_last = false; !is_last;) {
      uint64_t count = 0;
      while (read(wake.load(), &count, sizeof(count)) < 0 && errno == EINTR) {
      }
      is_last = scope_ends.load();
      if (first_ns.load() != 0) source_.request_stop();
    }
  });
}

InterruptScope::~InterruptScope() {
  last_words = nullptr;
  scope_ends = true;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(wake.load(), &one, sizeof(one));
  watcher.join();
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
  sigaction(SIGHUP, &old_hup, nullptr);
  close(wake.exchange(-1));
  // A signal that came after the watcher's last check has had no effect yet. Sends it again: it
  // takes effect now, or, under WithoutInterrupts, when the next scope begins.
  if (first_ns.load() != 0 && !source_.stop_requested()) kill(getpid(), first_number.load());
}

bool InterruptScope::FromTerminal() { return from_terminal; }

void InterruptScope::SetLastWords(const char* text) { last_words = text; }

}  // namespace tacho
