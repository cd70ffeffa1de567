#include "simulate/server_log.h"

#include <fmt/format.h>

#include <ctime>

namespace tacho::simulate {
namespace {

std::string Now(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof(text), format, &parts)};
}

}  // namespace

bool ServerLog::Open(const std::string& path) {
  if (path.empty()) return true;
  file_ = std::fopen(path.c_str(), "ab");
  return file_ != nullptr;
}

ServerLog::~ServerLog() {
  if (file_ != nullptr) std::fclose(file_);
}

void ServerLog::Line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (file_ == nullptr) return;
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fputc('\n', file_);
  std::fflush(file_);
}

void ServerLog::Vllm(std::string_view process, int64_t pid, std::string_view level,
                     std::string_view place, std::string_view text) {
  if (file_ == nullptr) return;
  Line(fmt::format("({} pid={}) {} {} [{}] {}", process, pid, level, Now("%m-%d %H:%M:%S"), place,
                   text));
}

void ServerLog::Sglang(std::string_view rank, std::string_view text) {
  if (file_ == nullptr) return;
  Line(fmt::format("[{}{}] {}", Now("%Y-%m-%d %H:%M:%S"), rank, text));
}

void ServerLog::Router(std::string_view module, std::string_view text) {
  if (file_ == nullptr) return;
  Line(fmt::format("\x1b[2m{}\x1b[0m \x1b[32m INFO\x1b[0m \x1b[2m{}\x1b[0m\x1b[2m:\x1b[0m {}",
                   Now("%Y-%m-%d %H:%M:%S"), module, text));
}

}  // namespace tacho::simulate
