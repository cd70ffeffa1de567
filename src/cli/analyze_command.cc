#include "cli/analyze_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/choice_words.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/window_argument.h"
#include "io/read_whole.h"
#include "report/analyze_csv.h"
#include "report/analyze_document.h"
#include "report/analyze_json.h"
#include "report/analyze_markdown.h"
#include "report/profile_sections.h"
#include "report/rank_text.h"
#include "report/summary_report.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kDefaultTop = 10, kDefaultProfileTop = 20;
constexpr size_t kMostComplaints = 20;
constexpr size_t kMostRules = size_t{1} << 24;

Result<Classifier> MakeClassifier(const AnalyzeOptions& options) {
  if (!options.rules_file) return Classifier::Create();
  TACHO_ASSIGN_OR_RETURN(auto rules, ReadWholeFile(*options.rules_file, kMostRules));
  return WithContext(Classifier::Create(rules), *options.rules_file);
}

Result<TraceChoice> ChoiceOf(const AnalyzeOptions& options) {
  TraceArguments traces = options.traces;
  if (options.profile_dir) traces.paths = {*options.profile_dir};
  TACHO_ASSIGN_OR_RETURN(TraceChoice choice, ChoiceOf(traces, "analyze"));
  choice.threads = static_cast<size_t>(options.threads.value_or(0));
  choice.first_worker_only = options.profile_dir && !options.all_ranks && choice.ranks.empty();
  if (choice.first_worker_only) choice.session.clear();
  return choice;
}

Result<ReadOptions> ReadOptionsOf(const AnalyzeOptions& options) {
  ReadOptions reading;
  reading.device = options.device;
  reading.key_averages = options.json || options.csv_folder || options.ops;
  if (options.window) {
    TACHO_ASSIGN_OR_RETURN(reading.window, WithContext(ParseWindow(*options.window), "--window"));
  }
  return reading;
}

// The paths and all options that narrow them; "" if they cannot be typed.
std::string CommandPaths(const AnalyzeOptions& options) {
  std::string words = CommandPaths(options.traces);
  if (words.empty()) return "";
  if (!options.device.empty()) words += " --device " + ShellWord(options.device);
  if (options.window) words += " --window " + ShellWord(*options.window);
  return VisibleText(words) == words ? words : "";
}

// Prints the result, then says on standard error why the exit status is not 0. `names_skipped`: the
// result names the skipped files. Failed files are named on both outputs, which may go to different
// places, but not twice on one terminal.
template <typename Run>
int Finish(const std::string& result, bool names_skipped, const Readout<Run>& readout,
           const std::vector<std::string>& incomplete) {
  if (const auto written = WriteStdout(result); !written) return Fails(written.error());
  std::vector<std::string> messages;
  const size_t failed = readout.failures.size();
  if (names_skipped && isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1) {
    if (failed > 0) {
      messages.push_back(fmt::format("incomplete: {} skipped, see above",
                                     FormatCounted(failed, "input was", "inputs were")));
    }
  } else {
    for (const Error& error : readout.failures)
      messages.push_back("incomplete: " + VisibleText(error.message));
  }
  for (const std::string& skipped : readout.run.skipped) {
    const bool is_failure = std::ranges::any_of(
        readout.failures, [&](const Error& error) { return error.message == skipped; });
    if (!names_skipped && !is_failure) messages.push_back("skipped: " + VisibleText(skipped));
  }
  messages.insert(messages.end(), incomplete.begin(), incomplete.end());
  ComplainAll(messages);
  return readout.failures.empty() && incomplete.empty() ? kDone : kIncomplete;
}

// Keeps names in it on one line, whatever they contain.
tl::unexpected<Error> CannotRead(const Error& error) {
  return Fail(error.kind, VisibleText(error.message));
}

Result<int> Summarise(const AnalyzeOptions& options, const TraceChoice& choice,
                      const ScreenOptions& screen, bool show_progress) {
  auto readout = [&] {
    ProgressBar bar(screen.style, show_progress);
    return ReadSummaries(choice.paths, choice.threads, bar);
  }();
  if (!readout) return CannotRead(readout.error());
  return Finish(
      options.json ? SummaryJson(readout->run, TachoVersion()) : SummaryText(readout->run, screen),
      true, *readout, IncompleteReasons(readout->run));
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

// Files of an earlier --csv, recognised by their headings, may be replaced; others are the user's.
Result<void> CheckCsvFolder(const AnalyzeOptions& options) {
  return options.csv_folder ? CheckReplaces(*options.csv_folder, AnalyzeCsv({})) : Result<void>();
}

Result<int> Analyse(const AnalyzeOptions& options, const TraceChoice& choice,
                    const ScreenOptions& screen, bool show_progress) {
  TACHO_ASSIGN_OR_RETURN(const auto reading, ReadOptionsOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  auto readout = [&] {
    ProgressBar bar(screen.style, show_progress);
    return ReadRun(choice, reading, classifier, bar);
  }();
  if (!readout) return CannotRead(readout.error());
  TACHO_RETURN_IF_ERROR(WordWhatIsLeftOut(choice, reading, *readout));
  std::vector<std::string> incomplete = IncompleteReasons(readout->run);
  for (const int64_t rank : choice.ranks) {
    if (std::ranges::none_of(readout->run.traces, [&](const TraceAnalysis& trace) {
          return trace.facts.rank == rank;
        })) {
      incomplete.push_back("incomplete: " + NoSuchRank({rank}));
    }
  }
  // The report comes first, so that a failure to write another file does not lose it.
  const int status =
      Finish(Render(options, readout->run, screen), options.Tables().empty(), *readout, incomplete);
  if (!options.csv_folder) return status;
  const auto files = AnalyzeCsv(readout->run);
  if (const auto safe = CheckCsvFolder(options); !safe) return Fails(safe.error());
  if (const auto written = WriteFiles(*options.csv_folder, files); !written) {
    return Fails(written.error());
  }
  Complain(fmt::format("{} in {}", FormatCounted(files.size(), "CSV file"), *options.csv_folder));
  return status;
}

// What all traces of a run usually lack is said once; lost data is listed for each trace.
template <typename Traces>
std::vector<std::string> NotesThatCount(const Traces& traces) {
  std::vector<std::string> reasons;
  std::map<NoteId, std::vector<std::string>> lacking;  // paths
  for (const auto& trace : traces) {
    for (const Note& note : trace.notes.list()) {
      if (note.id == NoteId::kNoGpuEvents || note.id == NoteId::kNoEngineStep ||
          note.id == NoteId::kNoEvents)
        lacking[note.id].push_back(VisibleText(trace.path));
      if (KindOf(note.id).severity != Severity::kDataLoss) continue;
      reasons.push_back(
          fmt::format("incomplete: {}: {}{}", VisibleText(trace.path), KindOf(note.id).id,
                      note.where.empty() ? "" : " (" + VisibleText(note.where) + ")"));
    }
  }
  for (const auto& [id, paths] : lacking) {
    reasons.push_back(fmt::format(
        "incomplete: {}: {}{}", paths.front(), KindOf(id).id,
        paths.size() == 1 ? ""
                          : fmt::format(", as in {} of {} traces", paths.size(), traces.size())));
  }
  return reasons;
}

}  // namespace

void ComplainAll(const std::vector<std::string>& messages) {
  for (size_t i = 0; i < messages.size() && i < kMostComplaints; ++i) Complain(messages[i]);
  if (messages.size() > kMostComplaints) {
    Complain(fmt::format("and {} more", messages.size() - kMostComplaints));
  }
}

std::vector<std::string> IncompleteReasons(const RunAnalysis& run) {
  std::vector<std::string> reasons = NotesThatCount(run.traces);
  for (const MissingRanks& missing : run.ranks.missing) {
    reasons.push_back(fmt::format("incomplete: {} of world size {} {} missing",
                                  MissingRanksText(missing), missing.world_size,
                                  missing.count == 1 ? "is" : "are"));
  }
  return reasons;
}

std::vector<std::string> IncompleteReasons(const RunSummary& run) {
  return NotesThatCount(run.traces);
}

Result<int> RunAnalyze(const std::vector<std::string>& arguments) {
  AnalyzeOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto parsed, ParseArguments(AnalyzeSpec(options), arguments));
  if (parsed) {
    const auto written = WriteStdout(AnalyzeHelp());
    return written ? kDone : Fails(written.error());
  }
  TACHO_RETURN_IF_ERROR(CheckAnalyzeOptions(options));
  TACHO_ASSIGN_OR_RETURN(const auto color, ParseColor(options.color));
  TACHO_ASSIGN_OR_RETURN(const auto choice, ChoiceOf(options));
  TACHO_RETURN_IF_ERROR(CheckCsvFolder(options));

  ScreenOptions screen;
  screen.style = StyleFor(SurroundingsOf(STDOUT_FILENO), color);
  screen.style.whole_names = options.wide;
  screen.top = static_cast<size_t>(
      options.top.value_or(options.profile_dir ? kDefaultProfileTop : kDefaultTop));
  if (options.top) screen.table_top = screen.top;
  TACHO_ASSIGN_OR_RETURN(
      screen.pick, ParseTablePick(options.sort, options.filter, EmptyTables(options.Tables())));
  screen.command_paths = CommandPaths(options);
  screen.is_file = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
  };
  const Surroundings errors = SurroundingsOf(STDERR_FILENO);
  const bool show_progress = LiveColumns(errors) && !options.no_progress;
  return options.summary ? Summarise(options, choice, screen, show_progress)
                         : Analyse(options, choice, screen, show_progress);
}

}  // namespace tacho
