#include "session/fetch_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/file_descriptor.h"
#include "load/records.h"
#include "net/clock.h"
#include "session/trace_folder.h"

extern char** environ;

namespace tacho {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Take = std::function<bool(std::string_view)>;  // false: no more

constexpr int kLookMs = 200;
constexpr size_t kMostWords = 64 << 10;

struct Ended {
  int status = -1;    // of the exit, 128 + a signal, or -1: could not be started
  std::string words;  // the last line of its standard error
  bool in_time = true;
};

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of("\r\n");
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of("\r\n", end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin + 1) + 1);
}

// Starts a program in a process group of its own, so that a Ctrl-C is for us alone; it ends with
// us, because nobody reads its pipe then.
pid_t Spawn(const std::vector<std::string>& arguments, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ) != 0) pid = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// Runs a program to its end; `take` gets what it prints.
Ended Run(const std::vector<std::string>& arguments, milliseconds patience, std::stop_token stop,
          const Take& take) {
  std::array<int, 2> out{}, err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0) return {};
  FileDescriptor out_read(out[0]), out_write(out[1]);
  if (pipe2(err.data(), O_CLOEXEC) != 0) return {};
  FileDescriptor err_read(err[0]), err_write(err[1]);
  const pid_t pid = Spawn(arguments, out_write.get(), err_write.get());
  out_write.Close();
  err_write.Close();
  if (pid < 0) return {};
  Ended ended;
  bool enough = false;
  const int64_t begin = MonotonicNs();
  std::array<pollfd, 2> waiting{pollfd{out_read.get(), POLLIN, 0},
                                pollfd{err_read.get(), POLLIN, 0}};
  std::array<char, 64 << 10> buffer;
  while (!enough && (waiting[0].fd >= 0 || waiting[1].fd >= 0)) {
    const bool late = patience.count() > 0 && MonotonicNs() - begin > patience.count() * 1'000'000;
    if (late || stop.stop_requested()) {
      ended.in_time = false;
      break;
    }
    if (poll(waiting.data(), waiting.size(), kLookMs) <= 0) continue;
    for (pollfd& one : waiting) {
      if (one.fd < 0 || one.revents == 0) continue;
      const ssize_t got = read(one.fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      const std::string_view bytes(buffer.data(), static_cast<size_t>(std::max<ssize_t>(0, got)));
      if (bytes.empty()) one.fd = -1;
      if (&one == &waiting[0])
        enough |= !take(bytes);
      else if (ended.words.size() < kMostWords)
        ended.words += bytes;
    }
  }
  if (enough || !ended.in_time) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.words = LastLine(ended.words);
  return ended;
}

// A host that vanishes ends it; nothing is asked of the terminal.
Ended RunThere(const std::string& host, const std::string& command, milliseconds patience,
               std::stop_token stop, const Take& take) {
  return Run({"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o",
              "ServerAliveInterval=15", "--", host, command},
             patience, std::move(stop), take);
}

Error WhyFailed(const std::string& host, const Ended& ended) {
  if (ended.status < 0) return {ErrorKind::kRemote, "ssh could not be started: is it installed?"};
  if (!ended.in_time) return {ErrorKind::kRemote, fmt::format("ssh {}: did not end in time", host)};
  return {ErrorKind::kRemote, fmt::format("ssh {}: exit status {}{}", host, ended.status,
                                          ended.words.empty() ? "" : ": " + ended.words)};
}

// As one word of the remote shell, which ssh always has in between.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Result<RemoteFolder> FindRemoteFolder(const std::string& from, const std::string& engine_folder,
                                      milliseconds patience, std::stop_token stop) {
  const size_t colon = std::min(from.find(':'), from.size());
  RemoteFolder folder{.host = from.substr(0, colon),
                      .path = colon == from.size() ? engine_folder : from.substr(colon + 1)};
  if (folder.host.empty() || folder.host[0] == '-' || folder.path.empty())
    return Fail(ErrorKind::kUsage,
                fmt::format("--collect-from {}: write it as HOST:/path{}", from,
                            colon == from.size() ? "; the engine does not tell its folder" : ""));
  std::string said;
  const std::string path = Quoted(folder.path);
  const Ended ended = RunThere(
      folder.host,
      fmt::format("date +%s && {{ test -d {} || test -d \"$(dirname -- {})\"; }} && echo there",
                  path, path),
      patience, std::move(stop), [&](std::string_view bytes) {
        said += bytes;
        return said.size() < 4096;
      });
  int64_t now = 0;
  const char* begin = said.data() + std::min(said.find_first_of("0123456789"), said.size());
  std::from_chars(begin, said.data() + said.size(), now);
  if (now == 0) return tl::unexpected(WhyFailed(folder.host, ended));
  if (ended.status != 0 || said.find("there") == std::string::npos)
    return Fail(ErrorKind::kUsage,
                fmt::format("--collect-from {}: no folder {} on that host", from, folder.path));
  folder.clock_offset_s = now - ReadClocks().unix_ns / 1'000'000'000;
  return folder;
}

Result<std::vector<std::string>> FetchFiles(const RemoteFolder& from, std::string_view prefix,
                                            int64_t since_unix_ns, const std::string& target,
                                            milliseconds patience, std::stop_token stop,
                                            const std::function<void(uint64_t)>& progress) {
  std::error_code failed;
  fs::create_directories(target, failed);
  if (failed) return Fail(ErrorKind::kOutput, fmt::format("{}: {}", target, failed.message()));
  const std::string archive = target + "/fetched.tar.part";
  // Both clocks are read to the second, and the way takes time; the proof looks at the times
  // inside.
  const std::string command = fmt::format(
      "cd {} && find . -type f -name '{}*.json*' -newermt @{} -print0 | tar --null -T - -cf -",
      Quoted(from.path), prefix, since_unix_ns / 1'000'000'000 + from.clock_offset_s - 5);
  uint64_t bytes_so_far = 0;
  std::ofstream file(archive, std::ios::binary);
  Ended ended = RunThere(from.host, command, patience, stop, [&](std::string_view bytes) {
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    progress(bytes_so_far += bytes.size());
    return file.good();
  });
  file.close();
  if (!file || ended.status != 0) {
    fs::remove(archive, failed);
    if (!file) return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written", archive));
    return tl::unexpected(WhyFailed(from.host, ended));
  }
  ended = Run({"tar", "-xf", archive, "-C", target, "--no-same-owner"}, milliseconds(0), {},
              [](std::string_view) { return true; });
  fs::remove(archive, failed);
  if (ended.status != 0)
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: what came from {} could not be unpacked (tar: {})", target,
                            from.host, ended.words));
  std::vector<std::string> files;
  for (const auto& [path, state] : ReadFolder(target))
    if (IsTraceName(path)) files.push_back(path);
  return files;
}

}  // namespace tacho
