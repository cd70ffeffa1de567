#include "cli/screen/read_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/visible_text.h"

namespace tacho {
namespace {

// The sentence about a run that shares work with an earlier one: it is the same run, or another
// window of it.
std::string RepeatedText(const std::string& path, const RunAnalysis& run, const std::string& before,
                         const RunAnalysis& earlier) {
  const bool equal = std::ranges::equal(run.traces, earlier.traces, {}, &TraceAnalysis::scope,
                                        &TraceAnalysis::scope);
  return equal ? fmt::format("{} is the same run as {}, and counts once", path, before)
               : fmt::format("{} is left out: {} has a part of the same recording", path, before);
}

// Puts the run's path before a reason, unless the reason already names one of the run's files.
std::string WithRun(const std::string& path, const std::string& reason) {
  const bool is_named = reason.starts_with("incomplete: " + VisibleText(path));
  return is_named ? reason : fmt::format("{}: {}", VisibleText(path), reason);
}

}  // namespace

Result<std::vector<RunAnalysis>> ReadRuns(ReadingArguments arguments,
                                          std::vector<std::string>& paths,
                                          const ReadOptions& reading, const Classifier& classifier,
                                          Incomplete& incomplete) {
  std::vector<RunAnalysis> runs;
  std::vector<std::string> read;
  for (const std::string& path : paths) {
    arguments.traces.paths = {path};
    TACHO_ASSIGN_OR_RETURN(const TraceChoice choice, ChoiceOf(arguments));
    TACHO_ASSIGN_OR_RETURN(auto readout, ReadChosen(arguments, choice, reading, classifier));
    for (const std::string& reason : IncompleteReasons(readout.run, choice))
      incomplete.reasons.push_back(WithRun(path, reason));
    std::ranges::copy(readout.failures, std::back_inserter(incomplete.failures));
    std::ranges::copy(readout.run.skipped, std::back_inserter(incomplete.skipped));
    std::ranges::copy(readout.run.captures, std::back_inserter(incomplete.captures));
    const auto same = std::ranges::find_if(
        runs, [&](const RunAnalysis& other) { return ShareWork(other, readout.run); });
    if (same != runs.end()) {
      const std::string& before = read[static_cast<size_t>(same - runs.begin())];
      incomplete.repeated.push_back(RepeatedText(path, readout.run, before, *same));
      continue;
    }
    runs.push_back(std::move(readout.run));
    read.push_back(path);
  }
  paths = std::move(read);
  return runs;
}

}  // namespace tacho
