#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "simulate/kineto_version.h"
#include "simulate/simulation.h"

namespace tacho::simulate {

// A process of a server that asks Kineto's daemon, and the server's end of its channel
// (kineto_asker.h).
struct AskingProcess {
  int64_t pid = 0;
  std::string name;  // as in its trace: "VLLM::EngineCore"
  FileDescriptor channel;
};

// Records the traces that the daemon requests from the processes of one server, and notifies each
// process when its trace begins and ends. `simulation` must have only that server and must outlive
// this object. The destructor also ends the processes.
class KinetoDesk {
 public:
  // `trace_folder`: the processes' KINETO_ONDEMAND_TRACE_DIR.
  static std::unique_ptr<KinetoDesk> Open(Simulation& simulation,
                                          std::vector<AskingProcess> processes,
                                          const KinetoVersion& version,
                                          const std::string& trace_folder);
  virtual ~KinetoDesk() = default;
};

}  // namespace tacho::simulate
