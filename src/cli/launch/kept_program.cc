#include "cli/launch/kept_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "base/system_error.h"
#include "cli/screen/output.h"
#include "control/live/port_owner.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{1000};           // at the size of the log
constexpr milliseconds kRotateAgain{60'000};  // after a rotation that failed
constexpr milliseconds kLookAgain{100};       // for processes that an ending one has made
constexpr mode_t kLogMode = 0600;             // engines write their arguments into it, keys too
constexpr int kStuck = 1;                     // exit status of the keeper
constexpr std::string_view kSharedMemory = "/dev/shm/";

// Messages on the channel. The owner closes it to end the program.
enum class Message : int { kBegin, kRelease, kStarted, kNotStarted, kEnded };
struct Packet {
  Message message;
  int value;
};

bool Send(int channel, Message message, int value = 0) {
  const Packet packet{message, value};
  return send(channel, &packet, sizeof(packet), MSG_NOSIGNAL) == sizeof(packet);
}

std::optional<Packet> Receive(int channel) {
  Packet packet{};
  ssize_t got = 0;
  do {
    got = recv(channel, &packet, sizeof(packet), 0);
  } while (got < 0 && errno == EINTR);
  return got == sizeof(packet) ? std::optional(packet) : std::nullopt;
}

// The files directly in /dev/shm that a process has mapped.
void AddSharedMemory(int64_t pid, std::set<std::string>& files) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    // "ADDRESSES PERMISSIONS OFFSET DEVICE INODE PATH": only the path has a '/'.
    const size_t at = line.find('/');
    if (at == std::string::npos || line.ends_with(" (deleted)")) continue;
    const std::string path = line.substr(at);
    if (path.starts_with(kSharedMemory) && path.find('/', kSharedMemory.size()) == path.npos)
      files.insert(path);
  }
}

std::set<std::string> SharedMemoryHere() {
  std::set<std::string> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(kSharedMemory, failed))
    files.insert(entry.path().string());
  return files;
}

// Runs in the keeper. Everything of it is used by one thread.
class Keeper {
 public:
  Keeper(const KeptProgramOptions& options, FileDescriptor channel, FileDescriptor log)
      : options_(options), channel_(std::move(channel)), log_(std::move(log)) {}

  // False: what it left behind does not end, also not by SIGKILL.
  bool Run() {
    TakeSignals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const auto first = Receive(channel_.get());
    if (!first || first->message != Message::kBegin) return true;
    older_memory_ = SharedMemoryHere();
    if (const int failure = Start(); failure != 0) {
      Send(channel_.get(), Message::kNotStarted, failure);
      return true;
    }
    Send(channel_.get(), Message::kStarted, program_);
    while (Reap() && !status_ && !asked_to_end_) {
      Wait(kLook, true);
      Rotate();
    }
    return EndTheRest();
  }

 private:
  void TakeSignals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_DFL);
    signals_ = FileDescriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  // 0, or an errno value.
  int Start() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    const FileDescriptor reads(ends[0]);
    FileDescriptor writes(ends[1]);
    const pid_t keeper = getpid();
    program_ = fork();
    if (program_ < 0) return errno;
    if (program_ == 0) BecomeProgram(keeper, writes.get());
    writes.Close();
    int failure = 0;
    return read(reads.get(), &failure, sizeof(failure)) == sizeof(failure) ? failure : 0;
  }

  [[noreturn]] void BecomeProgram(pid_t keeper, int tell) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Killed before the call: nobody would end this process any more.
    if (getppid() != keeper) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGPIPE, SIGXFSZ, SIGINT}) std::signal(number, SIG_DFL);
    dup2(log_.get(), STDOUT_FILENO);
    dup2(log_.get(), STDERR_FILENO);
    for (const std::string& setting : options_.environment) {
      const size_t equals = setting.find('=');
      setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
    }
    std::vector<char*> argv;
    for (const std::string& argument : options_.arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    const int failure = errno;
    [[maybe_unused]] const ssize_t written = write(tell, &failure, sizeof(failure));
    _exit(127);
  }

  // Takes all that ended. False: no child is left.
  bool Reap() {
    while (true) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0) return false;
      if (pid == 0) return true;
      if (pid != program_) continue;
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (channel_) Send(channel_.get(), Message::kEnded, *status_);
    }
  }

  // Until something happens.
  void Wait(milliseconds time, bool hears_owner) {
    std::array<pollfd, 2> watched{pollfd{signals_.get(), POLLIN, 0},
                                  pollfd{hears_owner ? channel_.get() : -1, POLLIN, 0}};
    if (poll(watched.data(), watched.size(), static_cast<int>(time.count())) <= 0) return;
    signalfd_siginfo signal{};
    while (read(signals_.get(), &signal, sizeof(signal)) == sizeof(signal))
      asked_to_end_ |= signal.ssi_signo != SIGCHLD;
    if (watched[1].revents == 0) return;
    const auto packet = Receive(channel_.get());
    if (!packet) asked_to_end_ = true;
    if (packet && packet->message == Message::kRelease) channel_.Close();
  }

  void Rotate() {
    struct stat file {};
    if (fstat(log_.get(), &file) != 0 || static_cast<uint64_t>(file.st_size) < options_.log_bytes ||
        steady_clock::now() < rotate_from_)
      return;
    namespace fs = std::filesystem;
    std::error_code error;
    const std::string& log = options_.log;
    const std::string copy = log + ".new";
    const auto moves = [&](const std::string& from, const std::string& to) {
      fs::rename(from, to, error);
      return !error || error == std::errc::no_such_file_or_directory;
    };
    // The program goes on writing to the file that it has open, always at its end. A full disk
    // takes no copy: then the older ones stay.
    if (fs::copy_file(log, copy, fs::copy_options::overwrite_existing, error) &&
        moves(log + ".1", log + ".2") && moves(copy, log + ".1") && ftruncate(log_.get(), 0) == 0)
      return;
    fs::remove(copy, error);
    rotate_from_ = steady_clock::now() + kRotateAgain;
  }

  [[nodiscard]] std::vector<int64_t> Descendants() const {
    std::vector<int64_t> pids = ProcessTree({getpid()});
    std::erase(pids, getpid());
    return pids;
  }

  bool EndTheRest() {
    std::set<std::string> shared;
    std::set<int64_t> asked;
    const auto until = steady_clock::now() + options_.grace, at_most = until + options_.last_grace;
    bool ended = true;
    while (ended && Reap()) {
      const auto now = steady_clock::now();
      const std::vector<int64_t> left = Descendants();
      for (const int64_t pid : left) {
        // A process may have been made since we looked last.
        if (asked.insert(pid).second) {
          AddSharedMemory(pid, shared);
          kill(static_cast<pid_t>(pid), SIGTERM);
        }
        if (now >= until) kill(static_cast<pid_t>(pid), SIGKILL);
      }
      ended = now < at_most;
      if (ended) {
        Wait(kLookAgain, false);
      } else {
        NoteStuck(left);
      }
    }
    RemoveUnmapped(shared);
    return ended;
  }

  void NoteStuck(const std::vector<int64_t>& pids) const {
    const std::string text =
        fmt::format("tacho: does not end, also not by SIGKILL: {} {}\n",
                    pids.size() == 1 ? "process" : "processes", fmt::join(pids, ", "));
    [[maybe_unused]] const ssize_t written = write(log_.get(), text.data(), text.size());
  }

  void RemoveUnmapped(const std::set<std::string>& files) const {
    if (files.empty()) return;
    std::set<std::string> kept = older_memory_;
    for (const int64_t pid : AllPids()) AddSharedMemory(pid, kept);
    for (const std::string& file : files)
      if (!kept.contains(file)) unlink(file.c_str());
  }

  const KeptProgramOptions& options_;
  FileDescriptor channel_, log_, signals_;
  steady_clock::time_point rotate_from_;
  std::set<std::string> older_memory_;  // what was in /dev/shm before the program
  pid_t program_ = 0;
  std::optional<int> status_;
  bool asked_to_end_ = false;
};

// Leaves the keeper with nothing of its owner: no terminal, no open file.
void Detach(FileDescriptor& channel, FileDescriptor& log) {
  setsid();
  prctl(PR_SET_NAME, "tacho-keeper");
  const FileDescriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(nothing.get(), standard);
  const int first = std::min(channel.get(), log.get()), second = std::max(channel.get(), log.get());
  if (first > 3) close_range(3, static_cast<unsigned>(first) - 1, 0);
  if (second > first + 1)
    close_range(static_cast<unsigned>(first) + 1, static_cast<unsigned>(second) - 1, 0);
  close_range(static_cast<unsigned>(second) + 1, ~0U, 0);
}

}  // namespace

Result<KeptProgram> KeptProgram::Make(KeptProgramOptions options) {
  FileDescriptor log(
      open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kLogMode));
  if (!log)
    return Fail(ErrorKind::kOutput,
                fmt::format("{} cannot be opened: {}", options.log, SystemErrorText(errno)));
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Fail(ErrorKind::kOutput, "no socket: " + SystemErrorText(errno));
  KeptProgram kept;
  kept.log_ = options.log;
  kept.channel_ = FileDescriptor(ends[0]);
  FileDescriptor theirs(ends[1]);
  kept.keeper_ = fork();
  if (kept.keeper_ < 0)
    return Fail(ErrorKind::kOutput, "no further process: " + SystemErrorText(errno));
  if (kept.keeper_ == 0) {
    kept.channel_.Close();
    Detach(theirs, log);
    _exit(Keeper(options, std::move(theirs), std::move(log)).Run() ? 0 : kStuck);
  }
  return kept;
}

bool KeptProgram::Hear(int timeout_ms) {
  pollfd waiting{channel_.get(), POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return false;
  const auto packet = Receive(channel_.get());
  if (!packet) {
    if (!status_) {
      keeper_was_killed_ = true;
      status_ = 128 + SIGKILL;
      KillSession();
    }
    return false;
  }
  if (packet->message == Message::kStarted) pid_ = packet->value;
  if (packet->message == Message::kNotStarted) failure_ = packet->value;
  if (packet->message == Message::kEnded) status_ = packet->value;
  return true;
}

// The kernel has killed the program itself only.
void KeptProgram::KillSession() const {
  if (pid_ <= 0) return;
  // Twice: one may have been made since we looked.
  for (int i = 0; i < 2; ++i)
    for (const int64_t pid : AllPids())
      if (getsid(static_cast<pid_t>(pid)) == pid_) kill(static_cast<pid_t>(pid), SIGKILL);
}

Result<void> KeptProgram::Begin() {
  Send(channel_.get(), Message::kBegin);
  while (pid_ == 0 && !failure_ && !status_) Hear(-1);
  if (failure_) return Fail(ErrorKind::kUsage, SystemErrorText(*failure_));
  if (pid_ == 0) return Fail(ErrorKind::kOutput, "its keeper was killed");
  return {};
}

std::optional<int> KeptProgram::Ended() {
  while (!status_ && channel_ && Hear(0)) {
  }
  return status_;
}

void KeptProgram::End() {
  if (keeper_ == 0) return;
  channel_.Close();
  int status = 0;
  while (waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) KillSession();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kStuck)
    Complain("it does not end, also not by SIGKILL; which processes: the end of " + log_);
  keeper_ = 0;
}

void KeptProgram::Release() {
  Send(channel_.get(), Message::kRelease);
  channel_.Close();
  keeper_ = 0;
}

}  // namespace tacho
