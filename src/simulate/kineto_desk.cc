#include "simulate/kineto_desk.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <thread>

namespace tacho::simulate {
namespace {

constexpr size_t kMostConfig = 64u << 10;

int64_t UnixNowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class Desk : public KinetoDesk {
 public:
  Desk(Simulation& simulation, std::vector<AskingProcess> processes, const KinetoVersion& version,
       std::string allowed_folder)
      : simulation_(simulation),
        processes_(std::make_shared<const std::vector<AskingProcess>>(std::move(processes))),
        version_(version),
        allowed_folder_(std::move(allowed_folder)),
        thread_([this](const std::stop_token& stop) { Serve(stop); }) {}

  ~Desk() override {
    thread_.request_stop();
    thread_.join();
    // After a shutdown the processes see the end of their channels, even if others still hold them
    // open.
    for (const AskingProcess& process : *processes_) shutdown(process.channel.get(), SHUT_RDWR);
  }

 private:
  void Serve(const std::stop_token& stop) {
    constexpr int kLookMs = 50;
    std::vector<pollfd> waits;
    for (const AskingProcess& process : *processes_) {
      waits.push_back({process.channel.get(), POLLIN, 0});
    }
    std::string config(kMostConfig, '\0');
    while (!stop.stop_requested()) {
      if (poll(waits.data(), waits.size(), kLookMs) <= 0) continue;
      for (size_t i = 0; i < waits.size(); ++i) {
        if (waits[i].revents == 0) continue;
        const ssize_t size = recv(waits[i].fd, config.data(), config.size(), 0);
        if (size > 0) Take(i, {config.data(), static_cast<size_t>(size)});
        if (size <= 0) waits[i].fd = -1;  // the process has ended
      }
    }
  }

  void Take(size_t i, std::string_view config) {
    auto order = ReadKinetoConfig(config, (*processes_)[i].pid, UnixNowNs(), allowed_folder_);
    if (!order) return;
    order->process_name = (*processes_)[i].name;
    // Shares `processes_`, because a trace may end after this desk has closed.
    const auto tell = [processes = processes_, i](int32_t state) {
      const char digit = static_cast<char>('0' + state);
      send((*processes)[i].channel.get(), &digit, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    };
    order->begun = [tell, state = version_.tracing] { tell(state); };
    order->done = [tell, state = version_.idle] { tell(state); };
    simulation_.TraceWindow(0, std::move(*order));
  }

  Simulation& simulation_;
  const std::shared_ptr<const std::vector<AskingProcess>> processes_;
  const KinetoVersion version_;
  const std::string allowed_folder_;  // traces must lie below it; "": anywhere
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<KinetoDesk> KinetoDesk::Open(Simulation& simulation,
                                             std::vector<AskingProcess> processes,
                                             const KinetoVersion& version,
                                             const std::string& trace_folder) {
  std::string allowed;
  if (version.restricts_folder) allowed = trace_folder.empty() ? "/tmp" : trace_folder;
  return std::make_unique<Desk>(simulation, std::move(processes), version, std::move(allowed));
}

}  // namespace tacho::simulate
