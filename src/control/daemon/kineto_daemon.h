#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// A process that has polled the daemon: any program with PyTorch that was started with
// KINETO_USE_DAEMON=1.
struct DaemonProcess {
  int64_t pid = 0;
  std::vector<int64_t> ancestors;  // parent first
  int64_t job = 0;
  int64_t asked_ns = 0;  // time of its last poll, CLOCK_MONOTONIC
  bool tracing = false;  // as its last poll reports
  bool told = false;     // has received the last request
};

struct DaemonTrace {
  // An absolute path, as the engine sees it, to which the engine can write. Kineto of torch 2.14
  // and later accepts it only below its KINETO_ONDEMAND_TRACE_DIR or /tmp, and without "..".
  std::string folder = {};
  std::string stem;           // each process writes FOLDER/STEM_PID.json
  int64_t start_unix_ms = 0;  // all processes begin within milliseconds of this time
  int64_t duration_ms = 0;
  bool record_shapes = false, profile_memory = false, with_stack = false;

  std::string FileOf(int64_t pid) const;
  std::string ConfigText() const;  // the request as Kineto reads it
};

// The daemon's side of Kineto's daemon protocol. It profiles engines on demand, without an HTTP
// route and without stalling them: Kineto records and writes the trace on its own thread. Processes
// poll the daemon every 5 seconds over a UNIX datagram socket. One thread answers the processes for
// which there is a request. Message formats: net/kineto_message.h.
class KinetoDaemon {
 public:
  static constexpr int64_t kPollMs = 5000;  // how often a process polls
  // The least time between an answer and the start of the trace. Kineto looks at a new request
  // after up to a second (seen: 0.98 s), warms up for another second, and refuses a start in the
  // past.
  static constexpr int64_t kReadyMs = 2000;
  // The time between the request and the start of the trace. It allows one answer to be late:
  // Kineto waits 50 ms for an answer, and reads a later one only after its next poll. (An earlier
  // version of this daemon also answered when there was nothing to do, and may have left several
  // late answers.)
  static constexpr int64_t kLeadMs = kPollMs + kReadyMs + 1000;

  // Listens where Kineto looks for a daemon: at the abstract socket name "dynolog" or, if
  // `socket_folder` is not empty (the engine's KINETO_IPC_SOCKET_DIR, in exactly its spelling), at
  // the socket file "dynolog" in that folder. Ignores a process that spells the folder differently,
  // because an answer would end that process. kRemote: another daemon has the name; kOutput: the
  // folder cannot be used.
  static Result<std::unique_ptr<KinetoDaemon>> Listen(const std::string& socket_folder = "");
  virtual ~KinetoDaemon() = default;  // ends the thread, removes the socket file

  // All processes that have polled so far, by pid.
  virtual std::vector<DaemonProcess> Processes() const = 0;

  // Answers the next poll of each process in `traces`, once, with the request for its trace, unless
  // the poll comes too late for the start. Replaces an earlier request that was not yet sent.
  virtual void Request(const std::map<int64_t, DaemonTrace>& traces) = 0;

  // Withdraws the request from processes that have not polled since Request was called. Returns the
  // other processes, which will trace.
  virtual std::vector<int64_t> Withdraw() = 0;

  // The earliest time (Unix, ms) by which all of `pids` will have polled once more.
  virtual int64_t AllToldByUnixMs(const std::vector<int64_t>& pids) const = 0;
};

}  // namespace tacho
