#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "doctor/doctor_checks.h"

namespace tacho {

// A worker that answered, with the facts of its local processes (AddLocalFacts).
struct ExaminedWorker {
  Worker worker;
  EngineFacts facts;
  std::vector<int64_t> pids;  // on this host; empty: it runs elsewhere, or may not be seen
};

// Adds what a recording with default options would find out about the worker before its start,
// without the recording's locks, trial and folders; and how the worker's processes were started.
// Reads /proc and free room; sends nothing.
void ExamineWorker(const ExaminedWorker& examined, Examination& examination);

// Adds what concerns several workers: folders that they share.
void ExamineTogether(const std::vector<ExaminedWorker>& workers, Examination& examination);

// Checks how an engine is started: CheckLaunch, and the known faults of its version. Puts "URL: "
// before the subjects, unless `url` is "". An unknown version counts as something that could not be
// looked at.
void ExamineCommand(EngineKind kind, const std::string& version,
                    const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const std::string& url,
                    Examination& examination);

// Checks the free room for traces and temporary files in these folders of this host.
void ExamineRoom(const std::vector<std::string>& folders, Examination& examination);

}  // namespace tacho
