#include "simulate/kineto_asker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "base/ancestors.h"
#include "base/file_descriptor.h"
#include "base/monotonic_clock.h"
#include "base/parse_number.h"
#include "base/random.h"
#include "base/time.h"
#include "net/kineto_message.h"

namespace tacho::simulate {
namespace {

constexpr int64_t kPeriodNs = 5000 * kNsPerMs;
constexpr int64_t kAnswerNs = 50 * kNsPerMs;
constexpr int64_t kFirstTryNs = 10 * kNsPerMs;
constexpr int kMostTries = 10;
constexpr size_t kMostPids = 10;  // the process and its nearest ancestors
constexpr size_t kMostMessage = 64u << 10;

class Asker {
 public:
  Asker(int channel, const KinetoAskerOptions& options)
      : channel_(channel), options_(options), message_(kMostMessage, '\0'), late_(options.late) {
    const char* job = std::getenv("SLURM_JOB_ID");
    question_.job = job == nullptr ? 0 : ParseWhole<int64_t>(job).value_or(0);
    question_.state = options.idle_state;
    question_.pids = {getpid()};
    for (const int64_t pid : AncestorsOf(getpid())) {
      if (pid > 1 && question_.pids.size() < kMostPids) question_.pids.push_back(pid);
    }
  }

  void Run() {
    if (!Open()) return;
    if (options_.gpu) {
      const KinetoContext context{*options_.gpu, getpid(), question_.job};
      Exchange({"ctxt", PackKinetoContext(context)});
    }
    while (alive_) {
      const int64_t next = MonotonicNs() + kPeriodNs;
      const std::string config = Exchange({"req", PackKinetoQuestion(question_)});
      if (!config.empty()) send(channel_, config.data(), config.size(), MSG_NOSIGNAL);
      WaitUntil(next, -1);
    }
    if (!own_file_.empty()) unlink(own_file_.c_str());
  }

 private:
  bool Open() {
    socket_ = FileDescriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const uint64_t id =
        HashNumber(static_cast<uint64_t>(getpid()) ^ static_cast<uint64_t>(MonotonicNs()));
    const std::string name = fmt::format("dynoconfigclient{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
                                         id >> 32, id >> 16 & 0xffff, id & 0xfff,
                                         0x8000 | (HashNumber(id) >> 50), HashNumber(id) >> 16);
    const KinetoAddress own = KinetoAddressOf(options_.socket_folder, name);
    daemon_ = KinetoAddressOf(options_.socket_folder, kKinetoDaemonName);
    if (!socket_ || own.size == 0 || bind(socket_.get(), own.get(), own.size) != 0) return false;
    if (!options_.socket_folder.empty()) own_file_ = options_.socket_folder + "/" + name;
    return true;
  }

  // Sends a message and returns the answer's payload; "" if no answer comes.
  std::string Exchange(const KinetoMessage& message) {
    const std::string bytes = PackKinetoMessage(message);
    int64_t pause = kFirstTryNs;
    int tries = 0;
    for (; sendto(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL, daemon_.get(),
                  daemon_.size) < 0;
         ++tries, pause *= 2) {
      const bool again = errno == ECONNREFUSED || errno == EAGAIN;
      if (!again || tries == kMostTries || !WaitUntil(MonotonicNs() + pause, -1)) return "";
    }
    // Kineto counts the last try as failed, even if it was sent.
    if (tries == kMostTries) return "";
    if (!WaitUntil(MonotonicNs() + kAnswerNs, socket_.get())) return "";
    const int flags = late_ > 0 ? MSG_PEEK : 0;  // leaves a late answer in the socket
    KinetoAddress from{.size = sizeof(sockaddr_un)};
    const ssize_t size = recvfrom(socket_.get(), message_.data(), message_.size(), flags,
                                  reinterpret_cast<sockaddr*>(&from.name), &from.size);
    if (size <= 0) return "";
    CheckName(from);
    if (late_ > 0) return --late_, "";
    const auto answer = ParseKinetoMessage({message_.data(), static_cast<size_t>(size)});
    return answer ? answer->payload : "";
  }

  // Makes the same check as getName in Kineto's NetworkEndpoint.h.
  void CheckName(const KinetoAddress& from) const {
    constexpr size_t kBefore = offsetof(sockaddr_un, sun_path);
    const std::string_view name(from.name.sun_path, from.size > kBefore ? from.size - kBefore : 0);
    const std::string& folder = options_.socket_folder;
    if (folder.empty() ? name.starts_with('\0') : name.starts_with(folder + '/')) return;
    options_.abort(
        fmt::format("Unexpected socket name: {}. Expected to start with {}", name, folder));
  }

  // Waits until `time_ns`, or until `socket` can be read; takes the states that come from the
  // channel meanwhile. Returns false once the channel is closed.
  bool WaitUntil(int64_t time_ns, int socket) {
    for (int64_t now = MonotonicNs(); alive_ && now < time_ns; now = MonotonicNs()) {
      pollfd waits[2] = {{channel_, POLLIN, 0}, {socket, POLLIN, 0}};
      if (poll(waits, 2, static_cast<int>((time_ns - now) / kNsPerMs) + 1) < 0 && errno != EINTR)
        break;
      if (waits[0].revents != 0) {
        char state = 0;
        alive_ = recv(channel_, &state, 1, 0) == 1;
        if (alive_) question_.state = state - '0';
      }
      if (waits[1].revents != 0) return true;
    }
    return alive_;
  }

  const int channel_;
  const KinetoAskerOptions options_;
  FileDescriptor socket_;
  std::string own_file_;
  KinetoAddress daemon_;
  KinetoQuestion question_;
  std::string message_;
  int64_t late_;
  bool alive_ = true;
};

}  // namespace

void AskKinetoDaemon(int channel, const KinetoAskerOptions& options) {
  Asker(channel, options).Run();
}

}  // namespace tacho::simulate
