#include "cli/compare/compare_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "analysis/compare/compare_runs.h"
#include "analysis/compare/gate.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/screen/output.h"
#include "cli/screen/read_on_cluster.h"
#include "cli/screen/read_runs.h"
#include "cli/screen/terminal.h"
#include "report/documents/compare_document.h"
#include "report/json/compare_json.h"
#include "report/tables/compare_tables.h"
#include "report/words/compare_words.h"
#include "run/baselines.h"
#include "session/run_folder/compare_recordings.h"

namespace tacho {
namespace {

tl::unexpected<Error> MisusedCompare(std::string problem) {
  return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho compare --help'");
}

Result<void> CheckCompareOptions(const CompareOptions& options) {
  const bool by_name =
      options.traces.paths.empty() && !options.base.empty() && !options.now.empty();
  if (options.traces.paths.empty() && options.base.empty() != options.now.empty())
    return MisusedCompare(
        fmt::format("--base and --new name the two sides together: {} is missing (or BASE and NEW "
                    "without them)",
                    options.now.empty() ? "--new" : "--base"));
  if (options.traces.paths.size() != 2 && !by_name) {
    return MisusedCompare(fmt::format(
        "takes two runs or traces, BASE and NEW, not {}: further runs follow --base and --new",
        options.traces.paths.size()));
  }
  if (options.traces.paths == std::vector<std::string>{"-", "-"})
    return MisusedCompare("standard input is one of the two at most");
  if (int{options.json} + int{options.markdown} + int{options.csv} > 1)
    return MisusedCompare("--json, --markdown and --csv do not go together");
  return {};
}

Result<std::vector<ChangeGate>> GatesOf(const CompareOptions& options,
                                        const Classifier& classifier) {
  const std::vector<std::string> names = MetricNames(classifier.categories());
  std::vector<ChangeGate> gates;
  for (const std::string& text : options.fail_on) {
    TACHO_ASSIGN_OR_RETURN(ChangeGate gate, ParseGate(text, names));
    gates.push_back(std::move(gate));
  }
  return gates;
}

// The paths of the base runs and of the new runs, as they were typed.
std::pair<std::vector<std::string>, std::vector<std::string>> SidesOf(
    const CompareOptions& options) {
  std::vector<std::string> base = options.base, now = options.now;
  if (!options.traces.paths.empty()) {
    base.insert(base.begin(), options.traces.paths[0]);
    now.insert(now.begin(), options.traces.paths[1]);
  }
  return {std::move(base), std::move(now)};
}

std::string Render(const CompareOptions& options, const RunChanges& changes,
                   const std::vector<GateResult>& gates, bool comparable, ColorChoice color) {
  if (options.json) return CompareJson(changes, gates, comparable, TachoVersion());
  if (options.csv) return RenderCsv(MetricsTable(changes));
  CompareView view;
  view.style = StyleFor(SurroundingsOf(STDOUT_FILENO), color);
  view.style.whole_names = options.wide;
  view.style.wide_option = "--wide";
  if (options.top) view.top = static_cast<size_t>(*options.top);
  view.all = options.all;
  view.anyway = options.anyway && !changes.NothingCommon();
  Document document = CompareDocument(changes, gates, view);
  return options.markdown ? RenderMarkdown(document, view.top)
                          : RenderText(std::move(document), view.style);
}

// Adds what is wrong with the traces of one side. `name`: "base" or "new".
void AddNotices(std::string_view name, const std::vector<RunAnalysis>& side, RunChanges& changes) {
  std::vector<std::string> notices;
  for (const RunAnalysis& run : side)
    std::ranges::move(NoticesOf(run), std::back_inserter(notices));
  for (const std::string& notice : FirstOf(std::move(notices)))
    changes.remarks.push_back(fmt::format("{}: {}", name, notice));
}

int StatusOfGates(const std::vector<GateResult>& gates) {
  const auto failed = std::ranges::count(gates, GateResult::Outcome::kBroken, &GateResult::outcome);
  const auto passed = std::ranges::count(gates, GateResult::Outcome::kPassed, &GateResult::outcome);
  const auto undecided = std::ssize(gates) - failed - passed;
  if (failed + undecided == 0) return kDone;
  if (failed > 0) Complain(fmt::format("{} of {} gates failed", failed, gates.size()));
  const auto any = [&](bool has_bounds) {
    return std::ranges::any_of(gates, [&](const GateResult& gate) {
      return gate.outcome == GateResult::Outcome::kInconclusive && gate.change &&
             gate.change->half_width.has_value() == has_bounds;
    });
  };
  if (undecided > 0)
    Complain(fmt::format(
        "{} of {} gates could not be decided{}{}", undecided, gates.size(),
        any(true) ? ": longer recordings, or more runs a side, narrow the bounds" : "",
        any(false) ? ": more runs a side give bounds; --without-bounds judges by values" : ""));
  return kGateFailed;
}

}  // namespace

CommandSpec CompareSpec(CompareOptions& o) {
  CommandSpec spec;
  spec.name = "compare";
  spec.summary = "what changed from one run to another, beyond noise";
  spec.usage = "BASE NEW [options]";
  spec.description =
      "BASE and NEW are what tacho analyze takes: a trace, a folder of all ranks, a run folder of "
      "tacho record, an archive, results of tacho analyze --json, or a baseline. Steps are "
      "compared by phase "
      "at equal batch, each difference with bounds that hold for all of them together. Runs that "
      "cannot be compared give no number, and exit status 5 (docs/compare.md).";
  spec.positionals = &o.traces.paths;
  spec.groups = {
      {"more runs of the same set-up, so that the bounds hold how much runs differ",
       {{"--base", "PATH...", "further runs like BASE; without BASE and NEW all of that side",
         &o.base, 0, true},
        {"--new", "PATH...", "further runs like NEW", &o.now, 0, true}}},
      {"what is compared",
       {{"--across", "",
         "other engines or GPUs with the same model: by phase and block of the model, without what "
         "only one of them has, such as kernels",
         &o.across},
        {"--anyway", "", "compare what is not comparable all the same", &o.anyway}}},
      {"what makes it fail, with exit status 1",
       {{"--fail-on", "GATE",
         "a metric and a limit, or several, separated by commas: decode.step.p50>+3%, "
         "idle.host-late>+50us, decode.comm>+5%, kernels.new, load.throughput<-2%. Without a phase "
         "it is of each phase that can be compared. What is not known for certain fails too",
         &o.fail_on},
        {"--without-bounds", "",
         "judge also figures whose noise is not known, as of one run a side, by their values",
         &o.without_bounds}}},
      {"what to print (default: the first screen)",
       {{"--json", "", "all figures as JSON (docs/compare.md)", &o.json},
        {"--markdown", "", "as GitHub Markdown for a pull request", &o.markdown},
        {"--csv", "", "all figures as one CSV table", &o.csv},
        {"--all", "", "also what did not change beyond noise, and figures without bounds", &o.all},
        {"--top", "N", "rows of each table (default: 12)", &o.top, 1},
        {"-w,--wide", "", "full names, lines of any length", &o.wide},
        OptionRow{"--color", "WHEN",
                  "auto (a terminal only), always or never; NO_COLOR is respected", &o.color}
            .OneOf({"auto", "always", "never"})}},
      o.WhatToLookAt(),
      {"how", o.How()},
      o.OnACluster(),
  };
  spec.examples = {
      {"tacho compare runs/before runs/after", "two run folders of tacho record"},
      {"tacho compare base.json new/ --fail-on 'decode.step.p50>+3%,kernels.new'",
       "against kept results, in CI"},
      {"tacho compare base1 new1 --base base2 base3 --new new2 new3", "three runs of each side"},
      {"tacho compare vllm/ sglang/ --across", "two engines with one model"},
      {"tacho compare before.sqlite after.sqlite --markdown", "for a pull request"},
      {"tacho compare --ray http://head:8265 /tmp/before /tmp/after",
       "on all nodes of a Ray cluster"},
  };
  return spec;
}

std::vector<CommandSpec> CompareSpecs() {
  CompareOptions options;
  return {CompareSpec(options)};
}

Result<int> RunCompare(const std::vector<std::string>& arguments) {
  CompareOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto help, ParseArguments(CompareSpec(options), arguments));
  if (help) {
    const auto written = WriteStdout(HelpText(CompareSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  return CompareAsAsked(options);
}

Result<int> CompareAsAsked(const CompareOptions& options) {
  TACHO_RETURN_IF_ERROR(CheckCompareOptions(options));
  auto [base_names, now_names] = SidesOf(options);
  for (const auto* const side : {&base_names, &now_names})
    TACHO_RETURN_IF_ERROR(CheckRayOptions(options, *side));
  std::vector<std::string> base_paths = base_names, now_paths = now_names;
  if (!options.ray) {
    base_paths = WithRunsOfBaselines(base_names);
    now_paths = WithRunsOfBaselines(now_names);
  }
  const bool has_baseline = base_paths != base_names, is_baseline = now_paths != now_names;
  TACHO_ASSIGN_OR_RETURN(const auto color, ParseColor(options.color));
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  TACHO_ASSIGN_OR_RETURN(const auto gates, GatesOf(options, classifier));
  TACHO_ASSIGN_OR_RETURN(ReadOptions reading, ReadOptionsOf(options));
  reading.step_profile = true;
  Incomplete incomplete;
  TACHO_ASSIGN_OR_RETURN(const auto base,
                         ReadRuns(options, base_paths, reading, classifier, incomplete));
  TACHO_ASSIGN_OR_RETURN(const auto now,
                         ReadRuns(options, now_paths, reading, classifier, incomplete));
  RunChanges changes = CompareRuns(base, now, options.across);
  // ReadRuns has removed the paths of the runs that it left out.
  if (!has_baseline) base_names = base_paths;
  if (!is_baseline) now_names = now_paths;
  if (!options.baseline.empty()) base_names[0] = options.baseline;
  changes.base.names = std::move(base_names);
  changes.now.names = std::move(now_names);
  if (!options.ray) CompareRecordings(KeptRunsOf(base_paths), KeptRunsOf(now_paths), changes);
  std::ranges::move(incomplete.repeated, std::back_inserter(changes.remarks));
  // The comparison may be read as a comment on a pull request, without standard error.
  std::ranges::copy(incomplete.reasons, std::back_inserter(changes.remarks));
  AddNotices("base", base, changes);
  AddNotices("new", now, changes);
  const bool comparable = changes.obstacles.empty();
  const bool compared = comparable || (options.anyway && !changes.NothingCommon());
  if (!compared) changes.DropFigures();
  const std::vector<GateResult> judged =
      compared ? Judge(gates, changes, options.without_bounds) : std::vector<GateResult>();
  if (const auto written = WriteStdout(Render(options, changes, judged, comparable, color));
      !written)
    return Fails(written.error());
  const int status = FinishReading(false, incomplete.failures, incomplete.skipped,
                                   incomplete.captures, incomplete.reasons);
  if (!compared) {
    Complain(CompareVerdict(changes));
    if (options.anyway) Complain("--anyway cannot help: there is nothing that could be compared");
    return kNotComparable;
  }
  for (const std::string& sentence : NotJudged(gates, changes)) Complain(sentence);
  const int gate_status = StatusOfGates(judged);
  return gate_status != kDone ? gate_status : status;
}

}  // namespace tacho
