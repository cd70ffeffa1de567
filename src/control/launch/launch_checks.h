#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"
#include "control/finding.h"

namespace tacho {

// Examines the way in which an engine is started, and finds what makes profiling harder. A pure
// function. The remedies fit the version; the subject of a finding is the option or variable as it
// was given. `words` may begin with nsys; `environment` holds "NAME=value". An unknown version ("")
// counts as the newest. Options in files count only if WithConfigFile has added them. If
// `stacks_are_meant` is set, no remedy turns stacks off. Sources: vLLM's and SGLang's code by tag,
// and vLLM 0.32's own parser.
std::vector<Finding> CheckLaunch(EngineKind kind, std::string_view version,
                                 const std::vector<std::string>& words,
                                 const std::vector<std::string>& environment,
                                 bool stacks_are_meant = false);

// The engine that the command line starts, judged by its program or Python module. kUnknown for any
// other command, including `tacho launch`, although that names an engine.
EngineKind EngineOf(const std::vector<std::string>& words);

}  // namespace tacho
