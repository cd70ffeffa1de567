#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tacho::simulate {

struct KinetoAskerOptions {
  std::string socket_folder;   // the process's KINETO_IPC_SOCKET_DIR; "" for abstract names
  std::optional<int32_t> gpu;  // the GPU that the process uses
  int64_t late = 0;            // the number of first answers that come too late
  int32_t idle_state = 3;      // KinetoVersion
  // Called when an answer comes from a name that does not begin with `socket_folder`, to the
  // letter: it must end the process with these words.
  std::function<void(const std::string& words)> abort = [](const std::string&) {};
};

// Does what Kineto does in a process that was started with KINETO_USE_DAEMON=1: asks the daemon at
// once and every 5 seconds for a trace to take, on behalf of the calling process. The daemon's
// answer goes into `channel` (SOCK_SEQPACKET) as one message; the digit of the new state comes back
// when a trace begins and when it is over. Blocks until the other end of `channel` is closed.
//
// Waits like Kineto (IpcFabricConfigClient.cpp, FabricManager.h): 50 ms for an answer (a later one
// is read after the next question); if nobody listens, tries ten times with doubling pauses. If
// only the last try succeeds, it does not wait for the answer.
void AskKinetoDaemon(int channel, const KinetoAskerOptions& options);

}  // namespace tacho::simulate
