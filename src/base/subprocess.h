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
  std::vector<std::string> arguments;  // the program, looked up in PATH, and its arguments
  std::string name = {};               // for messages; "": the program's name
  // "NAME=value", added to this process's environment or replacing a variable of it.
  std::vector<std::string> environment = {};
  std::chrono::milliseconds patience{0};  // limit until the output ends; 0: unlimited
  // Limit from the end of the output, or from SIGTERM, to the exit.
  std::chrono::milliseconds grace{10'000};
  std::stop_token stop = {};
};

// A program that runs beside this one, in a process group of its own (Ctrl-C does not reach it),
// with /dev/null as standard input and default signals. No shell reads its arguments. Its standard
// output is read as it comes. The last 64 KiB of its standard error are kept. The destructor ends
// the program and waits for it, two graces at most.
class Subprocess {
 public:
  // kRemote: there is no such program, or no process can be made.
  static Result<Subprocess> Start(SubprocessOptions options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&&) = delete;
  ~Subprocess() { (void)Finish(); }

  // Waits for output and returns its size, at most `room`. 0 at the end of the output, once the
  // patience is over, and once a stop is requested: cut_short() says which.
  size_t Read(char* to, size_t room);
  // Why Read gave up before the end of the output; "" if it did not.
  [[nodiscard]] const char* cut_short() const { return cut_short_; }

  // Waits for the end of the program if its output was read to the end. Otherwise, or if the
  // program exceeds the grace, sends its process group SIGTERM and, after another grace, SIGKILL.
  // kRemote: it exceeded the patience or the grace, a stop was requested, or its exit status is not
  // 0 (then with the last line of its standard error). The second call does nothing.
  Result<void> Finish();

 private:
  explicit Subprocess(SubprocessOptions options);
  void ReadError();
  [[nodiscard]] bool EndsWithin(std::chrono::milliseconds time) const;

  SubprocessOptions options_;
  std::chrono::steady_clock::time_point begin_;
  pid_t pid_ = 0;  // of the program and of its group; 0: not started, or waited for
  FileDescriptor output_, error_;
  std::string error_text_;
  const char* cut_short_ = "";
};

// A program in the foreground: it has this process's terminal, standard streams and process group,
// so that Ctrl-C in the terminal reaches it too. The program goes on when this object is destroyed.
class ForegroundProgram {
 public:
  // `environment`: as in SubprocessOptions. kUsage: there is no such program, or no process can be
  // made.
  static Result<ForegroundProgram> Start(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& environment);
  // The exit status once the program has ended; 128 plus the signal if a signal ended it.
  std::optional<int> Ended();
  // Sends it SIGTERM.
  void AskToEnd() const;

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
};

// The first bytes of a program's standard output, at most `most`. Errors: those of Start and
// Finish.
Result<std::string> OutputOf(SubprocessOptions options, size_t most);

// Starts a program that outlives this one: like Subprocess, but its output is dropped and nobody
// waits for it. kRemote: there is no such program, or no process can be made.
Result<void> StartDetached(const std::vector<std::string>& arguments);

// Starts a detached program after setsid(), with /dev/null as its standard streams and `given` as
// its descriptors 3, 4, ... It gets no other descriptor of this process. Returns the pid, so that
// the caller can wait for the program.
Result<pid_t> StartWithDescriptors(const std::vector<std::string>& arguments,
                                   const std::vector<int>& given);

}  // namespace tacho
