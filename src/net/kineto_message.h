#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The datagrams that PyTorch's profiler, Kineto, exchanges with its daemon over UNIX sockets. tacho
// plays both sides: it is the daemon, and its simulated engine is the profiled process.

// The question of a process to its Kineto daemon: "is there a trace for me to take?"
struct KinetoQuestion {
  int32_t state = 0;  // idle: 3, from torch 2.14 on 2; otherwise: 1, from torch 2.14 on 0
  int64_t job = 0;
  std::vector<int64_t> pids;  // the process, then its ancestors
};

// What a process sends its daemon when it begins to use a GPU. The daemon answers with an i32: the
// number of processes that use that GPU.
struct KinetoContext {
  int32_t gpu = 0;
  int64_t pid = 0;
  int64_t job = 0;
};

// One datagram: the payload's size as u64, the message's type in 32 bytes, the payload. Byte order
// and layout are the host's: both ends run on one machine.
struct KinetoMessage {
  std::string type;  // "req", "ctxt"
  std::string payload;
};
constexpr size_t kKinetoHeaderBytes = 8 + 32;

// nullopt if the bytes are no such datagram.
std::optional<KinetoMessage> ParseKinetoMessage(std::string_view datagram);
std::string PackKinetoMessage(const KinetoMessage& message);

// The payload of a "req": i32 state, i32 n, i64 job, i32 pids[n].
std::optional<KinetoQuestion> ParseKinetoQuestion(std::string_view payload);
std::string PackKinetoQuestion(const KinetoQuestion& question);

// The payload of a "ctxt": i32 gpu, i32 pid, i64 job.
std::optional<KinetoContext> ParseKinetoContext(std::string_view payload);
std::string PackKinetoContext(const KinetoContext& context);

// The file that a process writes if nobody gives it a path, or if it refuses the daemon's path. All
// traces of the process go to this same file name.
std::string KinetosOwnFileOf(std::string_view pid);

// The name of the daemon's socket.
inline constexpr std::string_view kKinetoDaemonName = "dynolog";
struct KinetoAddress {
  sockaddr_un name{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};
// The address of a socket named `name`: the file NAME in `folder` (KINETO_IPC_SOCKET_DIR) or, if
// `folder` is empty, an abstract name. The size is 0 if the path is too long for a socket.
KinetoAddress KinetoAddressOf(const std::string& folder, std::string_view name);

}  // namespace tacho
