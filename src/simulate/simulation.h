#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/worker.h"

namespace tacho::simulate {

enum class RouterKind : uint8_t { kNone, kVllm, kSglang };

struct SimulationOptions {
  WorkerOptions worker;  // of all workers; index, pid and seed are made from it
  int64_t count = 1;
  RouterKind router = RouterKind::kNone;
  bool router_per_rank = false;  // lists each data-parallel rank: URL@RANK
  std::string host = "127.0.0.1";
  uint16_t port = 0;         // of the router; without one, of the first worker
  uint16_t worker_port = 0;  // of the first worker behind a router; 0: free ones
  std::string log_path;
};

// A whole deployment in this process: workers, a router in front of them, one thread for all of
// their conversations and a few for the traces they write.
class Simulation {
 public:
  // kUsage: a setting that a real server would refuse, in its words. kOutput: a port or the log
  // cannot be had.
  static Result<std::unique_ptr<Simulation>> Start(const SimulationOptions& options);
  virtual ~Simulation() = default;  // as on SIGTERM: stops listening, drops what is under way

  struct WorkerPlace {
    std::string url;
    int64_t pid = 0;
    std::vector<int64_t> rank_pids;
  };
  virtual std::string RouterUrl() const = 0;      // "" without one
  virtual std::string PrometheusUrl() const = 0;  // of the router
  virtual const std::vector<WorkerPlace>& workers() const = 0;
  // A window of all workers' ranks, see Worker::TraceWindow. From any thread.
  virtual void TraceWindow(int64_t start_unix_ns, int64_t duration_ns,
                           std::function<std::string(int64_t pid)> path_of,
                           std::function<void(std::vector<std::string>)> done) = 0;
};

}  // namespace tacho::simulate
