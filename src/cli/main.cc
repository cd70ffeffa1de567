#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/screen/interrupt.h"

namespace {

// Ctrl-C: erases a half-drawn progress bar and exits. Calls only what a signal handler may call.
void OnInterrupt(int) {
  constexpr std::string_view kWords = "\r\x1b[Ktacho: interrupted\n";
  const size_t skip = isatty(STDERR_FILENO) == 1 ? 0 : kWords.find('t');
  tacho::SayInHandler(kWords.substr(skip));
  _exit(tacho::kInterrupted);
}

// Opens /dev/null in place of each standard stream that is closed. Otherwise the next opened file
// would get the stream's number, and printed text would go into that file. /dev/null is opened
// read-only, so that printing to a closed stream still fails.
void OpenStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDONLY);  // takes the lowest free number
}

tacho::Error Bug(const char* what) {
  return {tacho::ErrorKind::kBug,
          fmt::format("{}\nthis is a bug in tacho {}: please report it with the command line and, "
                      "if you may, the trace",
                      what, tacho::TachoVersion())};
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardStreams();
  // A reader that closes the pipe ("| head") causes EPIPE at our write (cli/screen/output.h).
  std::signal(SIGPIPE, SIG_IGN);
  // A file beyond the size limit (ulimit -f) causes EFBIG at our write.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGINT, OnInterrupt);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    return tacho::RunCommandLine(arguments);
  } catch (const std::bad_alloc&) {
    return tacho::EndsWith({tacho::ErrorKind::kUnreadable, "there is not enough memory"},
                           arguments);
  } catch (const std::exception& exception) {
    return tacho::EndsWith(Bug(exception.what()), arguments);
  } catch (...) {
    return tacho::EndsWith(Bug("unknown exception"), arguments);
  }
}
