#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

struct SubprocessOptions {
  std::vector<std::string> arguments;  // the program, looked up in PATH, then its arguments
  std::string name = {};               // for messages; "": the program's name
  // Each "NAME=value" is added to this process's environment or replaces a variable there.
  std::vector<std::string> environment = {};
  std::chrono::milliseconds patience{0};  // limit until the output ends; 0: no limit
  // Limit from the end of the output, or from SIGTERM, until the program exits.
  std::chrono::milliseconds grace{10'000};
  std::stop_token stop = {};
};

// A program that runs beside this one. It has a process group of its own (Ctrl-C does not reach
// it), /dev/null as standard input, and default signal handling. No shell interprets its arguments.
// Its standard output is read while it runs; the last 64 KiB of its standard error are kept. The
// destructor ends the program and waits for it, at most twice the grace.
class Subprocess {
 public:
  // kRemote: the program does not exist, or no process can be started.
  static Result<Subprocess> Start(SubprocessOptions options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&&) = delete;
  ~Subprocess() { (void)Finish(); }

  // Waits for output and returns its size, at most `room`. Returns 0 at the end of the output, when
  // SubprocessOptions::patience is over, or when a stop is requested; cut_short() tells which.
  size_t Read(char* to, size_t room);
  // Why Read stopped before the end of the output; "" if it did not.
  [[nodiscard]] const char* cut_short() const { return cut_short_; }

  // If the output was read to its end, waits until the program exits. Otherwise, or if that takes
  // longer than the grace, sends SIGTERM to its process group and, after another grace, SIGKILL.
  // kRemote: the program exceeded the patience or the grace, a stop was requested, or the exit
  // status is not 0 (then with the last line of its standard error). A second call does nothing.
  Result<void> Finish();

 private:
  explicit Subprocess(SubprocessOptions options);
  void ReadError();
  [[nodiscard]] bool EndsWithin(std::chrono::milliseconds time) const;

  SubprocessOptions options_;
  std::chrono::steady_clock::time_point begin_;
  pid_t pid_ = 0;  // of the program and its group; 0: not started, or already waited for
  FileDescriptor output_, error_;
  std::string error_text_;
  const char* cut_short_ = "";
};

// A program in the foreground. It shares this process's terminal, standard streams and process
// group, so Ctrl-C in the terminal reaches it too. It keeps running when this object is destroyed.
class ForegroundProgram {
 public:
  // `environment`: as in SubprocessOptions. kUsage: the program does not exist, or no process can
  // be started.
  static Result<ForegroundProgram> Start(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& environment);
  // The exit status after the program has exited; 128 plus the signal's number if a signal ended
  // it. Absent while it runs.
  std::optional<int> Ended();
  // Sends SIGTERM to the program.
  void AskToEnd() const;

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
};

// The first `most` bytes, at most, of a program's standard output. Errors: as for Start and Finish.
Result<std::string> OutputOf(SubprocessOptions options, size_t most);

// Starts a program that keeps running after this process has exited. It is started like a
// Subprocess, but its output is dropped and nobody waits for it. kRemote: the program does not
// exist, or no process can be started.
Result<void> StartDetached(const std::vector<std::string>& arguments);

// Starts a program in a new session (setsid), with /dev/null as its standard streams and `given` as
// its file descriptors 3, 4, ... It gets no other descriptors of this process. Returns the pid, so
// that the caller can wait for the program.
Result<pid_t> StartWithDescriptors(const std::vector<std::string>& arguments,
                                   const std::vector<int>& given);

}  // namespace tacho
