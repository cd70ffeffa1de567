#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "io/byte_source.h"

namespace tacho {

// A command on another host. Its output is read as it comes. The destructor ends the command.
class RemoteCommand : public ByteSource {
 public:
  // Call it after reading the output: waits until the command ends. Also fails if the command could
  // not be started.
  virtual Result<void> Finish() = 0;
};

// A way to reach a host whose files cannot be seen from here. tacho only runs shell commands there:
// files come as the output of `tar`, the clock as the output of `date` (fetch_files.h).
class Transport {
 public:
  virtual ~Transport() = default;
  // The host as the user wrote it: "gpu7" in "gpu7:/traces".
  [[nodiscard]] virtual std::string Host() const = 0;
  // Runs `command` in the shell of that host, so text from outside must be quoted by ShellWord. A
  // `patience` of 0 is unlimited. When `patience` is over or `stop` is requested, reads return 0
  // bytes.
  [[nodiscard]] virtual std::unique_ptr<RemoteCommand> Run(const std::string& command,
                                                           std::chrono::milliseconds patience,
                                                           std::stop_token stop) const = 0;
};

// Uses the system's ssh with the user's own configuration and keys; asks for no password.
std::shared_ptr<const Transport> MakeSshTransport(std::string host);
// Runs a shell on this host.
std::shared_ptr<const Transport> MakeLocalTransport();

}  // namespace tacho
