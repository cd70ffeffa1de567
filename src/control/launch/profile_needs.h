#pragma once

#include <optional>
#include <string>

#include "control/engine.h"
#include "control/finding.h"
#include "control/live/profile_control.h"

namespace tacho {

// Why an engine cannot be profiled and what to do, in the same words for every command.

// kProfilerOff: how to switch it on, and whether Kineto's daemon works without it.
Finding ProfilerOff(const std::string& url, const EngineFacts& facts);
// kEngineAsleep.
Finding EngineAsleep(const std::string& url);
// kFolderUnknown: neither the engine nor its process reports the folder of its traces, which
// `tacho record` needs.
Finding FolderUnknown(const std::string& url, const EngineFacts& facts);
// The same once it has written there: how to find the folder.
std::string UnknownFolderText(const EngineFacts& facts);

// kProtonNotRead: what the profiler leaves is no trace that tacho reads.
std::optional<Finding> FilesNotRead(const std::string& subject, const ProfilerFacts& profiler);
// Whether a session records Python stacks: as its start asks, else as the engine reports.
std::optional<bool> StacksOf(const EngineFacts& facts, const ProfileOptions& options);
// After how many steps the engine's own configuration ends each session.
std::optional<int64_t> OwnBound(const ProfilerFacts& profiler);
// kOwnBound: that bound, unless it is the one that a preset of `tacho launch` sets.
std::optional<Finding> EndsByOwnBound(const std::string& url, const EngineFacts& facts);

// What forbids such a session by HTTP, if anything does: the engine's state or configuration.
std::optional<Finding> FindObstacle(const Worker& worker, const EngineFacts& facts,
                                    const ProfileOptions& options);
// What a user should know before such a session, though nothing forbids it.
std::vector<Finding> FindRisks(const Worker& worker, const EngineFacts& facts,
                               const ProfileOptions& options);

}  // namespace tacho
