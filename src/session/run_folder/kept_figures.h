#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "control/engine.h"
#include "control/live/profile_control.h"
#include "session/plan/budget.h"

namespace tacho {

// Keeps the figures of earlier recordings, by engine, version, model and options, in one small file
// of this user: $XDG_STATE_HOME/tacho/profiles.json, else ~/.local/state/tacho/profiles.json.
// Problems never stop a recording: if there is no such folder nothing is kept, and a file that is
// unreadable or of another form counts as empty. Keeps the 64 kinds of engine that were recorded
// last.

struct KeptFigures {
  ProfileFigures figures;
  std::optional<int64_t> unix_s;  // when they were recorded; older entries do not say
  // EngineFacts::instance of the last 64 engines that were profiled. The first start of a profiler
  // may take long; these engines have already had it.
  std::vector<std::string> instances;
  bool Knows(std::string_view instance) const;
};

// The key of an engine's figures: everything that changes what a step writes or how long its flush
// takes.
std::string FiguresKey(const EngineFacts& facts, const ProfileOptions& options,
                       std::string_view via);

std::optional<KeptFigures> FindFigures(const std::string& key);
// Ignores figures with 0 steps or 0 bytes.
void KeepFigures(const std::string& key, const ProfileFigures& figures, const std::string& instance,
                 int64_t unix_s, Clock& clock = SystemClock());

}  // namespace tacho
