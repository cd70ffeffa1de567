#pragma once

#include <cstddef>
#include <stop_token>
#include <string>

#include "cli/doctor/doctor_options.h"
#include "ingest/nsys_sqlite/nsys_program.h"
#include "session/doctor_checks.h"

namespace tacho {

// Each adds what it finds, and what it looked at or could not look at. Errors are those that leave
// nothing to look at.

// Engines behind a URL, in a launch log or a list. kRemote: nobody answered at all.
Result<void> ExamineTarget(const std::string& target, const DoctorArguments& arguments,
                           const std::stop_token& stop, Examination& examination);
// Whether an nsys can make reports.
void ExamineImporter(const NsysProgram& nsys, Examination& examination);
// The driver and its GPUs, as its own files in `driver` (/proc/driver/nvidia) name them.
void ExamineGpus(const std::string& driver, Examination& examination);
// Installed engines, nsys and its agents, driver, room.
void ExamineHost(const DoctorArguments& arguments, const std::stop_token& stop,
                 Examination& examination);
// A command line with this process's environment. kUsage: it starts no engine that tacho knows.
Result<void> ExamineCommandLine(const DoctorArguments& arguments, const std::stop_token& stop,
                                Examination& examination);
// A trace, a folder or an archive of traces. kUnreadable.
Result<void> ExamineTraces(const std::string& path, const DoctorArguments& arguments,
                           const std::stop_token& stop, Examination& examination);
// An engine's log, plain or compressed; only its last `most` bytes are read. `engine`: "vllm",
// "sglang", or "" to detect it from the log. kUnreadable, kInterrupted.
inline constexpr size_t kMostOfLog = size_t{256} << 20;
Result<void> ExamineLog(const std::string& path, const std::string& engine,
                        const std::string& version, const std::stop_token& stop,
                        Examination& examination, size_t most = kMostOfLog);
// The folder of a recording or a launch: run.json, logs/, server/, traces/.
Result<void> ExamineRun(const std::string& folder, const DoctorArguments& arguments,
                        const std::stop_token& stop, Examination& examination);

}  // namespace tacho
