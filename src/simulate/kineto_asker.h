#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tacho::simulate {

struct KinetoAskerOptions {
  std::string socket_folder;   // the process's KINETO_IPC_SOCKET_DIR; "" for abstract names
  std::optional<int32_t> gpu;  // that the process uses
  int64_t late = 0;            // the first answers, which come when it no longer waits for them
};

// What Kineto does in a process that was started with KINETO_USE_DAEMON=1: asks the daemon at once
// and every 5 seconds whether there is a trace to take, in the name of the calling process. What
// the daemon answers goes into `channel` (SOCK_SEQPACKET) as one message; from there comes "1" when
// a trace begins and "3" when it is over. Blocks until the other end of `channel` is closed.
//
// Where it waits and gives up as Kineto does (IpcFabricConfigClient.cpp, FabricManager.h): 50 ms
// for an answer, a later one is found with the next question; ten tries, each twice as long after
// the last, where nobody listens any more. Of a question that only the last of them brought through
// no answer is waited for.
void AskKinetoDaemon(int channel, const KinetoAskerOptions& options);

}  // namespace tacho::simulate
