#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/engine.h"

namespace tacho {

// The value of an option in `words`, an engine's command line: "--port 1" or "--port=1". `names`:
// all names of the option. The last value wins, as in Python's argparse. nullopt if the option is
// not given.
std::optional<std::string> OptionValue(const std::vector<std::string>& words,
                                       const std::vector<std::string_view>& names);

// The command that starts an installed engine.
struct EngineProgram {
  std::vector<std::string> command;  // the program with the user's arguments
  std::string python = {};           // the Python that runs it; "" if unknown
  std::string version = {};          // "" if the engine does not report one
  // The options in the file that --config names, as words; options in `command` win over them.
  std::vector<std::string> file_options = {};
};

// Finds the program for `arguments`: either the engine's own arguments ("Qwen/Qwen3-0.6B
// --max-model-len 4096", perhaps after "serve" or "vllm serve"), or a whole command, whose first
// word is a program. For the engine's own arguments, runs `python -m ...` if `python` is given,
// else the `vllm` or the python3 in $PATH. `python` also runs a whole command that begins with
// "python3". Does not set the version. kUsage: the engine is not installed; `arguments` start
// another engine, or CheckWrappers refuses them; `python` is an engine's script, or is given
// together with any other whole command.
Result<EngineProgram> FindEngineProgram(EngineKind kind, const std::string& python,
                                        const std::vector<std::string>& arguments);

// The version of the engine's package in this Python; "" if `python` cannot be run. Runs the
// Python, which takes a tenth of a second. kUsage: the engine is not installed there, or the name
// and the output of `python` show that it is not a Python.
Result<std::string> AskEngineVersion(EngineKind kind, const std::string& python,
                                     const std::stop_token& stop);

// The version of the first of these packages that this Python has; "" if it has none of them.
// kRemote: the Python cannot be run.
Result<std::string> AskPackageVersion(const std::string& python,
                                      const std::vector<std::string>& packages,
                                      const std::stop_token& stop);

// The Python that is named in the first lines of a script that a package installed; "" for any
// other file.
std::string PythonOfScript(const std::string& path);

}  // namespace tacho
