#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/engine.h"

namespace tacho {

// The value of an option in `words`, an engine's command line: "--port 1" or "--port=1". `names`
// are the option's names. The last one wins, as in Python's argparse. nullopt if it is not given.
std::optional<std::string> OptionValue(const std::vector<std::string>& words,
                                       const std::vector<std::string_view>& names);

// The command that starts an installed engine.
struct EngineProgram {
  std::vector<std::string> command;  // the program with the user's arguments
  std::string python = {};           // the interpreter that runs it; "" if unknown
  std::string version = {};          // "" if the engine does not report one
  // The options of the file that its --config names, as words; those of `command` win.
  std::vector<std::string> file_options = {};
};

// `arguments` are the engine's own ("Qwen/Qwen3-0.6B --max-model-len 4096", with or without "serve"
// or "vllm serve"), or a whole command whose first word is a program. If their first word is no
// program, the engine is run with `python -m ...` if `python` is given, else with the `vllm` or the
// python3 of $PATH. `python` also runs a whole command that begins with "python3". kUsage: it is
// not installed, `arguments` start another engine or CheckWrappers refuses them, `python` is an
// engine's script, or is given beside another whole command. Does not fill in the version.
Result<EngineProgram> FindEngineProgram(EngineKind kind, const std::string& python,
                                        const std::vector<std::string>& arguments);

// The version of the engine's package in that Python. Runs the Python, which takes a tenth of a
// second. kUsage: the engine is not installed there, or the name and the answer of `python` show
// that it is no Python. "" if it cannot be run.
Result<std::string> AskEngineVersion(EngineKind kind, const std::string& python,
                                     const std::stop_token& stop);

// The version of the first of these packages that this Python has; "" if it has none. kRemote: the
// Python cannot be run.
Result<std::string> AskPackageVersion(const std::string& python,
                                      const std::vector<std::string>& packages,
                                      const std::stop_token& stop);

// The Python named in the first lines of a script that a package installed; "" for another file.
std::string PythonOfScript(const std::string& path);

}  // namespace tacho
