#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"
#include "report/html/drawings.h"
#include "text/document.h"

namespace tacho {

// What a report needs besides the results.
struct HtmlReportInput {
  std::string title;         // of the run, such as the paths given
  std::string command = {};  // the command that made the report; "": not shown
  std::string version = {};  // tacho's own
  Drawings drawings = {};
  Document recording = {};  // the load and the cost of profiling; empty: not known
  // What changed against another run, which is named in `against`; nullptr: there is no other run.
  const RunChanges* changes = nullptr;
  std::string against = {};
  // The colour of a category of kernels, 0 to 11 (view/palette.h).
  std::function<size_t(std::string_view)> color_of_category = {};
};

// One HTML file that needs no other file and no network, made of the same blocks as the screens. At
// most 1 MB for 64 ranks: tables are folded, raw tables are cut, and ranks are shown in full only
// until they take 500 kB.
std::string HtmlReport(const RunAnalysis& run, const HtmlReportInput& input);

}  // namespace tacho
