#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"
#include "doctor/doctor_checks.h"

namespace tacho {

// A worker that answered. `facts` include what its local processes show (AddLocalFacts).
struct ExaminedWorker {
  Worker worker;
  EngineFacts facts;
  // Its processes on this host; empty: it runs elsewhere, or they may not be seen.
  std::vector<int64_t> pids;
};

// Adds what a recording with default options would find out about the worker before its start,
// except by locks, by a trial and by making folders. Also adds what is wrong with the way its
// processes were started. Reads /proc and free room; sends nothing.
void ExamineWorker(const ExaminedWorker& examined, Examination& examination);

// Adds problems that concern several workers: folders that they share.
void ExamineTogether(const std::vector<ExaminedWorker>& workers, Examination& examination);

// Checks how an engine is started: CheckLaunch, and the known faults of its version. Subjects get
// "URL: " in front, unless `url` is "". If the version is unknown, notes that tacho could not look
// at its known faults.
void ExamineCommand(EngineKind kind, const std::string& version,
                    const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const std::string& url,
                    Examination& examination);

// Checks the free room for traces and temporary files in these folders of this host.
void ExamineRoom(const std::vector<std::string>& folders, Examination& examination);

}  // namespace tacho
