#include "session/remote_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "net/clock.h"

extern char** environ;

namespace tacho {
namespace {

constexpr int kLookMs = 200;
constexpr size_t kMostErrorText = 64 << 10;
// For the last words of an ssh that has ended. What it leaves running (the master of a shared
// connection) may keep its standard error open for hours.
constexpr int64_t kLastWordsNs = 1'000'000'000;

bool HasEnded(pid_t pid) {
  siginfo_t ended{};
  // Left to be waited for.
  return waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == pid;
}

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of("\r\n");
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of("\r\n", end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin + 1) + 1);
}

// Starts a program in a process group of its own, so that a Ctrl-C is for us alone; it ends with
// us, because nobody reads its pipe then.
pid_t Spawn(const std::vector<std::string>& arguments, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ) != 0) pid = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

RemoteCommand::RemoteCommand(std::string host, const std::string& command,
                             std::chrono::milliseconds patience, std::stop_token stop)
    : host_(std::move(host)),
      patience_(patience),
      stop_(std::move(stop)),
      begin_ns_(MonotonicNs()) {
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0) return;
  out_ = FileDescriptor(out[0]);
  const FileDescriptor out_write(out[1]);
  if (pipe2(err.data(), O_CLOEXEC) != 0) return;
  err_ = FileDescriptor(err[0]);
  const FileDescriptor err_write(err[1]);
  // A host that vanishes ends it.
  pid_ = Spawn({"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o",
                "ServerAliveInterval=15", "--", host_, command},
               out_write.get(), err_write.get());
}

RemoteCommand::~RemoteCommand() { (void)Finish(); }

size_t RemoteCommand::GiveUp(const char* why) {
  in_time_ = false;
  end_ = {StreamDefect::kTruncated, why};
  return 0;
}

void RemoteCommand::TakeWords() {
  std::array<char, 4096> text;
  const ssize_t got = read(err_.get(), text.data(), text.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) return err_.Close();
  if (words_.size() < kMostErrorText) words_.append(text.data(), static_cast<size_t>(got));
}

size_t RemoteCommand::Read(char* to, size_t room) {
  while (pid_ > 0 && in_time_ && (out_ || err_)) {
    if (patience_.count() > 0 && MonotonicNs() - begin_ns_ > patience_.count() * 1'000'000)
      return GiveUp("the time for it was over");
    if (stop_.stop_requested()) return GiveUp("interrupted");
    if (!out_ && HasEnded(pid_)) {
      if (ended_ns_ == 0) ended_ns_ = MonotonicNs();
      if (MonotonicNs() - ended_ns_ > kLastWordsNs) err_.Close();
    }
    // poll passes over what is closed: its descriptor is -1.
    std::array<pollfd, 2> waiting{pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), kLookMs) <= 0) continue;
    if (waiting[1].revents != 0) TakeWords();
    if (waiting[0].revents == 0) continue;
    const ssize_t got = read(out_.get(), to, room);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      bytes_ += static_cast<uint64_t>(got);
      return static_cast<size_t>(got);
    }
    out_.Close();
  }
  return 0;
}

Result<void> RemoteCommand::Finish() {
  if (pid_ == 0) return {};
  const pid_t pid = std::exchange(pid_, 0);
  if (pid < 0) return Fail(ErrorKind::kRemote, "ssh could not be started: is it installed?");
  const bool cut = out_ || err_;
  if (cut) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time_) return Fail(ErrorKind::kRemote, fmt::format("ssh {}: did not end in time", host_));
  if (cut || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return {};
  const std::string words = LastLine(words_);
  return Fail(ErrorKind::kRemote,
              fmt::format("ssh {}: exit status {}{}", host_,
                          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                          words.empty() ? "" : ": " + words));
}

}  // namespace tacho
