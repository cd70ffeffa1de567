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

// What a recording with its defaults would find out about the worker before its start, without the
// locks, the trial and the folders of a recording; and how its processes were started. Reads /proc
// and free room; sends nothing.
void ExamineWorker(const ExaminedWorker& examined, Examination& examination);

// What concerns several workers: folders that they share.
void ExamineTogether(const std::vector<ExaminedWorker>& workers, Examination& examination);

// How an engine is started: CheckLaunch, and what is known of its version. Subjects get `of` ("URL:
// ") in front. An unknown version is one of the things that cannot be looked at.
void ExamineCommand(EngineKind kind, const std::string& version,
                    const std::vector<std::string>& words,
                    const std::vector<std::string>& environment, const std::string& of,
                    Examination& examination);

// Free room for traces and temporary files in these folders of this host.
void ExamineRoom(const std::vector<std::string>& folders, Examination& examination);

}  // namespace tacho
