#include "control/daemon/kineto_daemon.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>

#include "base/file_descriptor.h"
#include "net/kineto_message.h"

namespace tacho {
namespace {

// This bit is set in a process's state while it traces nothing. Kineto of torch 2.13 sends 3 (idle)
// and 1 (tracing); Kineto of torch 2.14 and later sends 2 and 0.
constexpr int32_t kStateIdle = 2;
constexpr size_t kMostDatagram = 64u << 10;
constexpr size_t kMostProcesses = 16'384, kMostAncestors = 256, kMostGpus = 1024;
// A process that has not polled for this long has ended, or its machine is suspended.
constexpr int64_t kForgetNs = 4 * KinetoDaemon::kPollMs * 1'000'000;

int64_t NowNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Whether the sender's own socket is a file directly in `folder`, in exactly this spelling. If
// `folder` is "": whether its name is abstract.
bool IsNamedIn(const std::string& folder, const KinetoAddress& from) {
  constexpr size_t kBefore = offsetof(sockaddr_un, sun_path);
  const size_t size = from.size > kBefore ? from.size - kBefore : 0;
  const std::string_view name(from.name.sun_path, std::min(size, sizeof(from.name.sun_path)));
  return folder.empty() ? name.starts_with('\0')
                        : name.starts_with(folder + '/') && name.rfind('/') == folder.size();
}

class SocketDaemon final : public KinetoDaemon {
 public:
  SocketDaemon(FileDescriptor socket, FileDescriptor wake, std::string folder,
               std::string socket_file)
      : socket_(std::move(socket)),
        wake_(std::move(wake)),
        folder_(std::move(folder)),
        socket_file_(std::move(socket_file)),
        thread_([this] { Serve(); }) {}

  ~SocketDaemon() override {
    uint64_t one = 1;
    [[maybe_unused]] ssize_t written = write(wake_.get(), &one, sizeof(one));
    thread_.join();
    if (!socket_file_.empty()) unlink(socket_file_.c_str());
  }

  std::vector<DaemonProcess> Processes() const override {
    std::lock_guard lock(mutex_);
    std::vector<DaemonProcess> processes;
    int64_t now = NowNs(CLOCK_MONOTONIC);
    for (const auto& [pid, process] : processes_)
      if (now - process.asked_ns < kForgetNs) processes.push_back(process);
    return processes;
  }

  void Request(const std::map<int64_t, DaemonTrace>& traces) override {
    std::lock_guard lock(mutex_);
    wanted_ = traces;
    for (auto& [pid, process] : processes_) process.told = false;
  }

  std::vector<int64_t> Withdraw() override {
    std::lock_guard lock(mutex_);
    wanted_.clear();
    std::vector<int64_t> told;
    for (const auto& [pid, process] : processes_)
      if (process.told) told.push_back(pid);
    return told;
  }

  int64_t AllToldByUnixMs(const std::vector<int64_t>& pids) const override {
    std::lock_guard lock(mutex_);
    int64_t now = NowNs(CLOCK_MONOTONIC);
    int64_t wait = 0;
    for (int64_t pid : pids) {
      auto found = processes_.find(pid);
      int64_t next = found == processes_.end() ? kPollMs * 1'000'000
                                               : found->second.asked_ns + kPollMs * 1'000'000 - now;
      wait = std::max(wait, next);
    }
    return (NowNs(CLOCK_REALTIME) + wait) / 1'000'000 + 1;
  }

 private:
  void Serve() {
    std::string datagram(kMostDatagram, '\0');
    while (true) {
      pollfd waits[2] = {{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      if (poll(waits, 2, -1) < 0 && errno != EINTR) return;
      if (waits[1].revents != 0) return;
      if ((waits[0].revents & POLLIN) == 0) continue;
      KinetoAddress from{.size = sizeof(sockaddr_un)};
      const ssize_t size = recvfrom(socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&from.name), &from.size);
      // Kineto ends its own process if an answer comes from a name that does not begin with exactly
      // its own KINETO_IPC_SOCKET_DIR. The sender's name shows how it spells that folder.
      if (size <= 0 || !IsNamedIn(folder_, from)) continue;
      Answer({datagram.data(), static_cast<size_t>(size)}, from);
    }
  }

  void Answer(std::string_view datagram, const KinetoAddress& from) {
    std::optional<KinetoMessage> message = ParseKinetoMessage(datagram);
    if (!message) return;
    std::string text;
    if (message->type == "req") {
      std::optional<KinetoQuestion> question = ParseKinetoQuestion(message->payload);
      if (!question) return;
      text = TextFor(*question);
      // Sends no empty answer: Kineto takes silence as "nothing to do". If a poll at first finds no
      // daemon, Kineto counts its last try as failed even if that try arrives (FabricManager's
      // sync_send), and waits for no answer. It would then take our answer to that poll for the
      // answer to its next poll, and so on.
      if (text.empty()) return;
    } else if (message->type == "ctxt") {
      std::optional<KinetoContext> context = ParseKinetoContext(message->payload);
      if (!context) return;
      // Answers with the number of processes that use the GPU, because Kineto logs an error if it
      // gets no answer.
      if (users_.size() >= kMostGpus && !users_.contains(context->gpu)) return;
      std::set<int64_t>& users = users_[context->gpu];
      if (users.size() < kMostProcesses) users.insert(context->pid);
      auto count = static_cast<int32_t>(users.size());
      text.assign(reinterpret_cast<const char*>(&count), sizeof(count));
    } else {
      return;
    }
    std::string answer = PackKinetoMessage({message->type, text});
    // Does not wait: a process that does not read its socket must not delay the others, and it will
    // poll again.
    sendto(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL, from.get(),
           from.size);
  }

  // Notes the process. Returns the request for it; "" if there is none.
  std::string TextFor(const KinetoQuestion& question) {
    std::lock_guard lock(mutex_);
    int64_t pid = question.pids.front();
    // The number of processes is bounded, because any sender on the socket may invent process ids.
    if (processes_.size() >= kMostProcesses && !processes_.contains(pid)) ForgetTheGone();
    if (processes_.size() >= kMostProcesses && !processes_.contains(pid)) return "";
    DaemonProcess& process = processes_[pid];
    process.pid = pid;
    const size_t depth = std::min(question.pids.size(), kMostAncestors);
    process.ancestors.assign(question.pids.begin() + 1,
                             question.pids.begin() + static_cast<std::ptrdiff_t>(depth));
    process.job = question.job;
    process.asked_ns = NowNs(CLOCK_MONOTONIC);
    process.tracing = (question.state & kStateIdle) == 0;
    const auto wanted = wanted_.find(pid);
    if (wanted == wanted_.end()) return "";
    const int64_t latest_unix_ms = wanted->second.start_unix_ms - kReadyMs;
    if (NowNs(CLOCK_REALTIME) / 1'000'000 > latest_unix_ms) return "";
    process.told = true;
    return wanted_.extract(wanted).mapped().ConfigText();
  }

  void ForgetTheGone() {
    const int64_t now = NowNs(CLOCK_MONOTONIC);
    std::erase_if(processes_,
                  [&](const auto& known) { return now - known.second.asked_ns >= kForgetNs; });
  }

  const FileDescriptor socket_;
  const FileDescriptor wake_;
  const std::string folder_;
  const std::string socket_file_;
  mutable std::mutex mutex_;
  std::map<int64_t, DaemonProcess> processes_;
  std::map<int64_t, DaemonTrace> wanted_;       // by process
  std::map<int32_t, std::set<int64_t>> users_;  // by GPU; used only by the daemon's thread
  std::thread thread_;
};

}  // namespace

std::string DaemonTrace::FileOf(int64_t pid) const {
  return fmt::format("{}/{}_{}.json", folder, stem, pid);
}

std::string DaemonTrace::ConfigText() const {
  return fmt::format(
      "ACTIVITIES_LOG_FILE={}/{}.json\nPROFILE_START_TIME={}\nACTIVITIES_WARMUP_PERIOD_SECS=1\n"
      "ACTIVITIES_DURATION_MSECS={}\n"
      "PROFILE_REPORT_INPUT_SHAPES={}\nPROFILE_PROFILE_MEMORY={}\nPROFILE_WITH_STACK={}\n",
      folder, stem, start_unix_ms, duration_ms, record_shapes, profile_memory, with_stack);
}

Result<std::unique_ptr<KinetoDaemon>> KinetoDaemon::Listen(const std::string& socket_folder) {
  KinetoAddress address = KinetoAddressOf(socket_folder, kKinetoDaemonName);
  if (address.size == 0)
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: the path is too long for a socket", socket_folder));
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket)
    return Fail(ErrorKind::kOutput,
                fmt::format("cannot create a UNIX socket: {}", std::strerror(errno)));
  std::string file =
      socket_folder.empty() ? "" : socket_folder + '/' + std::string(kKinetoDaemonName);
  int bound = bind(socket.get(), address.get(), address.size);
  // Removes a socket file on which nobody listens: a killed daemon left it.
  if (bound != 0 && errno == EADDRINUSE && !file.empty()) {
    if (connect(socket.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED &&
        unlink(file.c_str()) == 0) {
      bound = bind(socket.get(), address.get(), address.size);
    } else {
      errno = EADDRINUSE;
    }
  }
  if (bound != 0) {
    int reason = errno;
    std::string where = file.empty() ? "the abstract socket \"dynolog\"" : file;
    if (reason == EADDRINUSE)
      return Fail(ErrorKind::kRemote,
                  fmt::format("{} is taken: a dynolog daemon or another tacho runs on this host; "
                              "stop it, or profile with --via http",
                              where));
    return Fail(ErrorKind::kOutput, fmt::format("{}: {}", where, std::strerror(reason)));
  }
  FileDescriptor wake(eventfd(0, EFD_CLOEXEC));
  if (!wake)
    return Fail(ErrorKind::kOutput,
                fmt::format("cannot create an eventfd: {}", std::strerror(errno)));
  return std::make_unique<SocketDaemon>(std::move(socket), std::move(wake), socket_folder, file);
}

}  // namespace tacho
