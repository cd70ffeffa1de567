#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tacho::simulate {

struct KinetoAskerOptions {
  std::string socket_folder;   // KINETO_IPC_SOCKET_DIR of the process; "" for abstract names
  std::optional<int32_t> gpu;  // the GPU that the process uses
  // The first `late` answers come too late.
  int64_t late = 0;
  int32_t idle_state = 3;  // see KinetoVersion
  // Called with an error message if an answer comes from a socket whose name does not begin with
  // the text of `socket_folder`. It must end the process with that message.
  std::function<void(const std::string& words)> abort = [](const std::string&) {};
};

// Does for the calling process what Kineto does if KINETO_USE_DAEMON=1 is set: asks the daemon at
// once and every 5 seconds for a trace to take. Sends the daemon's answer into `channel`
// (SOCK_SEQPACKET) as one message. When a trace begins and when it ends, the other end of `channel`
// must send a digit, the new state. Blocks until the other end of `channel` is closed.
//
// Waits as Kineto does (IpcFabricConfigClient.cpp, FabricManager.h): 50 ms for an answer. An answer
// that comes later is read after the next question. If nobody listens, it tries again up to ten
// times with doubling pauses. If only the tenth succeeds, it does not wait for the answer.
void AskKinetoDaemon(int channel, const KinetoAskerOptions& options);

}  // namespace tacho::simulate
