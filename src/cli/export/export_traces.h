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
  std::optional<int64_t> step = {};  // the step's number, from 1
  bool gpu_alone = false;            // the format can hold only GPU work

  // Where this part lies in `trace`, in the trace's own time. kUsage: the trace has no such part,
  // or nothing was recorded in it; the message names `path`.
  [[nodiscard]] Result<Interval> Of(const std::string& path, const Trace& trace,
                                    const LaunchLinks& links, const std::vector<Step>& steps) const;
  // "--window 10 ns to 20 ns of a trace of 1.2 s".
  [[nodiscard]] std::string Words(Interval span) const;
};

// The chosen traces as a run of ranks, and the part to export of each rank.
struct ViewedExport {
  std::unique_ptr<ViewedRun> run;
  std::vector<ExportedRank> ranks;   // only ranks that have the part
  std::vector<std::string> without;  // why the other ranks do not have it
  Readout<RunAnalysis> readout;
};
// kUsage: no trace has that part.
Result<ViewedExport> ReadViewedExport(const ReadingArguments& arguments, const TraceChoice& choice,
                                      const Classifier& classifier, const ExportPart& part);

// The chosen traces for formats that are written from the tables of `tacho query`.
struct QueriedExport {
  QueriedReadout read;
  std::vector<Interval> windows;  // the part of each trace
  std::vector<std::string> without;
};
Result<QueriedExport> ReadQueriedExport(const ReadingArguments& arguments,
                                        const TraceChoice& choice, const Classifier& classifier,
                                        const ExportPart& part);

}  // namespace tacho
