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
  std::vector<std::string> arguments;  // the program, which is looked up in PATH, and its arguments
  std::vector<std::string> environment = {};  // "NAME=value", added to this process's own
  std::string log;                            // the file to which its output is appended
  // A log that reaches this size becomes LOG.1, LOG.1 becomes LOG.2, and the old LOG.2 is lost. A
  // line that is written at that moment may be lost too.
  uint64_t log_bytes = 64 << 20;
  std::chrono::milliseconds grace{20'000};       // from SIGTERM to SIGKILL
  std::chrono::milliseconds last_grace{10'000};  // from SIGKILL until the keeper gives up
  // The program that becomes the keeper when it is started with the word kKeeperWord (keeper.h): by
  // default tacho itself.
  std::string keeper = "/proc/self/exe";
};

// A server that never outlives its owner. Another process of tacho, its keeper, starts the server
// in a session of its own and adopts every process that the server orphans. The keeper waits until
// the owner ends in any way, End is called, or the server itself ends. Then it sends SIGTERM to the
// remaining processes and, after the grace, SIGKILL. At last it removes the shared memory that they
// left: files directly in /dev/shm that they had mapped, that did not exist before the server
// began, and that no other process maps. If the keeper is killed, the kernel kills the server's
// first process, and the owner kills the other processes of its session. Linux only.
class KeptProgram {
 public:
  // Makes the keeper; Begin then starts the program. kOutput: the log cannot be opened, or no
  // process can be made.
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

  // Starts the program and waits until it runs. kUsage: the program does not exist, or may not be
  // run. kOutput: the keeper was killed.
  Result<void> Begin();
  // The exit status of the program once it has ended; 128 plus the signal if a signal ended it.
  std::optional<int> Ended();
  // Asks the keeper to end all processes; does not wait.
  void AskToEnd() { channel_.Close(); }
  // Asks the keeper to end all processes, and waits until they have ended; returns "". If the
  // kernel holds a process that not even SIGKILL ends, the keeper names it in the log, and End
  // returns a text that says so.
  std::string End();
  // Lets the program go on when this process ends, until somebody sends SIGTERM to its keeper.
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
