#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"
#include "cli/screen/reading.h"
#include "query/queried_trace.h"

namespace tacho {

// The arguments of `tacho query`.
struct QueryOptions : ReadingArguments {
  QueryOptions() { command = "query"; }
  bool csv = false, json = false, markdown = false, wide = false;
  std::optional<int64_t> top;
};
CommandSpec QuerySpec(QueryOptions& options);

// The chosen traces, kept in memory, and what was left out or is missing.
struct QueriedReadout {
  std::unique_ptr<const QueriedRun> run;
  Readout<RunAnalysis> rest;  // its `run` was moved away
};
// `kept_for`: the word for the purpose in error messages.
Result<QueriedReadout> ReadQueried(const ReadingArguments& arguments, const TraceChoice& choice,
                                   const Classifier& classifier, std::string kept_for = "queries");

Result<int> RunQuery(const std::vector<std::string>& arguments);
std::vector<CommandSpec> QuerySpecs();

}  // namespace tacho
