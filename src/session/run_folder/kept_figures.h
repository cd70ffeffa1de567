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

// The figures of earlier recordings, by engine, version, model and options, in one small file of
// this user: $XDG_STATE_HOME/tacho/profiles.json, else ~/.local/state/tacho/profiles.json. It never
// stops a recording: without such a folder nothing is kept, and a file that cannot be read or has
// another form counts as empty. The last 64 kinds of engine are kept.

struct KeptFigures {
  ProfileFigures figures;
  std::optional<int64_t> unix_s;  // when that was; older entries do not say
  // EngineFacts::instance of the last 64 profiled engines: their first start of the profiler, which
  // may take long, is over.
  std::vector<std::string> instances;
  bool Knows(std::string_view instance) const;
};

// The key of figures: all that changes what a step writes and what its flush takes.
std::string FiguresKey(const EngineFacts& facts, const ProfileOptions& options,
                       std::string_view via);

std::optional<KeptFigures> FindFigures(const std::string& key);
// Does not keep figures with 0 steps or 0 bytes.
void KeepFigures(const std::string& key, const ProfileFigures& figures, const std::string& instance,
                 int64_t unix_s, Clock& clock = SystemClock());

}  // namespace tacho
