#include "launch/kept_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/subprocess.h"
#include "base/system_error.h"
#include "control/live/port_owner.h"
#include "launch/keeper.h"

namespace tacho {
namespace {

// Private, because engines write their arguments into it, including keys.
constexpr mode_t kLogMode = 0600;

}  // namespace

Result<KeptProgram> KeptProgram::Make(KeptProgramOptions options) {
  FileDescriptor log(
      open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kLogMode));
  if (!log)
    return Fail(ErrorKind::kOutput,
                fmt::format("{} cannot be opened: {}", options.log, SystemErrorText(errno)));
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Fail(ErrorKind::kOutput, "cannot create a socket: " + SystemErrorText(errno));
  KeptProgram kept;
  kept.log_ = options.log;
  kept.channel_ = FileDescriptor(ends[0]);
  const FileDescriptor theirs(ends[1]), given = KeeperOptionsFile(options);
  if (!given)
    return Fail(ErrorKind::kOutput, "cannot create a memory file: " + SystemErrorText(errno));
  auto keeper = StartWithDescriptors({options.keeper, std::string(kKeeperWord)},
                                     {theirs.get(), log.get(), given.get()});
  if (!keeper) return tl::unexpected(Error{ErrorKind::kOutput, keeper.error().message});
  kept.keeper_ = *keeper;
  return kept;
}

bool KeptProgram::Hear(int timeout_ms) {
  pollfd waiting{channel_.get(), POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return false;
  const auto packet = ReceiveFromPeer(channel_.get());
  if (!packet) {
    if (!status_) {
      keeper_was_killed_ = true;
      status_ = 128 + SIGKILL;
      KillSession();
    }
    return false;
  }
  if (packet->message == KeeperMessage::kStarted) pid_ = packet->value;
  if (packet->message == KeeperMessage::kNotStarted) failure_ = packet->value;
  if (packet->message == KeeperMessage::kEnded) status_ = packet->value;
  return true;
}

// Kills the server's other processes: if the keeper was killed, the kernel has killed only the
// first one.
void KeptProgram::KillSession() const {
  if (pid_ <= 0) return;
  // Does it twice, because a process may be made during the first time.
  for (int i = 0; i < 2; ++i)
    for (const int64_t pid : AllPids())
      if (getsid(static_cast<pid_t>(pid)) == pid_) kill(static_cast<pid_t>(pid), SIGKILL);
}

Result<void> KeptProgram::Begin() {
  SendToPeer(channel_.get(), KeeperMessage::kBegin);
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

std::string KeptProgram::End() {
  if (keeper_ == 0) return "";
  channel_.Close();
  int status = 0;
  while (waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) KillSession();
  keeper_ = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kKeeperStuck) return "";
  return "it does not end, also not by SIGKILL; which processes: the end of " + log_;
}

void KeptProgram::Release() {
  SendToPeer(channel_.get(), KeeperMessage::kRelease);
  channel_.Close();
  keeper_ = 0;
}

}  // namespace tacho
