#include "session/fetch_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "session/trace_folder.h"

extern char** environ;

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Runs a program, standard output into `out`, standard error into `err`; gives its exit status, or
// -1 when it could not be started.
int RunProgram(const std::vector<std::string>& arguments, const std::string& out,
               const std::string& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// As one word of the remote shell, which ssh always has in between.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string LastLine(const std::string& path) {
  std::ifstream file(path);
  std::string line, last;
  while (std::getline(file, line))
    if (!line.empty()) last = line;
  return last;
}

}  // namespace

Result<std::vector<std::string>> FetchFiles(const std::string& from, int64_t since_unix_ns,
                                            const std::string& target) {
  size_t colon = from.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == from.size() || from[0] == '-')
    return Fail(ErrorKind::kUsage, fmt::format("--collect-from {}: write it as HOST:/path", from));
  std::string host = from.substr(0, colon), path = from.substr(colon + 1);
  std::error_code failed;
  fs::create_directories(target, failed);
  if (failed) return Fail(ErrorKind::kOutput, fmt::format("{}: {}", target, failed.message()));
  std::string archive = target + "/fetched.tar.part", words = target + "/ssh.log.part";
  // A minute more than the window: clocks differ, and the proof looks at the times inside.
  std::string command = fmt::format(
      "cd {} && find . -type f -name '*.json*' -newermt @{} -print0 | tar --null -T - -cf -",
      Quoted(path), since_unix_ns / 1'000'000'000 - 60);
  int status = RunProgram({"ssh", "-o", "BatchMode=yes", "--", host, command}, archive, words);
  std::string said = LastLine(words);
  fs::remove(words, failed);
  if (status != 0) {
    fs::remove(archive, failed);
    return Fail(ErrorKind::kRemote, status < 0
                                        ? "ssh could not be started: is it installed?"
                                        : fmt::format("ssh {}: exit status {}{}", host, status,
                                                      said.empty() ? "" : ": " + said));
  }
  status = RunProgram({"tar", "-xf", archive, "-C", target, "--no-same-owner"}, "/dev/null",
                      "/dev/null");
  fs::remove(archive, failed);
  if (status != 0)
    return Fail(
        ErrorKind::kOutput,
        fmt::format("{}: what came from {} could not be unpacked (tar: {})", target, from, status));
  std::vector<std::string> files;
  for (const auto& [file, state] : ReadFolder(target))
    if (IsTraceName(file)) files.push_back(file);
  return files;
}

}  // namespace tacho
