#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/subprocess.h"
#include "io/byte_source.h"

namespace tacho {

// A command on another host, run by the system's ssh with the user's own configuration and keys; no
// password is asked for. What it prints is read as it comes. The command ends with this object.
class RemoteCommand final : public ByteSource {
 public:
  // The shell of that host reads `command`: text from outside goes in as a ShellWord. A `patience`
  // of 0 is unlimited.
  RemoteCommand(const std::string& host, const std::string& command,
                std::chrono::milliseconds patience, std::stop_token stop);

  // Also returns 0 once the patience is over or a stop was requested.
  size_t Read(char* to, size_t room) override;
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override { return bytes_; }

  // Like Subprocess::Finish; also returns the error if ssh could not be started.
  Result<void> Finish();

 private:
  Result<Subprocess> ssh_;
  uint64_t bytes_ = 0;
  StreamEnd end_;
};

}  // namespace tacho
