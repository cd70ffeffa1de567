#include "cli/simulate/simulate_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <thread>

#include "base/file_descriptor.h"
#include "cli/exit_status.h"
#include "simulate/kineto_asker.h"
#include "simulate/kineto_desk.h"
#include "simulate/kineto_version.h"

namespace tacho {
namespace {

using namespace simulate;

struct Channel {
  FileDescriptor ours, theirs;
};

Channel MakeChannel() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// Runs `child` in a new process that ends with this one, however this one ends. Returns -1 if the
// process cannot be made.
pid_t Fork(const std::string& name, const std::function<int()>& child) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, name.c_str());
  _exit(getppid() == parent ? child() : 0);
}

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A process of a server. It polls Kineto's daemon if `asks`, and is the parent of `children`.
struct Part {
  std::string name;
  std::optional<int32_t> gpu;
  bool is_rank = false, asks = true;
  std::vector<Part> children;
};

KinetoAskerOptions AskerOptions(const WorkerOptions& options, std::optional<int32_t> gpu) {
  return {.socket_folder = Setting("KINETO_IPC_SOCKET_DIR"),
          .gpu = gpu,
          .late = options.faults.Amount(FaultKind::kLateAnswers, options.index),
          .idle_state = KinetoOf(options).idle,
          .abort = [](const std::string& words) {
            fmt::print(stderr, "{}\n", words);
            std::abort();
          }};
}

std::vector<Part> PartsOf(const WorkerOptions& options) {
  const bool vllm = options.kind == SimulatedEngine::kVllm;
  const int tp = options.cost.tensor_parallel;
  std::vector<Part> parts;
  if (!vllm) parts.push_back({"sglang::detokenizer", {}, false, true, {}});
  for (int engine = 0; engine < options.data_parallel; ++engine) {
    std::vector<Part> ranks;
    for (int rank = 0; rank < tp; ++rank) {
      Part part{vllm ? "VLLM::Worker" : "sglang::scheduler", engine * tp + rank, true, true, {}};
      if (tp > 1) part.name += fmt::format("_TP{}", rank);
      part.asks = options.faults.Amount(FaultKind::kMuteRank, options.index, -1) != rank;
      ranks.push_back(std::move(part));
    }
    if (vllm) {
      parts.push_back({"VLLM::EngineCore", {}, false, true, std::move(ranks)});
    } else {
      parts.insert(parts.end(), ranks.begin(), ranks.end());
    }
  }
  return parts;
}

// Makes the processes of `parts`, each parent before its children. Each process first sends its pid
// over its channel. `channels` has one channel for each process, in the order in which the
// processes are made; `next` is the index of the channel for the next process.
void ForkParts(const std::vector<Part>& parts, const WorkerOptions& options,
               std::vector<Channel>& channels, size_t& next) {
  for (const Part& part : parts) {
    const size_t own = next++;
    Fork(part.name, [&] {
      for (Channel& channel : channels) channel.ours.Close();
      const int64_t pid = getpid();
      const int channel = channels[own].theirs.get();
      if (send(channel, &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid)) return 1;
      size_t below = own + 1;
      ForkParts(part.children, options, channels, below);
      if (part.asks) {
        AskKinetoDaemon(channel, AskerOptions(options, part.gpu));
      } else {
        char nothing = 0;
        while (recv(channel, &nothing, 1, 0) > 0) {
        }
      }
      return 0;
    });
    const std::function<void(const Part&)> skip = [&](const Part& above) {
      for (const Part& child : above.children) ++next, skip(child);
    };
    skip(part);
  }
}

void Flatten(const std::vector<Part>& parts, std::vector<const Part*>& all) {
  for (const Part& part : parts) {
    all.push_back(&part);
    Flatten(part.children, all);
  }
}

// A server sends its parent one message that ends with a NUL: the kind of its error and the error's
// text, or kRuns and then its URL and the pids of its processes.
constexpr int kRuns = -1;

void Report(int pipe, int kind, const std::string& rest) {
  const std::string text = fmt::format("{} {}", kind, rest);
  [[maybe_unused]] const ssize_t written = write(pipe, text.c_str(), text.size() + 1);
}

Result<WorkerPlace> Read(FileDescriptor pipe) {
  std::string text;
  char block[4096];
  while (!text.ends_with('\0')) {
    const ssize_t size = read(pipe.get(), block, sizeof(block));
    if (size <= 0) return Fail(ErrorKind::kBug, "a simulated server ended at once");
    text.append(block, static_cast<size_t>(size));
  }
  text.pop_back();
  std::istringstream words(text);
  int kind = 0;
  words >> kind;
  if (kind != kRuns) {
    return Fail(static_cast<ErrorKind>(kind), text.substr(text.find(' ') + 1));
  }
  WorkerPlace place;
  words >> place.url >> place.pid;
  for (int64_t pid; words >> pid;) place.rank_pids.push_back(pid);
  return place;
}

// Runs one server with its parts until SIGTERM.
int Serve(SimulationOptions options, FileDescriptor report) {
  const std::vector<Part> parts = PartsOf(options.worker);
  std::vector<const Part*> all;
  Flatten(parts, all);
  std::vector<Channel> channels(all.size());
  for (Channel& channel : channels) channel = MakeChannel();
  size_t next = 0;
  ForkParts(parts, options.worker, channels, next);
  std::vector<AskingProcess> processes;
  options.worker.pid = getpid();
  for (size_t i = 0; i < all.size(); ++i) {
    channels[i].theirs.Close();
    int64_t pid = 0;
    if (recv(channels[i].ours.get(), &pid, sizeof(pid), 0) != sizeof(pid)) return kBug;
    if (all[i]->is_rank) options.worker.rank_pids.push_back(pid);
    processes.push_back({pid, all[i]->name, std::move(channels[i].ours)});
  }
  Channel own = MakeChannel();
  processes.push_back({options.worker.pid, "python3", std::move(own.ours)});
  options.on_death = [] { _exit(1); };
  auto simulation = Simulation::Start(options);
  if (!simulation) {
    Report(report.get(), static_cast<int>(simulation.error().kind), simulation.error().message);
    return StatusOf(simulation.error().kind);
  }
  const WorkerPlace& place = (*simulation)->workers().front();
  Report(report.get(), kRuns,
         fmt::format("{} {} {}", place.url, place.pid, fmt::join(place.rank_pids, " ")));
  report.Close();
  std::jthread asker([&] { AskKinetoDaemon(own.theirs.get(), AskerOptions(options.worker, {})); });
  const auto desk = KinetoDesk::Open(**simulation, std::move(processes), KinetoOf(options.worker),
                                     Setting("KINETO_ONDEMAND_TRACE_DIR"));
  sigset_t signals;
  pthread_sigmask(SIG_BLOCK, nullptr, &signals);
  int signal = 0;
  sigwait(&signals, &signal);
  return kDone;
}

class Processes : public ServerProcesses {
 public:
  ~Processes() override {
    for (const pid_t pid : pids_) kill(pid, SIGTERM);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  }

  Result<void> Begin(const SimulationOptions& options) {
    std::vector<FileDescriptor> reports;
    for (int64_t i = 0; i < options.count; ++i) {
      int ends[2] = {-1, -1};
      if (pipe2(ends, O_CLOEXEC) != 0) return NoProcess();
      FileDescriptor reads(ends[0]), writes(ends[1]);
      SimulationOptions own = options;
      own.count = 1;
      own.first_index = i;
      own.worker.index = i;
      if (options.router != simulate::RouterKind::kNone) own.port = options.worker_port;
      own.router = simulate::RouterKind::kNone;
      const pid_t pid =
          Fork("tacho-server", [&] { return Serve(std::move(own), std::move(writes)); });
      if (pid < 0) return NoProcess();
      pids_.push_back(pid);
      reports.push_back(std::move(reads));
    }
    for (FileDescriptor& report : reports) {
      TACHO_ASSIGN_OR_RETURN(WorkerPlace place, Read(std::move(report)));
      places_.push_back(place);
    }
    return {};
  }

  const std::vector<WorkerPlace>& places() const override { return places_; }

 private:
  static tl::unexpected<Error> NoProcess() {
    return Fail(ErrorKind::kOutput,
                fmt::format("cannot start another process: {}", std::strerror(errno)));
  }

  std::vector<pid_t> pids_;
  std::vector<WorkerPlace> places_;
};

}  // namespace

Result<std::unique_ptr<ServerProcesses>> ServerProcesses::Start(const SimulationOptions& options) {
  auto processes = std::make_unique<Processes>();
  TACHO_RETURN_IF_ERROR(processes->Begin(options));
  return processes;
}

}  // namespace tacho
