#include "cli/commands.h"
#include "base/closest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/analyze_command.h"
#include "cli/baseline_command.h"
#include "cli/compare_command.h"
#include "cli/engine_command.h"
#include "cli/engine_options.h"
#include "cli/exit_status.h"
#include "cli/export_command.h"
#include "cli/load_command.h"
#include "cli/load_flags.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/query_command.h"
#include "cli/record_command.h"
#include "cli/report_command.h"
#include "cli/simulate_command.h"
#include "cli/stats_command.h"
#include "cli/view_command.h"
#include "net/url.h"
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
  std::string out =
      "tacho: where the time goes in LLM engines (vLLM, SGLang), from their profiler's traces\n"
      "\nusage: tacho COMMAND [options]\n\ncommands:\n";
  for (const Command& command : Commands()) {
    out += fmt::format("  {} {}\n", PadRight(command.name, 10), command.summary);
  }
  out += fmt::format("  {} {}\n", PadRight("help", 10), "help for a command: tacho help analyze");
  out +=
      "\noptions:\n"
      "  -h, --help     this text; after a command, help for that command\n"
      "  -V, --version  the version\n"
      "\nexit status:\n"
      "  0 done   1 a gate of compare failed   2 usage\n"
      "  3 nothing readable, or the result could not be written\n"
      "  4 done, but incomplete: a rank, events or GPU work is missing\n"
      "  5 not comparable   6 an engine or a router refused or did not answer   70 a bug   130 "
      "interrupted\n"
      "\nexamples:\n"
      "  tacho analyze vllm_profile/           all ranks of a run\n"
      "  tacho analyze rank0.pt.trace.json.gz  one trace in full\n"
      "  tacho view vllm_profile/              a timeline in the browser\n";
  return out;
}

const Command* Find(std::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
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

}  // namespace

std::string_view TachoVersion() { return TACHO_VERSION; }

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"analyze", "where the time goes in one trace or in all ranks of a run", RunAnalyze,
       AnalyzeHelp},
      {"view", "the same in the browser, with a timeline of all ranks", RunView, ViewHelp},
      {"report", "one HTML file of a trace or a run, to keep and to send", RunReport, ReportHelp},
      {"compare", "what changed from one run to another, beyond noise; gates for CI", RunCompare,
       CompareHelp},
      {"baseline", "results that are kept by name, to compare later runs with", RunBaseline,
       BaselineHelp},
      {"query", "SQL over a trace or a run: slices, kernels, launches, operators, steps, gaps",
       RunQuery, QueryHelp},
      {"export", "a trace or a part of a run for other tools: Perfetto, SQLite, spreadsheets",
       RunExport, ExportHelp},
      {"stats",
       "the reports of nsys stats, by its names, of Nsight's recordings and of Kineto traces",
       RunStats, StatsHelp},
      {"record", "profile a live deployment under load: every rank, proven, analysed", RunRecord,
       RecordHelp},
      {"engine", "the engines' own profilers: list, status, start, stop, sleep, wake", RunEngine,
       EngineHelp},
      {"load", "drive a workload at an engine or a router, and measure what a user sees", RunLoad,
       LoadHelp},
      {"simulate", "engines and a router without a GPU, speaking the real protocols", RunSimulate,
       SimulateHelp},
  };
  return commands;
}

int EndsWith(const Error& error, const std::vector<std::string>& arguments) {
  const int status = Fails(error);
  const auto options_end = std::find(arguments.begin(), arguments.end(), "--");
  if (std::find(arguments.begin(), options_end, "--json") != options_end)
    WriteStdout(ErrorJson(error, status));  // if this fails, the message and the status remain
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
    return Say(fmt::format("tacho {}\n", TachoVersion()));
  }
  if (first == "help") {
    if (arguments.size() == 1) return Say(Overview());
    const Command* command = Find(arguments[1]);
    return command == nullptr ? Unknown(arguments[1]) : Say(command->help());
  }
  const Command* command = Find(first);
  if (command == nullptr) return Unknown(first);
  const Result<int> status = command->run({arguments.begin() + 1, arguments.end()});
  return status ? *status : EndsWith(status.error(), arguments);
}

}  // namespace tacho
