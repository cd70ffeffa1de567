#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "doctor/doctor_checks.h"
#include "ingest/nsys_sqlite/nsys_program.h"
#include "net/http_client.h"
#include "run/read_run.h"

namespace tacho {

// What to look at, and how to reach it.
struct LookOptions {
  std::vector<std::string> command;      // a command line to examine
  std::vector<std::string> environment;  // "NAME=value", beside this process's own
  std::string engine_version, python;    // of the installed engine; "": tacho finds it
  HttpClientOptions http = {};
  std::chrono::milliseconds patience{0};  // for an answer of a server
  // Reads and analyses the traces of a file, a folder or an archive, of all sessions.
  std::function<Result<Readout<RunAnalysis>>(const std::string& path, const std::stop_token& stop)>
      read_traces = {};
};

// Each of these functions adds what it finds, and what it looked at or could not look at. It fails
// only if there is nothing to look at.

// Engines behind a URL, in a launch log or a list. kRemote: nobody answered at all.
Result<void> ExamineTarget(const std::string& target, const LookOptions& options,
                           const std::stop_token& stop, Examination& examination);
// Looks whether an nsys can make reports.
void ExamineImporter(const NsysProgram& nsys, Examination& examination);
// The driver and its GPUs, as the driver's own files in `driver` (/proc/driver/nvidia) list them.
void ExamineGpus(const std::string& driver, Examination& examination);
// Installed engines, nsys and its agents, driver, room.
void ExamineHost(const LookOptions& options, const std::stop_token& stop, Examination& examination);
// A command line with this process's environment. kUsage: it starts no engine that tacho knows.
Result<void> ExamineCommandLine(const LookOptions& options, const std::stop_token& stop,
                                Examination& examination);
// A trace, a folder or an archive of traces. kUnreadable.
Result<void> ExamineTraces(const std::string& path, const LookOptions& options,
                           const std::stop_token& stop, Examination& examination);
// An engine's log, plain or compressed; only its last `most` bytes are read. `engine`: "vllm",
// "sglang", or "" to detect it from the log. kUnreadable, kInterrupted.
inline constexpr size_t kMostOfLog = size_t{256} << 20;
Result<void> ExamineLog(const std::string& path, const std::string& engine,
                        const std::string& version, const std::stop_token& stop,
                        Examination& examination, size_t most = kMostOfLog);
// The folder of a recording or a launch: run.json, logs/, server/, traces/.
Result<void> ExamineRun(const std::string& folder, const LookOptions& options,
                        const std::stop_token& stop, Examination& examination);

}  // namespace tacho
