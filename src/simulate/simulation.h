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

// A worker, seen from outside.
struct WorkerPlace {
  std::string url;
  int64_t pid = 0;
  std::vector<int64_t> rank_pids;  // by engine and rank
};

struct SimulationOptions {
  WorkerOptions worker;     // for all workers; each derives its index, pid and seed from it
  int64_t count = 1;        // of workers in this process
  int64_t first_index = 0;  // index of the first worker
  RouterKind router = RouterKind::kNone;
  bool router_per_rank = false;  // lists each data-parallel rank: URL@RANK
  std::string host = "127.0.0.1";
  uint16_t port = 0;         // of the router; without one, of the first worker
  uint16_t worker_port = 0;  // of the first worker behind a router; 0: free ones
  std::string log_path;
  std::vector<WorkerPlace> elsewhere;  // workers in other processes; the router has them too
  std::function<void()> on_death;      // called when a worker has died, after its port is closed
};

// A whole deployment in this process: workers, a router in front of them, one thread for all their
// exchanges and a few for the traces that they write.
class Simulation {
 public:
  // kUsage: a setting that a real server would refuse, with its message. kOutput: no port, or no
  // log.
  static Result<std::unique_ptr<Simulation>> Start(const SimulationOptions& options);
  virtual ~Simulation() = default;  // like SIGTERM: stops listening, drops open exchanges

  virtual std::string RouterUrl() const = 0;      // "" without one
  virtual std::string PrometheusUrl() const = 0;  // of the router
  virtual const std::vector<WorkerPlace>& workers() const = 0;
  // Records a window of one process, which belongs to that worker. From any thread.
  virtual void TraceWindow(size_t worker, TraceWindowOrder order) = 0;
};

}  // namespace tacho::simulate
