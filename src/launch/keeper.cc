#include "launch/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "control/live/port_owner.h"

namespace tacho {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

enum Given : int { kChannel = 3, kLog, kOptions };

constexpr milliseconds kLook{1000};           // between looks at the size of the log
constexpr milliseconds kRotateAgain{60'000};  // after a rotation that failed
constexpr milliseconds kLookAgain{100};       // between looks for new processes
constexpr std::string_view kSharedMemory = "/dev/shm/";
constexpr size_t kFixed = 5;  // the number of option words before the arguments

// The files directly in /dev/shm that a process has mapped.
void AddSharedMemory(int64_t pid, std::set<std::string>& files) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    // "ADDRESSES PERMISSIONS OFFSET DEVICE INODE PATH": only the path has a '/'.
    const size_t at = line.find('/');
    if (at == std::string::npos || line.ends_with(" (deleted)")) continue;
    const std::string path = line.substr(at);
    if (path.starts_with(kSharedMemory) && path.find('/', kSharedMemory.size()) == path.npos)
      files.insert(path);
  }
}

std::set<std::string> SharedMemoryHere() {
  std::set<std::string> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(kSharedMemory, failed))
    files.insert(entry.path().string());
  return files;
}

// The keeper's work. Used by one thread only.
class Keeper {
 public:
  Keeper(KeptProgramOptions options, FileDescriptor channel, FileDescriptor log)
      : options_(std::move(options)), channel_(std::move(channel)), log_(std::move(log)) {}

  // Returns false if even SIGKILL does not end some process that the program left.
  bool Run() {
    TakeSignals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const auto first = ReceiveFromPeer(channel_.get());
    if (!first || first->message != KeeperMessage::kBegin) return true;
    older_memory_ = SharedMemoryHere();
    if (const int failure = Start(); failure != 0) {
      SendToPeer(channel_.get(), KeeperMessage::kNotStarted, failure);
      return true;
    }
    SendToPeer(channel_.get(), KeeperMessage::kStarted, program_);
    while (Reap() && !status_ && !asked_to_end_) {
      Wait(kLook, true);
      Rotate();
    }
    return EndTheRest();
  }

 private:
  void TakeSignals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_DFL);
    signals_ = FileDescriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  // Returns 0, or an errno value.
  int Start() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    const FileDescriptor reads(ends[0]);
    FileDescriptor writes(ends[1]);
    const pid_t keeper = getpid();
    program_ = fork();
    if (program_ < 0) return errno;
    if (program_ == 0) BecomeProgram(keeper, writes.get());
    writes.Close();
    int failure = 0;
    return read(reads.get(), &failure, sizeof(failure)) == sizeof(failure) ? failure : 0;
  }

  [[noreturn]] void BecomeProgram(pid_t keeper, int tell) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // If the keeper was killed before the call of prctl, nobody would end this process.
    if (getppid() != keeper) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGPIPE, SIGXFSZ, SIGINT}) std::signal(number, SIG_DFL);
    dup2(log_.get(), STDOUT_FILENO);
    dup2(log_.get(), STDERR_FILENO);
    for (const std::string& setting : options_.environment) {
      const size_t equals = setting.find('=');
      setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
    }
    std::vector<char*> argv;
    for (const std::string& argument : options_.arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    const int failure = errno;
    [[maybe_unused]] const ssize_t written = write(tell, &failure, sizeof(failure));
    _exit(127);
  }

  // Reaps all children that have ended. Returns false if there are no more children.
  bool Reap() {
    while (true) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0) return false;
      if (pid == 0) return true;
      if (pid != program_) continue;
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (channel_) SendToPeer(channel_.get(), KeeperMessage::kEnded, *status_);
    }
  }

  // Waits until something happens, but at most for `time`.
  void Wait(milliseconds time, bool hears_owner) {
    std::array<pollfd, 2> watched{pollfd{signals_.get(), POLLIN, 0},
                                  pollfd{hears_owner ? channel_.get() : -1, POLLIN, 0}};
    if (poll(watched.data(), watched.size(), static_cast<int>(time.count())) <= 0) return;
    signalfd_siginfo signal{};
    while (read(signals_.get(), &signal, sizeof(signal)) == sizeof(signal))
      asked_to_end_ |= signal.ssi_signo != SIGCHLD;
    if (watched[1].revents == 0) return;
    const auto packet = ReceiveFromPeer(channel_.get());
    if (!packet) asked_to_end_ = true;
    if (packet && packet->message == KeeperMessage::kRelease) channel_.Close();
  }

  void Rotate() {
    struct stat file {};
    if (fstat(log_.get(), &file) != 0 || static_cast<uint64_t>(file.st_size) < options_.log_bytes ||
        steady_clock::now() < rotate_from_)
      return;
    namespace fs = std::filesystem;
    std::error_code error;
    const std::string& log = options_.log;
    const std::string copy = log + ".new";
    const auto moves = [&](const std::string& from, const std::string& to) {
      fs::rename(from, to, error);
      return !error || error == std::errc::no_such_file_or_directory;
    };
    // Copies the log and then empties it, because the program goes on writing to the file that it
    // has open. If a full disk has no room for the copy, the older logs are kept.
    if (fs::copy_file(log, copy, fs::copy_options::overwrite_existing, error) &&
        moves(log + ".1", log + ".2") && moves(copy, log + ".1") && ftruncate(log_.get(), 0) == 0)
      return;
    fs::remove(copy, error);
    rotate_from_ = steady_clock::now() + kRotateAgain;
  }

  [[nodiscard]] std::vector<int64_t> Descendants() const {
    std::vector<int64_t> pids = ProcessTree({getpid()});
    std::erase(pids, getpid());
    return pids;
  }

  bool EndTheRest() {
    std::set<std::string> shared;
    std::set<int64_t> asked;
    const auto until = steady_clock::now() + options_.grace, at_most = until + options_.last_grace;
    bool ended = true;
    while (ended && Reap()) {
      const auto now = steady_clock::now();
      const std::vector<int64_t> left = Descendants();
      for (const int64_t pid : left) {
        // A new process may have appeared since the last look.
        if (asked.insert(pid).second) {
          AddSharedMemory(pid, shared);
          kill(static_cast<pid_t>(pid), SIGTERM);
        }
        if (now >= until) kill(static_cast<pid_t>(pid), SIGKILL);
      }
      ended = now < at_most;
      if (ended) {
        Wait(kLookAgain, false);
      } else {
        NoteStuck(left);
      }
    }
    RemoveUnmapped(shared);
    return ended;
  }

  void NoteStuck(const std::vector<int64_t>& pids) const {
    const std::string text =
        fmt::format("tacho: does not end, also not by SIGKILL: {} {}\n",
                    pids.size() == 1 ? "process" : "processes", fmt::join(pids, ", "));
    [[maybe_unused]] const ssize_t written = write(log_.get(), text.data(), text.size());
  }

  void RemoveUnmapped(const std::set<std::string>& files) const {
    if (files.empty()) return;
    std::set<std::string> kept = older_memory_;
    for (const int64_t pid : AllPids()) AddSharedMemory(pid, kept);
    for (const std::string& file : files)
      if (!kept.contains(file)) unlink(file.c_str());
  }

  const KeptProgramOptions options_;
  FileDescriptor channel_, log_, signals_;
  steady_clock::time_point rotate_from_;
  std::set<std::string> older_memory_;  // the files in /dev/shm before the program started
  pid_t program_ = 0;
  std::optional<int> status_;
  bool asked_to_end_ = false;
};

std::optional<KeptProgramOptions> ReadOptions() {
  std::string text;
  std::array<char, 4096> part{};
  lseek(kOptions, 0, SEEK_SET);
  for (ssize_t got = 0; (got = read(kOptions, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(got));
  close(kOptions);
  std::vector<std::string> words;
  for (size_t at = 0, end = 0; (end = text.find('\0', at)) != text.npos; at = end + 1)
    words.push_back(text.substr(at, end - at));
  if (words.size() < kFixed) return std::nullopt;
  const auto number = [&](size_t i) { return ParseWhole<uint64_t>(words[i]).value_or(0); };
  const auto ms = [&](size_t i) { return milliseconds(static_cast<int64_t>(number(i))); };
  const size_t arguments = number(4);
  if (arguments == 0 || arguments > words.size() - kFixed) return std::nullopt;
  const auto from = words.begin() + kFixed, env = from + static_cast<std::ptrdiff_t>(arguments);
  return KeptProgramOptions{.arguments = {from, env},
                            .environment = {env, words.end()},
                            .log = words[0],
                            .log_bytes = number(1),
                            .grace = ms(2),
                            .last_grace = ms(3)};
}

}  // namespace

bool SendToPeer(int channel, KeeperMessage message, int value) {
  const KeeperPacket packet{message, value};
  return send(channel, &packet, sizeof(packet), MSG_NOSIGNAL) == sizeof(packet);
}

std::optional<KeeperPacket> ReceiveFromPeer(int channel) {
  KeeperPacket packet{};
  ssize_t got = 0;
  do {
    got = recv(channel, &packet, sizeof(packet), 0);
  } while (got < 0 && errno == EINTR);
  return got == sizeof(packet) ? std::optional(packet) : std::nullopt;
}

FileDescriptor KeeperOptionsFile(const KeptProgramOptions& options) {
  std::vector<std::string> words{
      options.log, std::to_string(options.log_bytes), std::to_string(options.grace.count()),
      std::to_string(options.last_grace.count()), std::to_string(options.arguments.size())};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  words.insert(words.end(), options.environment.begin(), options.environment.end());
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  FileDescriptor file(memfd_create("options", MFD_CLOEXEC));
  for (size_t done = 0; file && done < text.size();) {
    const ssize_t wrote = write(file.get(), text.data() + done, text.size() - done);
    if (wrote <= 0) return {};
    done += static_cast<size_t>(wrote);
  }
  return file;
}

int RunKeeper() {
  if (fcntl(kChannel, F_GETFD) < 0 || fcntl(kLog, F_GETFD) < 0) return kKeeperMisused;
  for (const int given : {kChannel, kLog}) fcntl(given, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_NAME, "tacho-keeper");
  std::optional<KeptProgramOptions> options = ReadOptions();
  FileDescriptor channel(kChannel), log(kLog);
  if (!options) return kKeeperMisused;
  return Keeper(*std::move(options), std::move(channel), std::move(log)).Run() ? 0 : kKeeperStuck;
}

}  // namespace tacho
