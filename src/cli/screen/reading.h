#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/names/classifier.h"
#include "base/result.h"
#include "cli/options/parse.h"
#include "cli/options/trace_choice.h"
#include "run/read_run.h"
#include "text/text_style.h"

namespace tacho {

// The arguments of commands that analyse: which traces to read, and how much of each.
struct ReadingArguments {
  std::string command;  // a usage error points to its help
  TraceArguments traces;
  std::string device;
  std::optional<std::string> window;
  std::optional<std::string> rules_file;
  std::optional<std::string> stacks_from;  // a recording with Python stacks; of analyze alone
  // For the roofline.
  std::optional<std::string> model_config, gpu;
  std::optional<int64_t> tensor_parallel, context_length;
  std::optional<int64_t> threads;
  bool no_progress = false;
  // The traces are on the nodes of a Ray cluster (read_on_cluster.h); absent: on this host.
  std::optional<std::string> ray, ray_program;

  // The option rows; they write into this object.
  OptionGroup WhatToLookAt();
  OptionGroup TheModel();
  // `what_comes`: the end of the help of --ray.
  OptionGroup OnACluster(const std::string& what_comes = "only results travel");
  std::vector<OptionRow> How();
};

Result<Classifier> MakeClassifier(const ReadingArguments& arguments);
Result<TraceChoice> ChoiceOf(const ReadingArguments& arguments);
// Which part of each trace to read, and how.
Result<ReadOptions> ReadOptionsOf(const ReadingArguments& arguments);

// The paths, and the options that narrow them, as words for a shell; "" if a name has characters
// that cannot be shown.
std::string CommandPaths(const ReadingArguments& arguments);
// The same for commands that show whole traces: the paths and the options of TheModel.
std::string WholePaths(const ReadingArguments& arguments);

// The paths as words of `tacho compare`.
std::string ComparePaths(const ReadingArguments& arguments);

// Reads the chosen traces with a progress bar on standard error, if it is a terminal, and adds what
// was left out to `skipped`. `stop`: the token of the command's InterruptScope; absent: the command
// has no such scope.
Result<Readout<RunAnalysis>> ReadChosen(const ReadingArguments& arguments,
                                        const TraceChoice& choice, ReadOptions reading,
                                        const Classifier& classifier,
                                        std::optional<std::stop_token> stop = {});
bool ShowsProgress(const ReadingArguments& arguments);

// Why the exit status is 4, as sentences; empty if the run is complete.
std::vector<std::string> IncompleteReasons(const RunAnalysis& run);
std::vector<std::string> IncompleteReasons(const RunSummary& run);
// The same reasons, and the chosen ranks that have no trace.
std::vector<std::string> IncompleteReasons(const RunAnalysis& run, const TraceChoice& choice);

// What changes the meaning of figures but does not make the run incomplete, as sentences: the notes
// of Severity::kNotice that IncompleteReasons does not report.
std::vector<std::string> NoticesOf(const RunAnalysis& run);

// The first 20 of `messages`, and a line that says how many more there are.
std::vector<std::string> FirstOf(std::vector<std::string> messages);
// Prints `messages` on standard error.
void ComplainAll(const std::vector<std::string>& messages);

// Says on standard error why the exit status is not 0, and returns the status. `names_skipped`: the
// result on standard output already names the failed files, the skipped files and the recordings of
// graph capture. Only failed files are then named again, and only if standard output or standard
// error is not a terminal.
int FinishReading(bool names_skipped, const std::vector<Error>& failures,
                  const std::vector<std::string>& skipped, const std::vector<std::string>& captures,
                  const std::vector<std::string>& incomplete);

// Says on standard error that secrets were blanked in the output, if any were.
void SayBlanked(size_t secrets);

// Returns `error` with escapes for control characters, so that no file name breaks a line.
tl::unexpected<Error> CannotRead(const Error& error);

}  // namespace tacho
