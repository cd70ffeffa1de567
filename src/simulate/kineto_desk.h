#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "simulate/kineto_version.h"
#include "simulate/simulation.h"

namespace tacho::simulate {

// One process of a server. It asks Kineto's daemon (kineto_asker.h); the server holds the other end
// of its channel.
struct AskingProcess {
  int64_t pid = 0;
  std::string name;  // as in the process's trace: "VLLM::EngineCore"
  FileDescriptor channel;
};

// Records the traces that the daemon requests from the processes of one server, and tells each
// process when its trace begins and ends. `simulation` must have only that server and must outlive
// this object. The destructor also ends the processes.
class KinetoDesk {
 public:
  // `trace_folder`: KINETO_ONDEMAND_TRACE_DIR of the processes.
  static std::unique_ptr<KinetoDesk> Open(Simulation& simulation,
                                          std::vector<AskingProcess> processes,
                                          const KinetoVersion& version,
                                          const std::string& trace_folder);
  virtual ~KinetoDesk() = default;
};

}  // namespace tacho::simulate
