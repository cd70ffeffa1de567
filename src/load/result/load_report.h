#pragma once

#include <optional>
#include <string>
#include <vector>

#include "load/drive/drive.h"
#include "load/result/bench_result.h"
#include "load/result/load_summary.h"
#include "text/table.h"
#include "text/text_style.h"

namespace tacho {

// The recording that was made around a load.
struct ProfiledRun {
  std::string folder;
  bool complete = false;  // every trace is present and complete
  int status = 0;         // the exit status that tacho record would give
};

// A finished load, with everything that its report needs.
struct FinishedLoad {
  LoadPlan plan;
  std::vector<std::string> urls;
  LoadRecords records;
  LoadSummary summary;
  BenchIdentity identity;
  BenchMetrics metrics;
  std::vector<Slo> slos;
  std::vector<std::string> remarks;
  std::optional<ProfiledRun> run;  // set with --profile
};

// A percentile in milliseconds, the unit of all latencies in the report as in vLLM's table; an
// empty cell if `all` has no such percentile.
Cell MsCell(const Distribution& all, double percent);

// vLLM's table, followed by what that table lacks: the steady state, each scenario, the times
// counted from the schedule, the client's own health, and what failed.
std::string LoadText(const FinishedLoad& load, const TextStyle& style);

// The report as JSON (docs/load.md), schema 1.
std::string LoadJson(const FinishedLoad& load, std::string_view version);

}  // namespace tacho
