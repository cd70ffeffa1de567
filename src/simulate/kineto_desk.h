#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "simulate/simulation.h"

namespace tacho::simulate {

// A process of a server that asks Kineto's daemon, and the server's end of its channel
// (kineto_asker.h).
struct AskingProcess {
  int64_t pid = 0;
  std::string name;  // as its trace tells it: "VLLM::EngineCore"
  FileDescriptor channel;
};

// Takes the traces that the processes of one server bring from their daemon, and tells each when
// its trace begins and is over. `simulation` has that server as its only one and must outlive
// this. Destroying it ends the processes' asking.
class KinetoDesk {
 public:
  static std::unique_ptr<KinetoDesk> Open(Simulation& simulation,
                                          std::vector<AskingProcess> processes);
  virtual ~KinetoDesk() = default;
};

}  // namespace tacho::simulate
