#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "io/byte_source.h"

namespace tacho {

// A command on another host, run by the system's ssh with the user's own configuration and keys; no
// password is asked for. What it prints is read as it comes. It ends with this object.
class RemoteCommand final : public ByteSource {
 public:
  // The shell of that host reads `command`: text from outside goes in as a ShellWord. A `patience`
  // of 0 has no bound.
  RemoteCommand(std::string host, const std::string& command, std::chrono::milliseconds patience,
                std::stop_token stop);
  ~RemoteCommand() override;

  // 0 as well once the patience is over or a stop was requested.
  size_t Read(char* to, size_t room) override;
  [[nodiscard]] const StreamEnd& end() const override { return end_; }
  [[nodiscard]] uint64_t stored_bytes() const override { return bytes_; }

  // Ends it, by force unless it has printed everything. kRemote: it failed, with its last words.
  Result<void> Finish();

 private:
  void TakeWords();
  size_t GiveUp(const char* why);

  const std::string host_;
  const std::chrono::milliseconds patience_;
  const std::stop_token stop_;
  const int64_t begin_ns_;
  pid_t pid_ = -1;        // 0: it has ended
  int64_t ended_ns_ = 0;  // when it was seen to have ended, after its output; 0: not yet
  FileDescriptor out_, err_;
  uint64_t bytes_ = 0;
  std::string words_;  // of its standard error
  bool in_time_ = true;
  StreamEnd end_;
};

}  // namespace tacho
