#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"

namespace tacho {

// Finds what in the way an engine is started hinders profiling. A pure function. Each finding has
// the remedy for that version; its subject is the option or variable as given. `words` may begin
// with nsys; `environment` holds "NAME=value". A version that is not known ("") counts as the
// newest. Options in files count only if WithConfigFile has added them. With `stacks_are_meant` no
// remedy turns stacks off. Sources: vLLM's and SGLang's code by tag, and vLLM 0.32's own parser.
std::vector<Finding> CheckLaunch(EngineKind kind, std::string_view version,
                                 const std::vector<std::string>& words,
                                 const std::vector<std::string>& environment,
                                 bool stacks_are_meant = false);

// The engine that the command line starts, by its program or Python module. kUnknown for any other
// command, also for `tacho launch`, although that names an engine.
EngineKind EngineOf(const std::vector<std::string>& words);

}  // namespace tacho
