#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/query/query_command.h"
#include "cli/screen/reading.h"
#include "export/exported_rank.h"
#include "view/viewed_run.h"

namespace tacho {

// Which part of each trace is exported; without `window` and `step`: all of it.
struct ExportPart {
  std::optional<TraceWindow> window = {};
  std::optional<int64_t> step = {};  // by its number, from 1
  bool gpu_alone = false;            // the format has nothing but GPU work

  // The part on the clock of a trace. kUsage, with its path, when the trace has no such part, or
  // nothing in it.
  [[nodiscard]] Result<Interval> Of(const std::string& path, const Trace& trace,
                                    const LaunchLinks& links, const std::vector<Step>& steps) const;
  // "--window 10 ns to 20 ns of a trace of 1.2 s".
  [[nodiscard]] std::string Words(Interval span) const;
};

// The traces of a choice as a run of ranks, each with its part.
struct ViewedExport {
  std::unique_ptr<ViewedRun> run;
  std::vector<ExportedRank> ranks;   // the ranks that have the part
  std::vector<std::string> without;  // why the other ranks do not have it
  Readout<RunAnalysis> readout;
};
// kUsage: no trace has that part.
Result<ViewedExport> ReadViewedExport(const ReadingArguments& arguments, const TraceChoice& choice,
                                      const Classifier& classifier, const ExportPart& part);

// The same for formats that are made of the tables of queries.
struct QueriedExport {
  QueriedReadout read;
  std::vector<Interval> windows;  // by trace
  std::vector<std::string> without;
};
Result<QueriedExport> ReadQueriedExport(const ReadingArguments& arguments,
                                        const TraceChoice& choice, const Classifier& classifier,
                                        const ExportPart& part);

}  // namespace tacho
