#include "cli/analyze/analyze_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/record/recording_document.h"
#include "cli/screen/output.h"
#include "cli/screen/overhead_text.h"
#include "cli/screen/progress_bar.h"
#include "cli/screen/terminal.h"
#include "io/trace_sources.h"
#include "report/documents/analyze_csv.h"
#include "report/documents/analyze_document.h"
#include "report/documents/analyze_markdown.h"
#include "report/documents/summary_report.h"
#include "report/json/analyze_json.h"
#include "report/profile/profile_sections.h"
#include "session/run_folder/kept_recording.h"
#include "text/format_number.h"
#include "text/labelled.h"

namespace tacho {
namespace {

constexpr size_t kDefaultTop = 10, kDefaultProfileTop = 20;

Result<TraceChoice> ChoiceOf(const AnalyzeOptions& options) {
  ReadingArguments reading = options;
  if (options.profile_dir) reading.traces.paths = {*options.profile_dir};
  TACHO_ASSIGN_OR_RETURN(TraceChoice choice, ChoiceOf(reading));
  choice.first_worker_only = options.profile_dir && !options.all_ranks && choice.ranks.empty();
  if (choice.first_worker_only) choice.session.clear();
  return choice;
}

Result<int> Summarise(const AnalyzeOptions& options, const TraceChoice& choice,
                      const ScreenOptions& screen) {
  auto readout = [&] {
    ProgressBar bar(screen.style, ShowsProgress(options));
    return ReadSummaries(choice, bar);
  }();
  if (!readout) return CannotRead(readout.error());
  const std::vector<std::string> incomplete = IncompleteReasons(readout->run);
  const auto written =
      WriteStdout(options.json ? SummaryJson(readout->run, TachoVersion(), incomplete)
                               : SummaryText(readout->run, screen));
  if (!written) return Fails(written.error());
  return FinishReading(true, readout->failures, readout->run.skipped, readout->run.captures,
                       incomplete);
}

std::string Render(const AnalyzeOptions& options, const RunAnalysis& run,
                   const ScreenOptions& screen) {
  if (options.json) return AnalyzeJson(run, TachoVersion());
  if (options.profile_dir) return ProfileText(run, screen);
  const std::vector<WholeTable> tables = options.Tables();
  if (options.markdown) {
    return tables.empty() ? AnalyzeMarkdown(run, screen, TachoVersion())
                          : WholeTablesMarkdown(run, tables, screen);
  }
  return tables.empty() ? AnalyzeText(run, screen) : WholeTablesText(run, tables, screen);
}

// Only files that an earlier --csv wrote, recognised by their headings, may be replaced.
Result<void> CheckCsvFolder(const AnalyzeOptions& options) {
  return options.csv_folder ? CheckReplaces(*options.csv_folder, AnalyzeCsv({})) : Result<void>();
}

// The cost of profiling, if there is only one path and its recording measured the cost: how much
// longer steps took (--overhead), else the change in throughput between the unprofiled and the
// profiled window.
std::string CostOfLooking(const std::vector<std::string>& paths, const TextStyle& style) {
  if (paths.size() != 1) return "";
  const auto recording = KeptRecordingOf(RunJsonFor(paths[0]));
  if (!recording) return "";
  std::string text =
      recording->step_change ? StepChangeText(*recording->step_change) : CostText(*recording);
  if (text.empty()) return "";
  if (!recording->step_change) text += "; no figure is corrected for that";
  return "\n" + RenderText(Labelled{"looking", {std::move(text)}}, style);
}

Result<int> Analyse(const AnalyzeOptions& options, const TraceChoice& choice,
                    const ScreenOptions& screen) {
  TACHO_ASSIGN_OR_RETURN(auto reading, ReadOptionsOf(options));
  reading.step_profile = options.json;
  reading.digests = options.digests;
  reading.sources.asked = options.json || options.csv_folder || options.stacks_from ||
                          options.Wants(WholeTable::kSources);
  reading.key_averages = options.json || options.csv_folder || options.Wants(WholeTable::kOps);
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  TACHO_ASSIGN_OR_RETURN(const auto readout, ReadChosen(options, choice, reading, classifier));
  // The report comes first, so that a failure to write another file does not lose it.
  const std::string cost = options.json || options.ray || !options.Tables().empty()
                               ? ""
                               : CostOfLooking(options.traces.paths, screen.style);
  if (const auto written = WriteStdout(Render(options, readout.run, screen) + cost); !written)
    return Fails(written.error());
  if (options.json) SayBlanked(readout.Blanked());
  int status = FinishReading(options.Tables().empty(), readout.failures, readout.run.skipped,
                             readout.run.captures, IncompleteReasons(readout.run, choice));
  if (!options.fetch.ranks.empty()) {
    TACHO_ASSIGN_OR_RETURN(const auto cluster, ClusterAt(*options.ray, options.ray_program));
    TACHO_ASSIGN_OR_RETURN(const bool came, FetchTraces(cluster, options.fetch, readout.run.traces,
                                                        ShowsProgress(options)));
    if (!came && status == kDone) status = kIncomplete;
  }
  if (!options.csv_folder) return status;
  const auto files = AnalyzeCsv(readout.run);
  if (const auto safe = CheckCsvFolder(options); !safe) return Fails(safe.error());
  if (const auto written = WriteFiles(*options.csv_folder, files); !written) {
    return Fails(written.error());
  }
  Complain(fmt::format("{} in {}", FormatCounted(files.size(), "CSV file"), *options.csv_folder));
  return status;
}

}  // namespace

Result<int> RunAnalyze(const std::vector<std::string>& arguments) {
  AnalyzeOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto parsed, ParseArguments(AnalyzeSpec(options), arguments));
  if (parsed) {
    const auto written = WriteStdout(HelpText(AnalyzeSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  TACHO_RETURN_IF_ERROR(CheckAnalyzeOptions(options));
  TACHO_ASSIGN_OR_RETURN(const auto color, ParseColor(options.color));
  TACHO_ASSIGN_OR_RETURN(const auto choice, ChoiceOf(options));
  TACHO_RETURN_IF_ERROR(CheckCsvFolder(options));

  ScreenOptions screen;
  screen.style = StyleFor(SurroundingsOf(STDOUT_FILENO), color);
  screen.style.whole_names = options.wide;
  screen.style.wide_option = "--wide";
  screen.top = static_cast<size_t>(
      options.top.value_or(options.profile_dir ? kDefaultProfileTop : kDefaultTop));
  if (options.top) screen.table_top = screen.top;
  TACHO_ASSIGN_OR_RETURN(
      screen.pick, ParseTablePick(options.sort, options.filter, EmptyTables(options.Tables())));
  screen.command_paths = CommandPaths(options);
  if (options.traces.paths.size() == 2) screen.compare_paths = ComparePaths(options);
  if (options.device.empty() && !options.window) screen.view_paths = WholePaths(options);
  screen.is_file = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) ||
           std::filesystem::is_regular_file(SplitPart(path).first, error);
  };
  return options.summary ? Summarise(options, choice, screen) : Analyse(options, choice, screen);
}

}  // namespace tacho
