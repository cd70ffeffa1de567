#include "cli/baseline/baseline_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "analysis/compare/compare_runs.h"
#include "base/closest.h"
#include "cli/baseline/baseline_list.h"
#include "cli/commands.h"
#include "cli/compare/compare_command.h"
#include "cli/exit_status.h"
#include "cli/screen/output.h"
#include "cli/screen/read_runs.h"
#include "cli/screen/terminal.h"
#include "cli/screen/without_interrupts.h"
#include "report/json/analyze_json.h"
#include "run/baselines.h"
#include "run/read_results.h"
#include "session/run_folder/kept_recording.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, 4> kBaselineActions = {"save", "list", "compare", "remove"};

struct BaselineOptions : ReadingArguments {
  BaselineOptions() { command = "baseline"; }
  std::vector<std::string> words;  // the name, then paths
  std::string folder = std::string(kBaselineFolder);
  bool replace = false, json = false;
  std::string color = "auto";

  [[nodiscard]] OptionRow FolderRow() {
    return {"--dir", "DIR", fmt::format("where the baselines are (default: {})", kBaselineFolder),
            &folder};
  }
};

tl::unexpected<Error> MisusedBaseline(std::string problem) {
  return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho baseline --help'");
}

CommandSpec BaselineSpec(BaselineOptions& o) {
  CommandSpec spec;
  spec.name = "baseline";
  spec.summary = "results that are kept by name, to compare later runs with";
  spec.usage = "save NAME PATH... | list | compare NAME PATH... | remove NAME [options]";
  spec.description =
      "save analyses runs and keeps their results, some 100 kB in place of the traces; each PATH "
      "is what tacho analyze takes, and a run of its own: several runs of one set-up give bounds "
      "that hold how much runs differ. Of a recording of tacho the figures of its load are kept "
      "too. compare is tacho compare with the baseline as BASE, and takes all its options "
      "(docs/ci.md). Each has a help of its own: tacho baseline save --help";
  spec.positionals = &o.words;
  spec.examples = {
      {"tacho baseline save main runs/a runs/b runs/c", "three runs of the main branch"},
      {"tacho baseline compare main runs/new --fail-on 'decode.step.p50>+3%'",
       "exit status 1 if decode steps became slower by more than 3 %"},
      {"tacho baseline list", "names, engines, ranks, steps and sizes"},
      {"tacho report runs/new --against .tacho/baselines/main", "what changed, as a page"},
  };
  return spec;
}

// The options of one action. `compare` has the options of tacho compare.
CommandSpec SpecOf(std::string_view action, BaselineOptions& o) {
  CommandSpec spec = BaselineSpec(o);
  spec.name += " " + std::string(action);
  std::erase_if(spec.examples, [&](const CommandSpec::Example& example) {
    return !example.command.starts_with("tacho " + spec.name);
  });
  if (action == "save") {
    spec.summary = "analyses runs and keeps their results under a name";
    spec.usage = "NAME PATH... [options]";
    spec.groups = {
        {"the baseline",
         {o.FolderRow(),
          {"--replace", "", "in place of an earlier baseline of that name", &o.replace}}},
        o.WhatToLookAt(),
        {"how", o.How()}};
  } else if (action == "list") {
    spec.summary = "the baselines that there are";
    spec.usage = "[options]";
    spec.description = "";
    spec.groups = {
        {"which", {o.FolderRow()}},
        {"how",
         {{"--json", "", "as JSON (docs/ci.md)", &o.json},
          OptionRow{"--color", "WHEN", "auto (a terminal only), always or never", &o.color}.OneOf(
              {"auto", "always", "never"})}}};
  } else {
    spec.summary = "removes a baseline";
    spec.usage = "NAME [options]";
    spec.description = "Files that tacho did not put there are left alone, with the baseline.";
    spec.examples = {{"tacho baseline remove main", ""}};
    spec.groups = {{"which", {o.FolderRow()}}};
  }
  return spec;
}

CommandSpec BaselineCompareSpec(CompareOptions& compare, BaselineOptions& baseline) {
  CommandSpec spec = CompareSpec(compare);
  const CommandSpec of_all = BaselineSpec(baseline);
  spec.name = "baseline compare";
  spec.summary = "what changed from a baseline to a run, beyond noise";
  spec.usage = "NAME PATH... [options]";
  spec.description =
      "tacho compare with the baseline of that name as BASE. Each PATH is a run of the new set-up. "
      "Exit status 1: a gate failed; 5: the runs cannot be compared.";
  spec.groups.insert(spec.groups.begin(), {"the baseline", {baseline.FolderRow()}});
  spec.examples = {of_all.examples[1],
                   {"tacho baseline compare main runs/new --markdown", "for a pull request"}};
  return spec;
}

Result<int> SaveRuns(const BaselineOptions& options) {
  if (options.words.size() < 2) return MisusedBaseline("save needs a name, then runs");
  const BaselinePlace place{options.folder, options.words[0]};
  TACHO_RETURN_IF_ERROR(CheckBaselineName(place.name));
  TACHO_RETURN_IF_ERROR(CheckBaselinePlace(place, options.replace));
  std::vector<std::string> paths =
      WithRunsOfBaselines({options.words.begin() + 1, options.words.end()});
  TACHO_ASSIGN_OR_RETURN(ReadOptions reading, ReadOptionsOf(options));
  reading.step_profile = reading.key_averages = true;
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  Incomplete incomplete;
  TACHO_ASSIGN_OR_RETURN(const auto runs,
                         ReadRuns(options, paths, reading, classifier, incomplete));
  for (const std::string& repeated : incomplete.repeated) Complain(repeated);
  // Incomplete new runs must not replace an earlier baseline.
  if (options.replace && !RunsOfBaseline(place.path()).empty() &&
      !(incomplete.failures.empty() && incomplete.reasons.empty())) {
    const int status = FinishReading(false, incomplete.failures, incomplete.skipped,
                                     incomplete.captures, incomplete.reasons);
    Complain(
        fmt::format("the earlier baseline '{}' stays: the new runs are not whole (tacho "
                    "baseline remove {}, then save, keeps them all the same)",
                    place.name, place.name));
    return status;
  }
  for (size_t i = 1; i < runs.size(); ++i) {
    const RunChanges changes = CompareRuns({runs[0]}, {runs[i]});
    // Every obstacle except kNothingCommon (the steps have nothing in common) shows that the runs
    // differ in set-up.
    const auto other = std::ranges::find_if(
        changes.obstacles, [](const Obstacle& obstacle) { return obstacle.id != kNothingCommon; });
    if (other == changes.obstacles.end()) continue;
    Complain(fmt::format("nothing is kept: {} is of another set-up than {}: {}", paths[i], paths[0],
                         other->text));
    return kNotComparable;
  }
  std::vector<RunToKeep> kept;
  for (size_t i = 0; i < runs.size(); ++i) {
    kept.push_back(
        {AnalyzeJson(runs[i], TachoVersion()), RunJsonFor(paths[i]), PlanFactsFor(paths[i])});
    TACHO_RETURN_IF_ERROR(WithContext(ParseResults(kept.back().results), paths[i]));
  }
  {
    const WithoutInterrupts guard;
    TACHO_RETURN_IF_ERROR(SaveBaseline(place, kept, options.replace));
  }
  const auto written =
      WriteStdout(RenderText(BaselinesTable({ListedBaselineOf(place, runs)}),
                             StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto)));
  if (!written) return Fails(written.error());
  Complain(fmt::format(
      "kept in {0}; to compare with it: tacho baseline compare {1} RUN{2}", place.path(),
      place.name, options.folder == kBaselineFolder ? "" : " --dir " + ShellWord(options.folder)));
  return FinishReading(false, incomplete.failures, incomplete.skipped, incomplete.captures,
                       incomplete.reasons);
}

Result<int> ListBaselines(const BaselineOptions& options) {
  if (!options.words.empty())
    return MisusedBaseline(fmt::format("unexpected argument '{}'", VisibleText(options.words[0])));
  TACHO_ASSIGN_OR_RETURN(const auto color, ParseColor(options.color));
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  std::vector<ListedBaseline> listed;
  Incomplete incomplete;
  for (const std::string& name : BaselinesIn(options.folder)) {
    const BaselinePlace place{options.folder, name};
    std::vector<std::string> paths = RunsOfBaseline(place.path());
    auto runs = ReadRuns(options, paths, {}, classifier, incomplete);
    if (!runs) incomplete.failures.push_back(runs.error());
    listed.push_back(ListedBaselineOf(place, runs.value_or(std::vector<RunAnalysis>())));
  }
  std::string text = options.json ? BaselinesJson(listed, TachoVersion()) : "";
  if (text.empty() && !listed.empty()) {
    text = RenderText(BaselinesTable(listed), StyleFor(SurroundingsOf(STDOUT_FILENO), color));
  }
  if (const auto written = WriteStdout(text); !written) return Fails(written.error());
  if (listed.empty() && !options.json)
    Complain(fmt::format("no baselines in {}", VisibleText(options.folder)));
  return FinishReading(false, incomplete.failures, incomplete.skipped, {}, {});
}

Result<int> Remove(const BaselineOptions& options) {
  if (options.words.size() != 1) return MisusedBaseline("remove needs one name");
  TACHO_RETURN_IF_ERROR(RemoveBaseline({options.folder, options.words[0]}));
  return kDone;
}

Result<int> CompareWithBaseline(const std::vector<std::string>& arguments) {
  CompareOptions compare;
  BaselineOptions baseline;
  compare.command = "baseline compare";
  const CommandSpec spec = BaselineCompareSpec(compare, baseline);
  TACHO_ASSIGN_OR_RETURN(const bool help, ParseArguments(spec, arguments));
  if (help) {
    const auto written = WriteStdout(HelpText(spec));
    return written ? kDone : Fails(written.error());
  }
  std::vector<std::string>& paths = compare.traces.paths;
  if (paths.size() < 2) return MisusedBaseline("compare needs a name, then a run");
  const BaselinePlace place{baseline.folder, paths[0]};
  TACHO_RETURN_IF_ERROR(RunsOfBaseline(place));
  compare.baseline = place.name;
  paths[0] = place.path();
  compare.now.insert(compare.now.begin(), paths.begin() + 2, paths.end());
  paths.resize(2);
  return CompareAsAsked(compare);
}

}  // namespace

std::vector<CommandSpec> BaselineSpecs() {
  BaselineOptions options;
  CompareOptions compare;
  return {BaselineSpec(options), SpecOf("save", options), SpecOf("list", options),
          BaselineCompareSpec(compare, options), SpecOf("remove", options)};
}

Result<int> RunBaseline(const std::vector<std::string>& arguments) {
  const std::string action = arguments.empty() ? "" : arguments[0];
  if (action == "-h" || action == "--help") {
    const auto written = WriteStdout(HelpText(BaselineSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  const std::vector<std::string> actions(kBaselineActions.begin(), kBaselineActions.end());
  if (std::ranges::find(actions, action) == actions.end()) {
    const std::string nearest = action.empty() ? "" : Closest(action, actions);
    return MisusedBaseline(
        action.empty()
            ? fmt::format("no action: one of {}", fmt::join(actions, ", "))
            : fmt::format("unknown action '{}'{}: one of {}", VisibleText(action),
                          nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                          fmt::join(actions, ", ")));
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (action == "compare") return CompareWithBaseline(rest);
  BaselineOptions options;
  const CommandSpec spec = SpecOf(action, options);
  TACHO_ASSIGN_OR_RETURN(const bool help, ParseArguments(spec, rest));
  if (help) {
    const auto written = WriteStdout(HelpText(spec));
    return written ? kDone : Fails(written.error());
  }
  if (action == "save") return SaveRuns(options);
  return action == "list" ? ListBaselines(options) : Remove(options);
}

}  // namespace tacho
