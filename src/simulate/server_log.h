#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace tacho::simulate {

// The log of all simulated processes in one file, as a launch script would collect it. Lines are
// written at once; without a file they are dropped. From any thread.
class ServerLog {
 public:
  // `path`: "" for no log. False if the file cannot be written.
  bool Open(const std::string& path);
  ~ServerLog();

  void Line(std::string_view text);
  // Writes a line like "(APIServer pid=7732) INFO 11-21 11:49:36 [api_router.py:39] text".
  void Vllm(std::string_view process, int64_t pid, std::string_view level, std::string_view place,
            std::string_view text);
  // Writes a line like "[2026-11-21 12:16:01 DP1] text". `rank`: "" or " DP1".
  void Sglang(std::string_view rank, std::string_view text);
  // Writes a line like "2026-11-21 12:16:01  INFO module: src/server.rs:1025: text", with the
  // colours that the router writes even into a file.
  void Router(std::string_view module, std::string_view text);

 private:
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
};

}  // namespace tacho::simulate
