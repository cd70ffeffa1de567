#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/worker.h"

namespace tacho::simulate {

enum class RouterKind : uint8_t { kNone, kVllm, kSglang, kSmg, kSmgGrpc, kSmgZmq, kDynamo };

// How other processes see a worker (one simulated server process).
struct WorkerPlace {
  std::string url;
  int64_t pid = 0;
  std::vector<int64_t> rank_pids;  // for each engine: the pids of its ranks
};

struct SimulationOptions {
  WorkerOptions worker;     // for all workers; each derives its own index, pid and seed from it
  int64_t count = 1;        // number of workers in this process
  int64_t first_index = 0;  // index of the first worker
  RouterKind router = RouterKind::kNone;
  bool router_per_rank = false;  // the router lists each data-parallel rank as URL@RANK
  std::string host = "127.0.0.1";
  uint16_t port = 0;         // of the router; if there is none, of the first worker
  uint16_t worker_port = 0;  // of the first worker behind a router; 0: any free port
  std::string log_path;
  std::vector<WorkerPlace> elsewhere;  // workers in other processes, which the router serves too
  std::function<void()> on_death;      // called when a worker has died, after its port is closed
};

// A whole deployment in this process: workers, a router in front of them, one thread for all their
// exchanges, and a few threads that write traces.
class Simulation {
 public:
  // kUsage: a setting that a real server would refuse, with that server's message. kOutput: no
  // port, or no log.
  static Result<std::unique_ptr<Simulation>> Start(const SimulationOptions& options);
  virtual ~Simulation() = default;  // as after a SIGTERM: stops listening and drops open exchanges

  virtual std::string RouterUrl() const = 0;      // "" without a router
  virtual std::string PrometheusUrl() const = 0;  // the router's metrics
  virtual const std::vector<WorkerPlace>& workers() const = 0;
  // Records a trace window of one process of that worker, as Kineto does on demand. From any
  // thread.
  virtual void TraceWindow(size_t worker, TraceWindowOrder order) = 0;
};

}  // namespace tacho::simulate
