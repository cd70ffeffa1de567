#include "cli/query/query_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/query/query_input.h"
#include "cli/query/query_shell.h"
#include "cli/screen/output.h"
#include "cli/screen/terminal.h"
#include "io/read_whole.h"
#include "io/sqlite.h"
#include "query/query_table.h"
#include "query/traces_of_query.h"

namespace tacho {
namespace {

constexpr size_t kMostSql = 1'000'000;

tl::unexpected<Error> Misuse(std::string problem) {
  return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho query --help'");
}

// Removes the SQL from the positionals and returns it. nullopt if it comes from standard input.
std::optional<std::string> TakeSql(std::vector<std::string>& positionals) {
  if (positionals.size() < 2 || !IsQueryText(positionals.back())) return std::nullopt;
  std::string sql = std::move(positionals.back());
  positionals.pop_back();
  return sql;
}

Result<QueryOutput> OutputOf(const QueryOptions& options) {
  if (int{options.csv} + int{options.json} + int{options.markdown} > 1)
    return Misuse("--csv, --json and --markdown do not go together");
  QueryOutput output;
  output.form = options.csv        ? QueryForm::kCsv
                : options.json     ? QueryForm::kJson
                : options.markdown ? QueryForm::kMarkdown
                                   : QueryForm::kText;
  const Surroundings surroundings = SurroundingsOf(STDOUT_FILENO);
  output.style = StyleFor(surroundings, ColorChoice::kAuto);
  output.fits = surroundings.is_tty;
  output.style.whole_names = options.wide;
  output.style.wide_option = "--wide";
  if (options.top) output.top = static_cast<size_t>(*options.top);
  output.version = TachoVersion();
  return output;
}

std::string TableSentence() {
  std::string out = "Tables: ";
  for (const QueryTable& table : QueryTables())
    out += fmt::format("{} ({}), ", table.name, table.says);
  out.resize(out.size() - 2);
  return out + ". '.schema' in place of SQL lists their columns.";
}

}  // namespace

CommandSpec QuerySpec(QueryOptions& o) {
  CommandSpec spec;
  spec.name = "query";
  spec.summary = "SQL over a trace or a run";
  spec.usage = "PATH... ['SQL'] [options]";
  spec.description =
      "PATH is what tacho analyze takes. SQL is SQLite's, over the traces as they are in memory; "
      "it "
      "only reads. Without SQL a terminal gets a shell, and a pipe is read to its end. " +
      TableSentence();
  spec.positionals = &o.traces.paths;
  OptionGroup look_at = o.WhatToLookAt();
  std::erase_if(look_at.options, [](const OptionRow& row) {
    return row.names == "--device" || row.names == "--window";
  });
  const std::vector<OptionRow> how = o.How();
  spec.groups = {
      {"what to print (default: an aligned table)",
       {{"--csv", "", "as CSV", &o.csv},
        {"--json", "", "as JSON: columns, and an object for each row", &o.json},
        {"--markdown", "", "as a GitHub table", &o.markdown},
        {"--top", "N", "rows of a table, aligned or in Markdown (default: 1000)", &o.top, 1},
        {"-w,--wide", "", "texts in full, lines of any length", &o.wide},
        o.traces.KeepSecrets()}},
      look_at,
      {"how", how},
  };
  spec.examples = {
      {"tacho query trace.json 'SELECT short_name, count(*) AS n, sum(dur_ns) AS ns FROM kernels "
       "GROUP BY name ORDER BY ns DESC LIMIT 5'",
       "the kernels that take longest"},
      {"tacho query vllm_profile/ 'SELECT worker, rank, cause, sum(dur_ns) AS ns FROM gaps "
       "GROUP BY worker, rank, cause' --csv",
       "idle time by rank and cause, for a spreadsheet; engines that were recorded together have "
       "the same ranks"},
      {"tacho query trace.json .schema", "the tables and their columns"},
      {"tacho query trace.json < questions.sql", "SQL from a file"},
      {"tacho query trace.json", "a shell, in a terminal"},
  };
  return spec;
}

std::vector<CommandSpec> QuerySpecs() {
  QueryOptions options;
  return {QuerySpec(options)};
}

Result<QueriedReadout> ReadQueried(const ReadingArguments& arguments, const TraceChoice& choice,
                                   const Classifier& classifier, std::string kept_for) {
  TracesOfQuery keeper(classifier);
  const ReadOptions reading{.keeper = &keeper, .kept_for = std::move(kept_for)};
  TACHO_ASSIGN_OR_RETURN(auto readout, ReadChosen(arguments, choice, reading, classifier));
  RunAnalysis analysis = std::exchange(readout.run, {});
  readout.run.skipped = analysis.skipped;
  readout.run.captures = analysis.captures;
  return QueriedReadout{QueriedRun::Of(std::move(analysis), keeper.Take()), std::move(readout)};
}

Result<int> RunQuery(const std::vector<std::string>& arguments) {
  QueryOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto help, ParseArguments(QuerySpec(options), arguments));
  if (help) {
    const auto written = WriteStdout(HelpText(QuerySpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  std::optional<std::string> sql = TakeSql(options.traces.paths);
  const auto& paths = options.traces.paths;
  if (paths.empty()) return Misuse("no trace given");
  if (paths.size() == 1 && IsQueryText(paths.front()) &&
      (paths.front().starts_with('.') ||
       paths.front().find_first_of(" \t\n(;") != std::string::npos))
    return Misuse("no trace given: its path stands in front of the SQL");
  if (paths.size() > 1 && IsQueryText(paths.front()) &&
      (BeginsStatement(paths.front()) || !DotOf(paths.front()).empty()))
    return Misuse("the trace comes first, and after it the SQL");
  if (paths.size() > 1 && BeginsStatement(paths.back()))
    return Misuse("several statements go into one argument: 'SELECT ...; SELECT ...'");
  TACHO_ASSIGN_OR_RETURN(QueryOutput output, OutputOf(options));
  bool began = false;
  output.write = [&began](std::string_view text) {
    began = true;
    return WriteToReader(text);
  };
  const bool shell = !sql && isatty(STDIN_FILENO) == 1;
  if (!sql && std::ranges::count(options.traces.paths, "-") > 0)
    return Misuse("- is the trace, so the SQL is an argument");
  TACHO_ASSIGN_OR_RETURN(const auto choice, ChoiceOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  if (!sql && !shell) {
    auto text = ReadWholeFile("-", kMostSql);
    std::error_code ignored;
    if (!text && !std::filesystem::exists(paths.front(), ignored))  // the path is wrong
      TACHO_RETURN_IF_ERROR(ReadQueried(options, choice, classifier));
    if (!text)
      return Misuse("no SQL: give it as the last argument or on standard input, at most 1 MB");
    sql = *std::move(text);
  }
  if (sql && sql->find_first_not_of(" \t\r\n;") == std::string::npos)
    return Misuse("the SQL is empty");
  TACHO_ASSIGN_OR_RETURN(auto readout, ReadQueried(options, choice, classifier));
  ComplainAll(NoticesOf(readout.run->analysis));
  sqlite3_hard_heap_limit64(QuerySession::kMostMemory);
  TACHO_ASSIGN_OR_RETURN(auto session,
                         QuerySession::Open(*readout.run, [] { return query_interrupted.load(); }));
  QueryInput input(session, output);
  if (shell) {
    RunQueryShell(input);
  } else {
    const auto ran = input.Run(*sql);
    // Part of the result is already printed: a JSON error must not follow it.
    if (!ran && began) return Fails(ran.error());
    TACHO_RETURN_IF_ERROR(ran);
  }
  SayBlanked(readout.rest.Blanked());
  return FinishReading(false, readout.rest.failures, readout.rest.run.skipped,
                       readout.rest.run.captures, IncompleteReasons(readout.run->analysis, choice));
}

}  // namespace tacho
