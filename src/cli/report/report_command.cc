#include "cli/report/report_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/record/recording_document.h"
#include "cli/report/report_against.h"
#include "cli/report/report_drawings.h"
#include "cli/screen/output.h"
#include "cli/screen/read_on_cluster.h"
#include "report/answers/answers.h"
#include "report/documents/analyze_markdown.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/json/analyze_json.h"
#include "report/words/compare_words.h"
#include "report/words/redact.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"
#include "view/palette.h"

namespace tacho {
namespace {

constexpr size_t kMarkdownTop = 10;

// The first bytes of every report in this form, to recognise an earlier report.
std::string_view BeginningOf(const ReportOptions& options) {
  if (options.markdown) return kMarkdownReportBegin;
  return options.json ? "{\n \"schema\": " : kHtmlReportBegin;
}

Result<void> CheckOptions(const ReportOptions& options) {
  const auto fail = [](std::string problem) {
    return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho report --help'");
  };
  if (options.traces.paths.empty()) return fail("no trace given");
  if (options.json && !options.against.empty())
    return fail("--against is for the page and --markdown: tacho compare --json has the figures");
  if (options.markdown && options.json) return fail("--markdown and --json do not go together");
  if (options.output && options.output->empty())
    return fail("-o needs a file, or - for standard output");
  TACHO_RETURN_IF_ERROR(CheckRayOptions(options, options.traces.paths));
  return CheckRayOptions(options, options.against);
}

// Where the report goes; "-": standard output.
std::string OutputOf(const ReportOptions& options) {
  return options.output.value_or(options.markdown || options.json ? "-" : "report.html");
}

// Only an earlier report may be replaced.
Result<void> CheckOutput(const ReportOptions& options, const std::string& output) {
  if (output == "-") return {};
  const std::filesystem::path path(output);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error) &&
      std::filesystem::file_size(path, error) > 0) {
    const std::string folder = path.parent_path().string();
    TACHO_RETURN_IF_ERROR(
        CheckReplaces(folder.empty() ? "." : folder,
                      {{path.filename().string(), std::string(BeginningOf(options))}}));
  }
  return CheckWritable(output);
}

std::string Title(const ReportOptions& options) {
  std::string title;
  for (const std::string& path : options.traces.paths) title += (title.empty() ? "" : " ") + path;
  return title;
}

// If there is one path, the content of run.json of its recording; "" for several paths and for "-".
std::string RunJsonOf(const ReportOptions& options) {
  const std::vector<std::string>& paths = options.traces.paths;
  return paths.size() == 1 && paths[0] != "-" && !options.ray ? RunJsonFor(paths[0]) : "";
}

// The command that makes this report; "" if it cannot be typed.
std::string ShownCommand(const ReportOptions& options) {
  std::string command = CommandPaths(options);
  if (command.empty()) return "";
  command = "tacho report " + command;
  if (!options.against.empty()) command += " --against";
  for (const std::string& path : options.against) command += " " + ShellWord(path);
  return VisibleText(command) == command ? command : "";
}

std::string RandomSalt() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// Renders the report in the form that the user chose. `changes`: nullptr without --against.
std::string Render(const ReportOptions& options, const RunAnalysis& run, const RunChanges* changes,
                   Drawings drawings) {
  if (options.json) return AnalyzeJson(run, TachoVersion());
  if (options.markdown) {
    ScreenOptions screen;
    screen.top = kMarkdownTop;
    Document more;
    if (changes != nullptr) more = AgainstDocument(*changes, NameOfAgainst(options), kMarkdownTop);
    more.Append(AnswersDocument(run, changes));
    return AnalyzeMarkdown(run, screen, TachoVersion(), std::move(more));
  }
  PageOfRun page{"redacted",
                 "",
                 RunJsonOf(options),
                 std::move(drawings),
                 options.redact,
                 changes,
                 changes == nullptr ? "" : NameOfAgainst(options)};
  if (!options.redact) {
    page.title = Title(options);
    page.command = ShownCommand(options);
  }
  return RenderPage(run, std::move(page));
}

}  // namespace

std::string RenderPage(const RunAnalysis& run, PageOfRun page) {
  std::optional<KeptRecording> recording = KeptRecordingOf(page.run_json);
  if (recording && page.redacted) {
    const size_t sentences =
        recording->missing.size() + recording->troubles.size() + recording->remarks.size();
    recording->command.clear();
    recording->missing.clear();
    recording->troubles.clear();
    recording->remarks.clear();
    if (sentences > 0) recording->remarks = {FormatCounted(sentences, "sentence") + " taken out"};
  }
  return HtmlReport(run, {.title = std::move(page.title),
                          .command = std::move(page.command),
                          .version = std::string(TachoVersion()),
                          .drawings = std::move(page.drawings),
                          .recording = recording ? RecordingDocument(*recording) : Document{},
                          .changes = page.changes,
                          .against = std::move(page.against),
                          .color_of_category = [](std::string_view category) -> size_t {
                            return ColorOfCategory(category);
                          }});
}

CommandSpec ReportSpec(ReportOptions& o) {
  CommandSpec spec;
  spec.name = "report";
  spec.summary = "one HTML file of a trace or a run, to keep and to send";
  spec.usage = "PATH... [options]";
  spec.description =
      "PATH is what tacho analyze takes: a trace, a folder of them (all ranks of a run, or a run "
      "folder of "
      "tacho record), an archive, or - for standard input. The file needs no network and no "
      "server: open "
      "it in a browser, print it, attach it.";
  spec.positionals = &o.traces.paths;
  spec.groups = {
      {"the report",
       {{"-o", "FILE",
         "where it goes, in folders that are made if they are missing (default: report.html; with "
         "--markdown or --json: standard output); - is standard output. An earlier report is "
         "replaced, any other file is left alone",
         &o.output},
        {"--against", "BASE...",
         "also what changed against BASE: a run, several of one set-up, or a baseline "
         "(.tacho/baselines/NAME). Exit status 5 if the two cannot be compared",
         &o.against, 0, true},
        {"--markdown", "", "as GitHub Markdown for a pull request, below 60 kB", &o.markdown},
        {"--json", "", "all figures as JSON: what tacho analyze --json prints", &o.json},
        {"--redact", "",
         "without host names, paths, request ids and the texts of annotations: each becomes a hash "
         "with a salt of this report",
         &o.redact},
        o.traces.KeepSecrets()}},
      o.WhatToLookAt(),
      o.TheModel(),
      {"how", o.How()},
      o.OnACluster(),
  };
  spec.examples = {
      {"tacho report tacho-20261121-222238", "report.html of a recording"},
      {"tacho report vllm_profile/ -o /tmp/r.html --redact", "one to send to strangers"},
      {"tacho report runs/new --against runs/old", "with a section on what changed"},
      {"tacho report --ray http://head:8265 /tmp/profile",
       "of the traces on a Ray cluster's nodes"},
      {"tacho report vllm_profile/ --markdown | gh pr comment 17 -F -", "into a pull request"},
  };
  return spec;
}

std::vector<CommandSpec> ReportSpecs() {
  ReportOptions options;
  return {ReportSpec(options)};
}

Result<int> RunReport(const std::vector<std::string>& arguments) {
  ReportOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto help, ParseArguments(ReportSpec(options), arguments));
  if (help) {
    const auto written = WriteStdout(HelpText(ReportSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  TACHO_RETURN_IF_ERROR(CheckOptions(options));
  const std::string output = OutputOf(options);
  TACHO_RETURN_IF_ERROR(CheckOutput(options, output));
  TACHO_ASSIGN_OR_RETURN(const auto choice, ChoiceOf(options));
  TACHO_ASSIGN_OR_RETURN(auto reading, ReadOptionsOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  DrawingKeeper keeper(classifier);
  if (!options.markdown && !options.json)
    reading.on_analysed = [&](const AnalysedTrace& read) { keeper.Draw(read); };
  reading.key_averages = options.json;
  reading.step_profile = options.json || !options.against.empty();
  TACHO_ASSIGN_OR_RETURN(auto readout, ReadChosen(options, choice, reading, classifier));
  Incomplete incomplete{readout.failures, readout.run.skipped, readout.run.captures,
                        IncompleteReasons(readout.run, choice)};
  Drawings drawings = std::move(keeper).Choose(readout.run);
  std::optional<Redactor> redactor;
  if (options.redact) {
    redactor.emplace(RandomSalt());
    drawings = redactor->Redacted(std::move(drawings));
    readout.run = redactor->Redacted(std::move(readout.run));
  }
  std::optional<RunChanges> changes;
  if (!options.against.empty()) {
    TACHO_ASSIGN_OR_RETURN(changes, ChangesAgainst(options, readout.run, classifier,
                                                   redactor ? &*redactor : nullptr, incomplete));
  }
  const std::string report =
      Render(options, readout.run, changes ? &*changes : nullptr, std::move(drawings));
  const auto written = output == "-" ? WriteStdout(report) : WriteFile(output, report);
  if (!written) return Fails(written.error());
  if (output != "-") Complain("the report is in " + VisibleText(output));
  if (!options.redact) SayBlanked(readout.Blanked());
  const int status = FinishReading(output == "-" && !options.redact, incomplete.failures,
                                   incomplete.skipped, incomplete.captures, incomplete.reasons);
  if (!changes || changes->obstacles.empty()) return status;
  Complain(CompareVerdict(*changes));
  return kNotComparable;
}

}  // namespace tacho
