#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "simulate/simulation.h"

namespace tacho {

// The servers of a simulation as separate processes. Each server has child processes for the parts
// that poll Kineto's daemon: vLLM's engine cores, with the ranks as their children, or SGLang's
// detokenizer and schedulers. Thus tacho can identify these servers in the same ways as real
// engines: by listening port and by pid.
class ServerProcesses {
 public:
  // Must be called before any thread starts, with the terminating signals blocked. Fails like
  // Simulation::Start.
  static Result<std::unique_ptr<ServerProcesses>> Start(const simulate::SimulationOptions& options);
  virtual ~ServerProcesses() = default;  // ends the processes and waits for them

  virtual const std::vector<simulate::WorkerPlace>& places() const = 0;
};

}  // namespace tacho
