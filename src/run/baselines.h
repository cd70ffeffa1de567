#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// Baselines: results that are kept by name, to compare later runs with. DIR/NAME/ has a folder for
// each run (run1, run2, ...: of one set-up). A run's folder is that of a recording with
// results.json.gz in place of its traces, and with all of plan.json but the list of the requests;
// run.json and plan.json are there if the run is a recording of tacho.

inline constexpr std::string_view kBaselineFolder = ".tacho/baselines";

struct RunToKeep {
  std::string results;        // of tacho analyze --json
  std::string run_json = {};  // "": none
  std::string plan_facts = {};
};

struct BaselinePlace {
  std::string folder;  // of all baselines
  std::string name;
  [[nodiscard]] std::string path() const { return folder + "/" + name; }
};

// 1 to 100 letters, digits, '.', '_' and '-', first a letter or a digit. kUsage.
Result<void> CheckBaselineName(std::string_view name);

// Whether it can be saved there, as far as that is known before: kUsage, without `replace`: there
// is one; kOutput: `path()` is something else, or holds other files, which are left alone.
Result<void> CheckBaselinePlace(const BaselinePlace& place, bool replace);

// Makes the folders. An earlier baseline stays until the new one is complete: a process that is
// killed leaves one of the two, and a hidden folder that the next save of that name removes.
// Ctrl-C takes effect afterwards. Fails as CheckBaselinePlace, and with kOutput.
Result<void> SaveBaseline(const BaselinePlace& place, const std::vector<RunToKeep>& runs,
                          bool replace);

// Its runs' folders; empty if `path` is no baseline.
std::vector<std::string> RunsOfBaseline(const std::string& path);
// The same of the baseline of that name; kUnreadable, with the nearest name, if there is none.
Result<std::vector<std::string>> RunsOfBaseline(const BaselinePlace& place);
// Each path that is a baseline as its runs; so is a name of one in kBaselineFolder where there is
// no such path.
std::vector<std::string> WithRunsOfBaselines(const std::vector<std::string>& paths);

// Sorted.
std::vector<std::string> BaselinesIn(const std::string& folder);

// kUnreadable: there is none of that name, or it holds other files. kOutput.
Result<void> RemoveBaseline(const BaselinePlace& place);

}  // namespace tacho
