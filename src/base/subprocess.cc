#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <thread>
#include <utility>

#include "base/system_error.h"

extern char** environ;

namespace tacho {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{200};
constexpr int kFirstGiven = 3;  // after the standard streams
constexpr size_t kMostErrorText = 64 << 10;
constexpr const char* kInterrupted = "interrupted";
// How long to read the standard error of a program that has exited. A descendant may keep it open
// for hours, for example the master of a shared ssh connection.
constexpr milliseconds kLastWords{1'000};

bool HasEnded(pid_t pid) {
  siginfo_t ended{};
  // WNOWAIT keeps the process number reserved until Finish waits for the program.
  return waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == pid;
}

std::string_view LastLine(std::string_view text) {
  text = text.substr(0, text.find_last_not_of("\r\n \t") + 1);
  return text.substr(text.find_last_of("\r\n") + 1);
}

struct Pipe {
  FileDescriptor reads, writes;
};

std::optional<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::vector<char*> PointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  return pointers;
}

// The variables in `settings`, and those of this process that `settings` does not replace.
std::vector<char*> WithOwnEnvironment(const std::vector<std::string>& settings) {
  std::vector<char*> all = PointersTo(settings);
  const auto is_replaced = [&](std::string_view old) {
    return std::any_of(settings.begin(), settings.end(), [&](std::string_view setting) {
      return old.starts_with(setting.substr(0, setting.find('=') + 1));
    });
  };
  for (char** setting = environ; *setting != nullptr; ++setting)
    if (!is_replaced(*setting)) all.push_back(*setting);
  all.push_back(nullptr);
  return all;
}

// Returns 0 or an errno value.
int Spawn(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
          int out, int err, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, ignored_here;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigemptyset(&ignored_here);
  sigaddset(&ignored_here, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &ignored_here);
  std::vector<char*> argv = PointersTo(arguments), settings = WithOwnEnvironment(environment);
  argv.push_back(nullptr);
  const int failure =
      posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), settings.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

tl::unexpected<Error> NotStarted(const std::string& program, int failure) {
  return Fail(ErrorKind::kRemote,
              fmt::format("{} could not be started: {}", program,
                          failure == ENOENT ? "is it installed?" : SystemErrorText(failure)));
}

}  // namespace

Result<void> StartDetached(const std::vector<std::string>& arguments) {
  const FileDescriptor nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
  pid_t pid = 0;
  const int failure = nothing ? Spawn(arguments, {}, nothing.get(), nothing.get(), pid) : errno;
  return failure == 0 ? Result<void>() : NotStarted(arguments[0], failure);
}

Result<pid_t> StartWithDescriptors(const std::vector<std::string>& arguments,
                                   const std::vector<int>& given) {
  // First moves all descriptors to numbers above their final ones. Otherwise a dup2 could overwrite
  // a descriptor that is still needed.
  const int first_free = kFirstGiven + static_cast<int>(given.size());
  std::vector<FileDescriptor> moved;
  for (const int descriptor : given)
    moved.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, first_free));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int standard = 0; standard < kFirstGiven; ++standard)
    posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
  for (size_t i = 0; i < moved.size(); ++i)
    posix_spawn_file_actions_adddup2(&actions, moved[i].get(), kFirstGiven + static_cast<int>(i));
  posix_spawn_file_actions_addclosefrom_np(&actions, first_free);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::vector<char*> argv = PointersTo(arguments);
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return NotStarted(arguments[0], failure);
  return pid;
}

Result<ForegroundProgram> ForegroundProgram::Start(const std::vector<std::string>& arguments,
                                                   const std::vector<std::string>& environment) {
  std::vector<char*> argv = PointersTo(arguments), settings = WithOwnEnvironment(environment);
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  sigset_t ignored_here;
  sigemptyset(&ignored_here);
  sigaddset(&ignored_here, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &ignored_here);
  ForegroundProgram program;
  const int failure =
      posix_spawnp(&program.pid_, argv[0], nullptr, &attributes, argv.data(), settings.data());
  posix_spawnattr_destroy(&attributes);
  if (failure == 0) return program;
  return Fail(ErrorKind::kUsage, fmt::format("{}: {}", arguments[0], SystemErrorText(failure)));
}

std::optional<int> ForegroundProgram::Ended() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_)
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

void ForegroundProgram::AskToEnd() const {
  if (!status_) kill(pid_, SIGTERM);
}

Result<std::string> OutputOf(SubprocessOptions options, size_t most) {
  TACHO_ASSIGN_OR_RETURN(Subprocess process, Subprocess::Start(std::move(options)));
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < most) {
    const size_t got = process.Read(part.data(), std::min(part.size(), most - text.size()));
    if (got == 0) break;
    text.append(part.data(), got);
  }
  TACHO_RETURN_IF_ERROR(process.Finish());
  return text;
}

Subprocess::Subprocess(SubprocessOptions options)
    : options_(std::move(options)), begin_(steady_clock::now()) {
  if (options_.name.empty()) options_.name = options_.arguments.at(0);
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : options_(std::move(other.options_)),
      begin_(other.begin_),
      pid_(std::exchange(other.pid_, 0)),
      output_(std::move(other.output_)),
      error_(std::move(other.error_)),
      error_text_(std::move(other.error_text_)),
      cut_short_(other.cut_short_) {}

Result<Subprocess> Subprocess::Start(SubprocessOptions options) {
  Subprocess process(std::move(options));
  std::optional<Pipe> output = MakePipe(), error = MakePipe();
  const int failure = output && error
                          ? Spawn(process.options_.arguments, process.options_.environment,
                                  output->writes.get(), error->writes.get(), process.pid_)
                          : errno;
  if (failure != 0) {
    process.pid_ = 0;
    return NotStarted(process.options_.arguments[0], failure);
  }
  process.output_ = std::move(output->reads);
  process.error_ = std::move(error->reads);
  return process;
}

void Subprocess::ReadError() {
  std::array<char, 4096> text;
  const ssize_t got = read(error_.get(), text.data(), text.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0)
    error_.Close();
  else
    error_text_.append(text.data(), static_cast<size_t>(got));
  // Only the last lines are kept, because they name the cause.
  if (error_text_.size() > 2 * kMostErrorText)
    error_text_.erase(0, error_text_.size() - kMostErrorText);
}

size_t Subprocess::Read(char* to, size_t room) {
  std::optional<steady_clock::time_point> ended;
  while (*cut_short_ == '\0' && (output_ || error_)) {
    const auto now = steady_clock::now();
    if (options_.patience.count() > 0 && now - begin_ > options_.patience) {
      cut_short_ = "the time for it was over";
      break;
    }
    if (options_.stop.stop_requested()) {
      cut_short_ = kInterrupted;
      break;
    }
    if (!output_ && HasEnded(pid_)) {
      if (!ended) ended = now;
      if (now - *ended > kLastWords) error_.Close();
    }
    // A closed descriptor is -1, which poll ignores.
    std::array<pollfd, 2> waiting{pollfd{output_.get(), POLLIN, 0},
                                  pollfd{error_.get(), POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), kLook.count()) <= 0) continue;
    if (waiting[1].revents != 0) ReadError();
    if (waiting[0].revents == 0) continue;
    const ssize_t got = read(output_.get(), to, room);
    if (got > 0) return static_cast<size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    output_.Close();
  }
  return 0;
}

bool Subprocess::EndsWithin(milliseconds time) const {
  const auto until = steady_clock::now() + time;
  while (!HasEnded(pid_)) {
    if (steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

Result<void> Subprocess::Finish() {
  if (pid_ == 0) return {};
  const bool cut = output_ || error_;
  const bool late = !cut && !EndsWithin(options_.grace);
  if (cut || late) {
    kill(-pid_, SIGTERM);
    (void)EndsWithin(options_.grace);
    kill(-pid_, SIGKILL);
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  if (late || *cut_short_ != '\0')
    return Fail(ErrorKind::kRemote,
                fmt::format("{}: {}", options_.name,
                            cut_short_ == kInterrupted ? kInterrupted : "did not end in time"));
  if (cut || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return {};
  if (error_text_.size() > kMostErrorText)
    error_text_.erase(0, error_text_.size() - kMostErrorText);
  const std::string_view words = LastLine(error_text_);
  return Fail(ErrorKind::kRemote,
              fmt::format("{}: exit status {}{}{}", options_.name,
                          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                          words.empty() ? "" : ": ", words));
}

}  // namespace tacho
