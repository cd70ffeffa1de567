#pragma once

#include <string>
#include <vector>

#include "control/finding.h"

namespace tacho {

// The words of a command line, and after them the options of the file that its --config names, as
// vLLM and SGLang read it: YAML whose keys are options, of which those on the command line win.
// kConfigUnreadable: no such file, larger than 1 MB, or not such YAML.
Checked<std::vector<std::string>> WithConfigFile(std::vector<std::string> words);

}  // namespace tacho
