#include "cli/commands.h"
#include "base/closest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "cli/analyze/analyze_command.h"
#include "cli/baseline/baseline_command.h"
#include "cli/compare/compare_command.h"
#include "cli/completion/completion.h"
#include "cli/completion/completion_command.h"
#include "cli/completion/man_page.h"
#include "cli/doctor/doctor_command.h"
#include "cli/engine/engine_command.h"
#include "cli/engine/engine_options.h"
#include "cli/exit_status.h"
#include "cli/explain/explain_command.h"
#include "cli/export/export_command.h"
#include "cli/launch/launch_command.h"
#include "cli/load/load_command.h"
#include "cli/load/load_flags.h"
#include "cli/options/parse.h"
#include "cli/query/query_command.h"
#include "cli/record/record_command.h"
#include "cli/report/report_command.h"
#include "cli/screen/output.h"
#include "cli/screen/terminal.h"
#include "cli/simulate/simulate_command.h"
#include "cli/stats/stats_command.h"
#include "cli/tacho_version.h"
#include "cli/view/view_command.h"
#include "launch/keeper.h"
#include "net/url.h"
#include "ray/node_program.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

int Say(const std::string& text) {
  const auto written = WriteStdout(text);
  if (written) return kDone;
  Complain(written.error().message);
  return StatusOf(written.error().kind);
}

std::string Overview() {
  constexpr size_t kIndent = 17;
  const size_t width = HelpWidth(SurroundingsOf(STDOUT_FILENO));
  const auto row = [&](std::string_view name, std::string_view text) {
    return Wrap(fmt::format("  {} {}", PadRight(name, kIndent - 3), text), width, kIndent) + "\n";
  };
  std::string out =
      Wrap("tacho: where the time goes in LLM engines (vLLM, SGLang), from their profiler's traces",
           width, 2) +
      "\n\nusage: tacho COMMAND [options]\n\ncommands:\n";
  for (const Command& command : Commands()) out += row(command.name, command.summary);
  out += row("help", "help for a command: tacho help analyze");
  out += "\noptions:\n";
  out += row("-h, --help", "this text; after a command, help for that command");
  out += row("-V, --version", "the version, and what it was built with; with --json as JSON");
  out += "\nexit status:\n";
  for (const ExitMeaning& exit : ExitMeanings())
    out += row(std::to_string(exit.status), exit.meaning);
  out += "\nexamples:\n";
  for (const auto& [command, shows] :
       {std::pair("tacho analyze vllm_profile/", "all ranks of a run"),
        std::pair("tacho analyze rank0.pt.trace.json.gz", "one trace in full"),
        std::pair("tacho view vllm_profile/", "a timeline in the browser")}) {
    const std::string line = fmt::format("  {:<38}{}", command, shows);
    out += line.size() <= width ? line : fmt::format("  {}\n      {}", command, shows);
    out += '\n';
  }
  return out;
}

int Unknown(const std::string& what) {
  const std::string shown = what.find("://") == std::string::npos ? what : ShownUrl(what);
  std::vector<std::string> names = {"help", "--help", "--version"};
  for (const Command& command : Commands()) names.emplace_back(command.name);
  std::string nearest = Closest(what, names);
  std::error_code error;
  if (nearest.empty() && std::filesystem::exists(what, error)) {
    nearest = "tacho analyze " + ShellWord(what);
  }
  const std::vector<std::string>& actions = EngineActions();
  if (std::find(actions.begin(), actions.end(), what) != actions.end())
    nearest = fmt::format("tacho engine {} URL", what);
  if (what.find("://") != std::string::npos)
    nearest = fmt::format("tacho engine status {0}, or tacho record {0}", ShellWord(shown));
  Complain(fmt::format("unknown command '{}'{}; see 'tacho --help'", VisibleText(shown),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
  return kBadUsage;
}

// Reports that the command has no such action: "record" in "help engine record".
int UnknownAction(const std::vector<CommandSpec>& specs, const std::string& what) {
  const std::string& command = specs.front().name;
  std::vector<std::string> actions;
  for (const CommandSpec& spec : specs)
    if (spec.name.starts_with(command + " "))
      actions.push_back(spec.name.substr(command.size() + 1));
  std::string nearest = Closest(what, actions);
  if (!nearest.empty()) nearest = fmt::format("tacho help {} {}", command, nearest);
  if (nearest.empty() && FindCommand(what) != nullptr) nearest = "tacho help " + what;
  Complain(
      fmt::format("tacho {} has no action '{}'{}; see 'tacho help {}'", command, VisibleText(what),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), command));
  return kBadUsage;
}

// Answers "help [COMMAND [ACTION]]", "help --man [COMMAND]", and "help --man -o DIR", which writes
// all man pages.
int Help(std::vector<std::string> words) {
  const bool man = !words.empty() && words[0] == "--man";
  if (man) words.erase(words.begin());
  if (words.empty() || words[0] == "-h" || words[0] == "--help" || words[0] == "help")
    return Say(man ? OverviewPage() : Overview());
  if (man && words.size() == 2 && words[0] == "-o") {
    const auto written = WriteFiles(words[1], ManPages());
    return written ? kDone : Fails(written.error());
  }
  const Command* command = FindCommand(words[0]);
  if (command == nullptr) return Unknown(words[0]);
  const std::vector<CommandSpec> specs = command->specs();
  if (man) return Say(ManPage(specs));
  for (const CommandSpec& spec : specs)
    if (words.size() > 1 && spec.name == words[0] + " " + words[1]) return Say(HelpText(spec));
  // The second word may be no action but an argument of the command: "help completion bash".
  const CommandSpec& whole = specs.front();
  const bool is_known = words.size() < 2 || words[1].starts_with('-') ||
                        std::ranges::find(whole.words, words[1]) != whole.words.end();
  return is_known ? Say(HelpText(whole)) : UnknownAction(specs, words[1]);
}

}  // namespace

std::string_view TachoVersion() { return TACHO_VERSION; }

const Command* FindCommand(std::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::span<const ExitMeaning> ExitMeanings() {
  static constexpr std::array<ExitMeaning, 9> kMeanings = {{
      {kDone, "done"},
      {kGateFailed, "a gate of compare failed"},
      {kBadUsage, "usage"},
      {kUnreadableInput, "nothing readable, or the result could not be written"},
      {kIncomplete, "done, but incomplete: a rank, events or GPU work is missing"},
      {kNotComparable, "not comparable"},
      {kRemoteFailed, "an engine or a router refused or did not answer"},
      {kBug, "a bug"},
      {kInterrupted, "interrupted"},
  }};
  return kMeanings;
}

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"analyze", "where the time goes in one trace or in all ranks of a run", RunAnalyze,
       AnalyzeSpecs},
      {"view", "the same in the browser, with a timeline of all ranks", RunView, ViewSpecs},
      {"explain", "one request, engine step or idle gap of a run in full", RunExplain,
       ExplainSpecs},
      {"report", "one HTML file of a trace or a run, to keep and to send", RunReport, ReportSpecs},
      {"compare", "what changed from one run to another, beyond noise; gates for CI", RunCompare,
       CompareSpecs},
      {"baseline", "results that are kept by name, to compare later runs with", RunBaseline,
       BaselineSpecs},
      {"query", "SQL over a trace or a run: slices, kernels, launches, operators, steps, gaps",
       RunQuery, QuerySpecs},
      {"export", "a trace or a part of a run for other tools: Perfetto, SQLite, spreadsheets",
       RunExport, ExportSpecs},
      {"stats",
       "the reports of nsys stats, by its names, of Nsight's recordings and of Kineto traces",
       RunStats, StatsSpecs},
      {"record", "profile a live deployment under load: every rank, proven, analysed", RunRecord,
       RecordSpecs},
      {"launch", "start vLLM or SGLang so that it can be profiled, and end it cleanly", RunLaunch,
       LaunchSpecs},
      {"doctor", "why profiling does not work here: every known failure, with its remedy",
       RunDoctor, DoctorSpecs},
      {"engine", "the engines' own profilers: list, status, start, stop, sleep, wake", RunEngine,
       EngineSpecs},
      {"load", "drive a workload at an engine or a router, and measure what a user sees", RunLoad,
       LoadSpecs},
      {"simulate", "engines and a router without a GPU, speaking the real protocols", RunSimulate,
       SimulateSpecs},
      {"completion", "a script with which bash, zsh or fish completes tacho's command lines",
       RunCompletion, CompletionSpecs},
  };
  return commands;
}

int EndsWith(const Error& error, const std::vector<std::string>& arguments) {
  const int status = Fails(error);
  const auto options_end = std::find(arguments.begin(), arguments.end(), "--");
  if (std::find(arguments.begin(), options_end, "--json") != options_end)
    // If this fails, the user still has the message and the status.
    WriteStdout(ErrorJson(error, status));
  return status;
}

int RunCommandLine(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    Complain("no command given; see 'tacho --help'");
    return kBadUsage;
  }
  const std::string& first = arguments[0];
  if (first == "-h" || first == "--help") return Say(Overview());
  if (first == "-V" || first == "--version" || first == "version") {
    const bool json = arguments.size() > 1 && arguments[1] == "--json";
    return Say(json ? VersionJson() : VersionText());
  }
  if (first == kKeeperWord) return RunKeeper();
  if (first == kNodeWord) {
    const auto text = RunOnNode({arguments.begin() + 1, arguments.end()});
    return text ? Say(*text) : Fails(text.error());
  }
  if (first == "__complete") return Say(CompletionText({arguments.begin() + 1, arguments.end()}));
  if (first == "help") return Help({arguments.begin() + 1, arguments.end()});
  const Command* command = FindCommand(first);
  if (command == nullptr) return Unknown(first);
  const Result<int> status = command->run({arguments.begin() + 1, arguments.end()});
  return status ? *status : EndsWith(status.error(), arguments);
}

}  // namespace tacho
