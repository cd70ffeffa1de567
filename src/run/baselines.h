#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// Baselines are results kept under a name, to compare later runs with. DIR/NAME/ has one folder for
// each run of the same set-up (run1, run2, ...). Each is like the folder of a recording, but has
// results.json.gz instead of the traces, and its plan.json lacks the list of requests. run.json and
// plan.json exist only if the run was recorded by tacho.

inline constexpr std::string_view kBaselineFolder = ".tacho/baselines";

struct RunToKeep {
  std::string results;        // the output of tacho analyze --json
  std::string run_json = {};  // "": none
  std::string plan_facts = {};
};

struct BaselinePlace {
  std::string folder;  // the folder with all baselines
  std::string name;
  [[nodiscard]] std::string path() const { return folder + "/" + name; }
};

// A name has 1 to 100 letters, digits, '.', '_' and '-', first a letter or a digit; else kUsage.
Result<void> CheckBaselineName(std::string_view name);

// Checks, as far as possible in advance, whether a baseline can be saved. kUsage: it exists and
// `replace` is false. kOutput: `path()` is not a baseline, or has other files in it, which must not
// be lost.
Result<void> CheckBaselinePlace(const BaselinePlace& place, bool replace);

// Saves a baseline and creates its folders. An earlier baseline stays until the new one is
// complete. If the process is killed, either the old or the new one exists, and perhaps a hidden
// folder, which the next save under this name removes. The caller must delay Ctrl-C during the call
// (WithoutInterrupts). Fails like CheckBaselinePlace, and with kOutput.
Result<void> SaveBaseline(const BaselinePlace& place, const std::vector<RunToKeep>& runs,
                          bool replace);

// The folders of a baseline's runs; empty if `path` is not a baseline.
std::vector<std::string> RunsOfBaseline(const std::string& path);
// The folders of the runs of the baseline at `place`. kUnreadable if there is no such baseline; the
// message names the most similar one.
Result<std::vector<std::string>> RunsOfBaseline(const BaselinePlace& place);
// Replaces each path to a baseline by the folders of its runs. If a path does not exist but is the
// name of a baseline in kBaselineFolder, this baseline's runs replace it.
std::vector<std::string> WithRunsOfBaselines(const std::vector<std::string>& paths);

// The names of the baselines in `folder`, sorted.
std::vector<std::string> BaselinesIn(const std::string& folder);

// kUnreadable: there is no such baseline. kOutput: it has other files in it, or cannot be removed.
Result<void> RemoveBaseline(const BaselinePlace& place);

}  // namespace tacho
