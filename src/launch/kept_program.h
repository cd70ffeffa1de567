#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

struct KeptProgramOptions {
  std::vector<std::string> arguments;         // the program, looked up in PATH, and its arguments
  std::vector<std::string> environment = {};  // "NAME=value", beside this process's own
  std::string log;                            // what it prints is appended to this file
  // A log of this size becomes LOG.1, and LOG.1 becomes LOG.2; the earlier LOG.2 is lost. A line
  // that is written at that very moment may be lost too.
  uint64_t log_bytes = 64 << 20;
  std::chrono::milliseconds grace{20'000};       // from SIGTERM to SIGKILL
  std::chrono::milliseconds last_grace{10'000};  // from there until the keeper gives up
  // The program whose hidden word is the keeper (RunKeeper): tacho itself.
  std::string keeper = "/proc/self/exe";
};

// A server that never outlives its owner. Its keeper, a process of this program, starts it in a
// session of its own and adopts every process that it leaves behind. When the owner ends, however
// it ends, when End is called, or when the server itself ends, the processes that are left get
// SIGTERM and, a grace later, SIGKILL. Then the keeper removes the shared memory that they leave:
// files directly in /dev/shm that they had mapped, that were not there before the server began, and
// that no other process maps. If the keeper is killed, the kernel kills the server's first process,
// and the owner kills the others of its session. Linux only.
class KeptProgram {
 public:
  // Makes the keeper; the program starts with Begin. kOutput: the log cannot be opened, or there is
  // no process for it.
  static Result<KeptProgram> Make(KeptProgramOptions options);
  KeptProgram(KeptProgram&& other) noexcept
      : channel_(std::move(other.channel_)),
        keeper_(std::exchange(other.keeper_, 0)),
        pid_(other.pid_),
        status_(other.status_),
        failure_(other.failure_),
        log_(std::move(other.log_)),
        keeper_was_killed_(other.keeper_was_killed_) {}
  KeptProgram& operator=(KeptProgram&&) = delete;
  ~KeptProgram() { End(); }

  // Starts the program and waits until it runs. kUsage: it is not there, or may not be run.
  Result<void> Begin();
  // The exit status of the program once it has ended; 128 plus the signal, if a signal ended it.
  std::optional<int> Ended();
  // Ends it with all its processes, as above.
  void AskToEnd() { channel_.Close(); }
  // The same, and waits until nothing is left; returns "". If a process does not end even by
  // SIGKILL, because the kernel holds it, the keeper names it in the log; then returns words that
  // say so.
  std::string End();
  // The program goes on when this process ends, until somebody sends SIGTERM to its keeper.
  void Release();

  // Whether somebody killed the keeper, and so the program.
  [[nodiscard]] bool keeper_was_killed() const { return keeper_was_killed_; }
  [[nodiscard]] pid_t keeper() const { return keeper_; }
  [[nodiscard]] pid_t pid() const { return pid_; }  // 0 before Begin

 private:
  KeptProgram() = default;
  bool Hear(int timeout_ms);
  void KillSession() const;

  FileDescriptor channel_;
  pid_t keeper_ = 0, pid_ = 0;
  std::optional<int> status_, failure_;
  std::string log_;
  bool keeper_was_killed_ = false;
};

}  // namespace tacho
