#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "simulate/simulation.h"

namespace tacho {

// The servers of a simulation as processes of their own, each with a process for every part that
// asks Kineto's daemon: vLLM's engine cores below the API server and the ranks below those, or
// SGLang's detokenizer and schedulers. So they are told apart as real ones are, by who listens on
// a port and by process number.
class ServerProcesses {
 public:
  // Before any thread is started, with the signals that end the program blocked. Fails as
  // Simulation::Start does.
  static Result<std::unique_ptr<ServerProcesses>> Start(const simulate::SimulationOptions& options);
  virtual ~ServerProcesses() = default;  // ends them and waits for it

  virtual const std::vector<simulate::WorkerPlace>& places() const = 0;
};

}  // namespace tacho
