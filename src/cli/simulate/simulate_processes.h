#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "simulate/simulation.h"

namespace tacho {

// The servers of a simulation as processes of their own, each with a process for every part that
// asks Kineto's daemon: vLLM's engine cores below the API server and the ranks below those, or
// SGLang's detokenizer and schedulers. So they can be identified like real ones, by listening port
// and by pid.
class ServerProcesses {
 public:
  // Call it before any thread starts, with the terminating signals blocked. Fails like
  // Simulation::Start.
  static Result<std::unique_ptr<ServerProcesses>> Start(const simulate::SimulationOptions& options);
  virtual ~ServerProcesses() = default;  // ends them and waits for it

  virtual const std::vector<simulate::WorkerPlace>& places() const = 0;
};

}  // namespace tacho
