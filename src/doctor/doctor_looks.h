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

// How to look at something.
struct LookOptions {
  std::vector<std::string> command;      // a command line to examine
  std::vector<std::string> environment;  // "NAME=value", added to this process's own
  // Version and Python of the installed engine; "": tacho finds them.
  std::string engine_version, python;
  HttpClientOptions http = {};
  std::chrono::milliseconds patience{0};  // for each answer of a server
  // Reads and analyses the traces in a file, a folder or an archive; takes the traces of all
  // sessions.
  std::function<Result<Readout<RunAnalysis>>(const std::string& path, const std::stop_token& stop)>
      read_traces = {};
};

// Each of these functions adds to `examination` what it finds, and what it looked at or could not
// look at. It fails only if there is nothing to look at.

// Looks at the engines behind a URL, or in a launch log or a list. kRemote: nobody answered.
Result<void> ExamineTarget(const std::string& target, const LookOptions& options,
                           const std::stop_token& stop, Examination& examination);
// Checks whether this nsys can convert its recordings to reports.
void ExamineImporter(const NsysProgram& nsys, Examination& examination);
// Looks at the NVIDIA driver and its GPUs, as the driver's own files in `driver`
// (/proc/driver/nvidia) describe them.
void ExamineGpus(const std::string& driver, Examination& examination);
// Looks at this host: installed engines, nsys and its agents, Ray nodes, driver, free room.
void ExamineHost(const LookOptions& options, const std::stop_token& stop, Examination& examination);
// Looks at a command line, in this process's environment. kUsage: it starts no engine that tacho
// knows.
Result<void> ExamineCommandLine(const LookOptions& options, const std::stop_token& stop,
                                Examination& examination);
// Looks at a trace, or at a folder or an archive of traces. kUnreadable.
Result<void> ExamineTraces(const std::string& path, const LookOptions& options,
                           const std::stop_token& stop, Examination& examination);
// Looks at an engine's log, plain or compressed. Examines only its last `most` bytes. `engine`:
// "vllm", "sglang", or "" to detect it in the log. kUnreadable, kInterrupted.
inline constexpr size_t kMostOfLog = size_t{256} << 20;
Result<void> ExamineLog(const std::string& path, const std::string& engine,
                        const std::string& version, const std::stop_token& stop,
                        Examination& examination, size_t most = kMostOfLog);
// Looks at the folder of a recording or a launch: run.json, logs/, server/, traces/.
Result<void> ExamineRun(const std::string& folder, const LookOptions& options,
                        const std::stop_token& stop, Examination& examination);

}  // namespace tacho
