#pragma once

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace tacho::simulate {

// The log of all simulated processes, as a launch script would have it in one file. Lines are
// written at once; without a file they are dropped. From any thread.
class ServerLog {
 public:
  // "" for none; false if the file cannot be written.
  bool Open(const std::string& path);
  ~ServerLog();

  void Line(std::string_view text);
  // "(APIServer pid=7732) INFO 11-21 11:49:36 [api_router.py:39] text"
  void Vllm(std::string_view process, int64_t pid, std::string_view level, std::string_view place,
            std::string_view text);
  // "[2026-11-21 12:16:01 DP1] text"; `rank` is "" or " DP1"
  void Sglang(std::string_view rank, std::string_view text);
  // "2026-11-21 12:16:01  INFO module: src/server.rs:1025: text", with the colours that it has
  // even in a file.
  void Router(std::string_view module, std::string_view text);

 private:
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
};

}  // namespace tacho::simulate
