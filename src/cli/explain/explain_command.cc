#include "cli/explain/explain_command.h"

#include <unistd.h>

#include <algorithm>

#include "cli/exit_status.h"
#include "cli/screen/output.h"
#include "cli/screen/read_on_cluster.h"
#include "cli/screen/reading.h"
#include "cli/screen/terminal.h"
#include "report/documents/explain_document.h"

namespace tacho {
namespace {

struct ExplainOptions : ReadingArguments {
  ExplainOptions() { command = "explain"; }
  bool json = false, markdown = false, wide = false;
  std::string color = "auto";
};

CommandSpec ExplainSpec(ExplainOptions& o) {
  CommandSpec spec;
  spec.name = "explain";
  spec.summary = "one finding, request, engine step or idle gap of a run in full";
  spec.usage = "PATH... REQUEST|step:N|gap:N|finding:ID [options]";
  spec.description =
      "PATH is what tacho analyze takes; requests need a run folder of tacho record. REQUEST is "
      "the "
      "id of a request, or slowest or median. Steps and gaps have the numbers of tacho analyze "
      "--steps and --gaps; w1/step:N is one of another worker, rank1/step:N of another rank. "
      "Findings have the ids of tacho analyze --findings; finding:1 is the dearest.";
  spec.positionals = &o.traces.paths;
  const std::vector<OptionRow> how = o.How();
  spec.groups = {
      {"what to print (default: a screen)",
       {{"--json", "", "its tables as JSON", &o.json},
        {"--markdown", "", "as GitHub Markdown", &o.markdown},
        o.traces.KeepSecrets()}},
      o.WhatToLookAt(),
      o.TheModel(),
      {"how",
       {{"-w,--wide", "", "full names, lines of any length", &o.wide},
        OptionRow{"--color", "WHEN",
                  "auto (a terminal only), always or never; NO_COLOR is respected", &o.color}
            .OneOf({"auto", "always", "never"}),
        how[0],
        how[1]}},
      o.OnACluster()};
  spec.examples = {
      {"tacho explain run/ slowest", "the slowest request: its parts, steps and longest waits"},
      {"tacho explain run/ tacho-15b1eb3a-7", "the request with this id"},
      {"tacho explain run/ w1/step:17", "what was in a step of worker w1, and what its device did"},
      {"tacho explain run/ finding:1", "what the time was lost to most, and where"},
      {"tacho explain trace.json gap:1", "the longest idle gap of a trace"},
  };
  return spec;
}

}  // namespace

std::vector<CommandSpec> ExplainSpecs() {
  ExplainOptions options;
  return {ExplainSpec(options)};
}

Result<int> RunExplain(const std::vector<std::string>& arguments) {
  ExplainOptions options;
  TACHO_ASSIGN_OR_RETURN(const bool help, ParseArguments(ExplainSpec(options), arguments));
  if (help) {
    const auto written = WriteStdout(HelpText(ExplainSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  const auto refuse = [](const std::string& problem) {
    return Fail(ErrorKind::kUsage, problem + "; see 'tacho explain --help'");
  };
  if (options.json && options.markdown) return refuse("--json and --markdown do not go together");
  if (options.traces.paths.size() < 2)
    return refuse(
        "give a PATH and what to explain in it: a request's id, slowest, step:N, gap:N or "
        "finding:ID");
  const ExplainTarget target = ParseExplainTarget(options.traces.paths.back());
  options.traces.paths.pop_back();
  TACHO_RETURN_IF_ERROR(CheckRayOptions(options, options.traces.paths));
  TACHO_ASSIGN_OR_RETURN(const auto color, ParseColor(options.color));
  TACHO_ASSIGN_OR_RETURN(const auto choice, ChoiceOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto reading, ReadOptionsOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  TACHO_ASSIGN_OR_RETURN(const auto readout, ReadChosen(options, choice, reading, classifier));

  ScreenOptions screen;
  screen.style = StyleFor(SurroundingsOf(STDOUT_FILENO), color);
  screen.style.whole_names = options.wide;
  screen.style.wide_option = "--wide";
  screen.command_paths = CommandPaths(options);
  // The traces of kept results may lie elsewhere.
  if (std::ranges::all_of(readout.run.traces,
                          [](const TraceAnalysis& trace) { return trace.results.empty(); }))
    screen.view_paths = WholePaths(options);
  TACHO_ASSIGN_OR_RETURN(Document document, ExplainDocument(readout.run, target, screen));
  const auto written =
      WriteStdout(options.json       ? RenderJson(document)
                  : options.markdown ? RenderMarkdown(document)
                                     : RenderText(std::move(document), screen.style));
  if (!written) return Fails(written.error());
  return FinishReading(false, readout.failures, readout.run.skipped, readout.run.captures,
                       IncompleteReasons(readout.run, choice));
}

}  // namespace tacho
