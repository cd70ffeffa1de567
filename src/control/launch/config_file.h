#pragma once

#include <string>
#include <vector>

#include "control/finding.h"

namespace tacho {

// The words of a command line, followed by the options from the file that its --config names. vLLM
// and SGLang read that file as YAML whose keys are options; an option on the command line wins.
// kConfigUnreadable: the file does not exist, is larger than 1 MB, or is not such YAML.
Checked<std::vector<std::string>> WithConfigFile(std::vector<std::string> words);

}  // namespace tacho
