#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tacho::simulate {

struct KinetoAskerOptions {
  std::string socket_folder;   // the process's KINETO_IPC_SOCKET_DIR; "" for abstract names
  std::optional<int32_t> gpu;  // that the process uses
  int64_t late = 0;            // the number of first answers that come too late
};

// What Kineto does in a process that was started with KINETO_USE_DAEMON=1: asks the daemon at once
// and every 5 seconds for a trace to take, on behalf of the calling process. The daemon's answer
// goes into `channel` (SOCK_SEQPACKET) as one message; "1" comes back when a trace begins and "3"
// when it is over. Blocks until the other end of `channel` is closed.
//
// Its waits are Kineto's (IpcFabricConfigClient.cpp, FabricManager.h): 50 ms for an answer, a later
// one is found with the next question; if nobody listens, ten tries with doubling pauses. If only
// the last try succeeds, it does not wait for the answer.
void AskKinetoDaemon(int channel, const KinetoAskerOptions& options);

}  // namespace tacho::simulate
