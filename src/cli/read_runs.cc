#include "cli/read_runs.h"

#include <algorithm>
#include <iterator>

namespace tacho {

Result<std::vector<RunAnalysis>> ReadRuns(ReadingArguments arguments,
                                          const std::vector<std::string>& paths,
                                          const ReadOptions& reading, const Classifier& classifier,
                                          Incomplete& incomplete) {
  std::vector<RunAnalysis> runs;
  for (const std::string& path : paths) {
    arguments.traces.paths = {path};
    TACHO_ASSIGN_OR_RETURN(const TraceChoice choice, ChoiceOf(arguments));
    TACHO_ASSIGN_OR_RETURN(auto readout, ReadChosen(arguments, choice, reading, classifier));
    std::ranges::move(IncompleteReasons(readout.run, choice),
                      std::back_inserter(incomplete.reasons));
    std::ranges::copy(readout.failures, std::back_inserter(incomplete.failures));
    std::ranges::copy(readout.run.skipped, std::back_inserter(incomplete.skipped));
    runs.push_back(std::move(readout.run));
  }
  return runs;
}

}  // namespace tacho
