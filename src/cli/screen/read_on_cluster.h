#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/names/classifier.h"
#include "base/result.h"
#include "cli/screen/reading.h"
#include "ray/analyze_on_nodes.h"

namespace tacho {

// kUsage: options that do not go with --ray, or one of `paths` is not absolute.
Result<void> CheckRayOptions(const ReadingArguments& o, const std::vector<std::string>& paths);

// One line on a terminal that says what happens now on a cluster, and that is erased at the end.
class NowLine {
 public:
  explicit NowLine(bool shown) : shown_(shown) {}
  NowLine(const NowLine&) = delete;
  NowLine& operator=(const NowLine&) = delete;
  ~NowLine() { Erase(); }
  void Say(const std::string& text) const;
  void Erase() const;

 private:
  const bool shown_;
};

// What AnalyzeOnNodes is asked for these traces.
Result<ClusterRequest> RequestOf(const ReadingArguments& arguments, const TraceChoice& choice);

// Reads what AnalyzeOnNodes brought, narrowed to the choice. The name of its node stands before the
// path of each trace. `stop`: as for ReadChosen.
Result<Readout<RunAnalysis>> ReadNodeResults(ReadingArguments arguments, TraceChoice choice,
                                             const ReadOptions& reading,
                                             const Classifier& classifier,
                                             const std::vector<NodeResults>& results,
                                             std::optional<std::stop_token> stop = {});

// Adds nodes and paths that failed as failures of the run.
void AddFailures(const std::vector<Error>& failures, Readout<RunAnalysis>& readout);

// ReadChosen for traces on the nodes of a Ray cluster: analyses them there, and brings the results
// together.
Result<Readout<RunAnalysis>> ReadOnCluster(const ReadingArguments& arguments,
                                           const TraceChoice& choice, const ReadOptions& reading,
                                           const Classifier& classifier);

}  // namespace tacho
