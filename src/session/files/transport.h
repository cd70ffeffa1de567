#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "io/byte_source.h"

namespace tacho {

// A command on another host. What it prints is read as it comes. The command ends with this object.
class RemoteCommand : public ByteSource {
 public:
  // Call it after the output was read: waits until the command ends. An error also if the command
  // could not be started.
  virtual Result<void> Finish() = 0;
};

// A way to a host whose files are not seen from here. tacho only runs shell commands there: files
// come as the output of `tar`, the clock as the output of `date` (fetch_files.h).
class Transport {
 public:
  virtual ~Transport() = default;
  // The host, as the user wrote it: "gpu7" of "gpu7:/traces".
  [[nodiscard]] virtual std::string Host() const = 0;
  // The shell of that host reads `command`: text from outside goes in as a ShellWord. A `patience`
  // of 0 is unlimited. Once it is over, or `stop` was requested, reads return 0 bytes.
  [[nodiscard]] virtual std::unique_ptr<RemoteCommand> Run(const std::string& command,
                                                           std::chrono::milliseconds patience,
                                                           std::stop_token stop) const = 0;
};

// By the system's ssh, with the user's own configuration and keys; no password is asked for.
std::shared_ptr<const Transport> MakeSshTransport(std::string host);
// A shell on this host.
std::shared_ptr<const Transport> MakeLocalTransport();

}  // namespace tacho
