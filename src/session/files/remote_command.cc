#include "session/files/remote_command.h"

#include <utility>

namespace tacho {

// With BatchMode ssh asks no questions. The timeouts end it if the host does not answer, or
// vanishes.
RemoteCommand::RemoteCommand(const std::string& host, const std::string& command,
                             std::chrono::milliseconds patience, std::stop_token stop)
    : ssh_(Subprocess::Start({.arguments = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20",
                                            "-o", "ServerAliveInterval=15", "--", host, command},
                              .name = "ssh " + host,
                              .patience = patience,
                              .stop = std::move(stop)})) {}

size_t RemoteCommand::Read(char* to, size_t room) {
  const size_t got = ssh_ ? ssh_->Read(to, room) : 0;
  bytes_ += got;
  if (ssh_ && *ssh_->cut_short() != '\0') end_ = {StreamDefect::kTruncated, ssh_->cut_short()};
  return got;
}

Result<void> RemoteCommand::Finish() {
  return ssh_.and_then([](Subprocess& ssh) { return ssh.Finish(); });
}

}  // namespace tacho
