#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// A process that has asked the daemon for work: any program with PyTorch that was started with
// KINETO_USE_DAEMON=1.
struct DaemonProcess {
  int64_t pid = 0;
  std::vector<int64_t> ancestors;  // parent first
  int64_t job = 0;
  int64_t asked_ns = 0;  // time of its last poll, CLOCK_MONOTONIC
  bool tracing = false;  // as its last poll reports
  bool told = false;     // has taken the last request
};

struct DaemonTrace {
  // An absolute path, as the engine sees it, writable by the engine. Kineto of torch 2.14 and later
  // accepts it only below its KINETO_ONDEMAND_TRACE_DIR, or /tmp, and without "..".
  std::string folder = {};
  std::string stem;           // each process writes FOLDER/STEM_PID.json
  int64_t start_unix_ms = 0;  // all processes begin within milliseconds of it
  int64_t duration_ms = 0;
  bool record_shapes = false, profile_memory = false, with_stack = false;

  std::string FileOf(int64_t pid) const;
  std::string ConfigText() const;  // as Kineto reads it
};

// The daemon's side of Kineto's daemon protocol. It profiles engines on demand without an HTTP
// route and without a stall: Kineto records and writes the trace on its own thread. Processes poll
// every 5 seconds over a UNIX datagram socket; one thread answers those that have something to do.
// Formats: net/kineto_message.h.
class KinetoDaemon {
 public:
  static constexpr int64_t kPollMs = 5000;  // how often a process polls
  // The least time between an answer and the start: Kineto looks at a new request after up to a
  // second (seen: 0.98 s), warms up for one, and refuses a start that is past.
  static constexpr int64_t kReadyMs = 2000;
  // The time between the request and the start. It allows one answer to be late: Kineto waits 50 ms
  // for an answer, and reads a later one after its next poll. (An earlier daemon that also answered
  // when there was nothing to do may have left several late answers.)
  static constexpr int64_t kLeadMs = kPollMs + kReadyMs + 1000;

  // Listens where Kineto looks: the abstract name "dynolog", or, when `socket_folder` is not empty
  // (the engine's KINETO_IPC_SOCKET_DIR, to the letter), the socket file "dynolog" in it. A process
  // that spells the folder differently is ignored: an answer would end that process. kRemote:
  // another daemon has the name; kOutput: the folder cannot be used.
  static Result<std::unique_ptr<KinetoDaemon>> Listen(const std::string& socket_folder = "");
  virtual ~KinetoDaemon() = default;  // ends the thread, removes the socket file

  // All processes that have asked so far, by pid.
  virtual std::vector<DaemonProcess> Processes() const = 0;

  // Answers the next poll of each of these processes, once, with the request for its trace, unless
  // the poll comes too late for the start. Replaces an earlier request that was not yet taken.
  virtual void Request(const std::map<int64_t, DaemonTrace>& traces) = 0;

  // Takes the request back from processes that have not polled since. Returns the others, which
  // will trace.
  virtual std::vector<int64_t> Withdraw() = 0;

  // The earliest time (Unix ms) by which all of `pids` will have polled once more.
  virtual int64_t AllToldByUnixMs(const std::vector<int64_t>& pids) const = 0;
};

}  // namespace tacho
