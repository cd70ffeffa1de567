#pragma once

#include <optional>
#include <string>

#include "control/engine.h"
#include "control/finding.h"
#include "control/live/profile_control.h"

namespace tacho {

// Why an engine cannot be profiled and what to do about it, in the same words for every command.

// kProfilerOff: how to switch the profiler on, and whether Kineto's daemon works without it.
Finding ProfilerOff(const std::string& url, const EngineFacts& facts);
// kStacksUnbounded: stacks are recorded, and nothing bounds the steps.
Finding StacksUnbounded(const std::string& url, std::string remedy);
// The number of steps that the schedule of torch's profiler skips when a session begins.
int64_t SkippedIterations(const ProfilerFacts& profiler);
// kEngineAsleep.
Finding EngineAsleep(const std::string& url);
// The finding kFolderUnknown: neither the engine nor its process reports the trace folder, which
// `tacho record` needs.
Finding FolderUnknown(const std::string& url, const EngineFacts& facts);
// For an engine that has already written its traces: how to find their folder.
std::string UnknownFolderText(const EngineFacts& facts);

// kProtonNotRead: tacho cannot read the files that the profiler writes.
std::optional<Finding> FilesNotRead(const std::string& subject, const ProfilerFacts& profiler);
// Whether a session records Python stacks: as its start request says, else as the engine reports;
// nullopt if neither says.
std::optional<bool> StacksOf(const EngineFacts& facts, const ProfileOptions& options);
// The number of steps after which the engine's own configuration ends every session.
std::optional<int64_t> OwnBound(const ProfilerFacts& profiler);
// kOwnBound: reports OwnBound, unless a preset of `tacho launch` set it.
std::optional<Finding> EndsByOwnBound(const std::string& url, const EngineFacts& facts);

// What in the engine's state or configuration rules out a session with `options` by HTTP; nullopt
// if nothing does.
std::optional<Finding> FindObstacle(const Worker& worker, const EngineFacts& facts,
                                    const ProfileOptions& options);
// What a user should know before starting a session that FindObstacle does not rule out.
std::vector<Finding> FindRisks(const Worker& worker, const EngineFacts& facts,
                               const ProfileOptions& options);

}  // namespace tacho
