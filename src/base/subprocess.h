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
  std::string name = {};               // for messages; "": that of the program
  // "NAME=value", beside or in place of this process's own.
  std::vector<std::string> environment = {};
  std::chrono::milliseconds patience{0};    // until its output ends; 0: unlimited
  std::chrono::milliseconds grace{10'000};  // from the end of its output, or SIGTERM, to its end
  std::stop_token stop = {};
};

// A program that runs beside this one, in a process group of its own (Ctrl-C does not reach it),
// with /dev/null as standard input and default signals. No shell reads its arguments. Its standard
// output is read as it comes. The last 64 KiB of its standard error are kept. It ends with this
// object, which waits for it: two graces at most.
class Subprocess {
 public:
  // kRemote: there is no such program, or no process for it.
  static Result<Subprocess> Start(SubprocessOptions options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&&) = delete;
  ~Subprocess() { (void)Finish(); }

  // Waits for output: its size, at most `room`. 0 at its end, once the patience is over, and once a
  // stop is requested: cut_short() says which.
  size_t Read(char* to, size_t room);
  // Why Read gave up before the end of the output; "" if it did not.
  [[nodiscard]] const char* cut_short() const { return cut_short_; }

  // Waits for the end of a program whose output was read to its end. Any other program, and one
  // that exceeds the grace, gets SIGTERM and, a grace later, SIGKILL, with its process group.
  // kRemote: it exceeded the patience or the grace, a stop was requested, or its exit status is not
  // 0: with the last line of its standard error. The second call does nothing.
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
// so that Ctrl-C in the terminal reaches it too. It goes on when this object ends.
class ForegroundProgram {
 public:
  // `environment`: "NAME=value", beside or in place of this process's own. kUsage: there is no such
  // program, or no process for it.
  static Result<ForegroundProgram> Start(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& environment);
  // Its exit status once it has ended; 128 and the signal that ended it.
  std::optional<int> Ended();
  // Sends it SIGTERM.
  void AskToEnd() const;

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
};

// What a program prints, at most `most` bytes of it. Errors as of Start and Finish.
Result<std::string> OutputOf(SubprocessOptions options, size_t most);

// Starts a program that outlives this one: as above, but without its output, and nobody waits for
// it. kRemote: there is no such program, or no process for it.
Result<void> StartDetached(const std::vector<std::string>& arguments);

// The same in a session of its own, with `given` as its descriptors 3, 4, ... and no other one of
// this process. Its pid: somebody waits for it.
Result<pid_t> StartWithDescriptors(const std::vector<std::string>& arguments,
                                   const std::vector<int>& given);

}  // namespace tacho
