#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// Baselines: results that are kept by name, to compare later runs with. DIR/NAME/ has a folder for
// each run (run1, run2, ..., all of one set-up). A run's folder is like that of a recording, but
// with results.json.gz in place of the traces, and plan.json lacks the list of the requests.
// run.json and plan.json are there only if the run is a recording of tacho.

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

// Whether a baseline can be saved there, as far as can be known before. kUsage: there is one
// already, and `replace` is false. kOutput: `path()` is no baseline, or holds other files; these
// stay.
Result<void> CheckBaselinePlace(const BaselinePlace& place, bool replace);

// Saves a baseline and makes its folders. An earlier baseline stays until the new one is complete.
// If the process is killed, one of the two is there, with a hidden folder that the next save of
// that name removes. The caller delays Ctrl-C (WithoutInterrupts) during the call. Fails as
// CheckBaselinePlace does, and with kOutput.
Result<void> SaveBaseline(const BaselinePlace& place, const std::vector<RunToKeep>& runs,
                          bool replace);

// The folders of the runs of a baseline; empty if `path` is no baseline.
std::vector<std::string> RunsOfBaseline(const std::string& path);
// The same for the baseline of that name; kUnreadable, with the nearest name, if it does not exist.
Result<std::vector<std::string>> RunsOfBaseline(const BaselinePlace& place);
// Replaces each path that is a baseline by the folders of its runs. A path that does not exist but
// is the name of a baseline in kBaselineFolder is replaced too.
std::vector<std::string> WithRunsOfBaselines(const std::vector<std::string>& paths);

// The names of the baselines in `folder`, sorted.
std::vector<std::string> BaselinesIn(const std::string& folder);

// kUnreadable: there is no baseline of that name. kOutput: it holds other files, or it cannot be
// removed.
Result<void> RemoveBaseline(const BaselinePlace& place);

}  // namespace tacho
