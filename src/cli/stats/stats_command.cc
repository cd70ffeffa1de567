#include "cli/stats/stats_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/options/parse.h"
#include "cli/screen/output.h"
#include "cli/screen/progress_bar.h"
#include "cli/screen/reading.h"
#include "cli/screen/terminal.h"
#include "stats/reports.h"
#include "stats/trace_times.h"
#include "text/document.h"
#include "text/json_writer.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr int64_t kDefaultTop = 50;

enum class StatsForm : uint8_t { kText, kMarkdown, kCsv, kJson };

struct StatsOptions : ReadingArguments {
  StatsOptions() { command = "stats"; }
  std::vector<std::string> reports;
  std::optional<std::string> format;
  bool csv = false, json = false, markdown = false, wide = false;
  std::optional<int64_t> top;
};

// The tables of one file, one for each requested report.
struct FileStats {
  std::string path;
  std::vector<Table> tables;  // a table without rows: the file has nothing for it
};

std::string ReportSentence() {
  std::string out = "Reports: ";
  const auto before = OldStatsNames();
  for (const StatsReport& report : StatsReports()) {
    out += report.name;
    for (const auto& [old, now] : before) {
      if (now == report.name) out += fmt::format(" (once {})", old);
    }
    out += ", ";
  }
  out.resize(out.size() - 2);
  return out + ". Without --report: the first six.";
}

CommandSpec StatsSpec(StatsOptions& o) {
  CommandSpec spec;
  spec.name = "stats";
  spec.summary = "the reports of nsys stats";
  spec.usage = "FILE... [options]";
  spec.description =
      "The tables of nsys stats with its columns, names, units and formulas, of each FILE: an "
      "export "
      "or a report of Nsight Systems, or a trace of torch's profiler. " +
      ReportSentence();
  spec.positionals = &o.traces.paths;
  spec.groups = {
      {"what to print",
       {OptionRow{"-r,--report", "NAME,...", "these reports, by their new or old names", &o.reports}
            .OneOf(NamesOf(StatsReports()))}},
      {"as what (default: aligned tables)",
       {{"--csv", "", "as CSV, one table after the other", &o.csv},
        {"--json", "", "as JSON: the rows of each report as objects", &o.json},
        {"--markdown", "", "as GitHub tables", &o.markdown},
        OptionRow{"-f,--format", "NAME", "the same by the words of nsys: column, table, csv, json",
                  &o.format}
            .OneOf({"column", "table", "csv", "json"}),
        {"--top", "N", "rows of an aligned or GitHub table; the others are summed up (default: 50)",
         &o.top, 1},
        {"-w,--wide", "", "all columns and whole names, lines of any length", &o.wide},
        o.traces.KeepSecrets()}},
      {"how", o.How()},
  };
  spec.examples = {
      {"tacho stats run.sqlite", "the reports that nsys stats prints"},
      {"tacho stats run.nsys-rep --report cuda_gpu_kern_sum --csv", "one, for a spreadsheet"},
      {"tacho stats rank0.pt.trace.json.gz -r cuda_api_sum,cuda_kern_exec_sum",
       "the same of a trace of torch's profiler"},
  };
  return spec;
}

tl::unexpected<Error> MisuseOfStats(const std::string& problem) {
  return Fail(ErrorKind::kUsage, problem + "; see 'tacho stats --help'");
}

Result<StatsForm> FormOf(const StatsOptions& options) {
  if (int{options.csv} + int{options.json} + int{options.markdown} +
          int{options.format.has_value()} >
      1)
    return MisuseOfStats("--csv, --json, --markdown and --format do not go together");
  if (options.csv || options.format == "csv") return StatsForm::kCsv;
  if (options.json || options.format == "json") return StatsForm::kJson;
  if (options.markdown) return StatsForm::kMarkdown;
  return StatsForm::kText;
}

Result<std::vector<const StatsReport*>> ReportsOf(const StatsOptions& options) {
  if (options.reports.empty()) return DefaultStatsReports();
  std::vector<const StatsReport*> reports;
  for (const std::string& name : options.reports) {
    TACHO_ASSIGN_OR_RETURN(const StatsReport* const report, FindStatsReport(name));
    if (std::ranges::find(reports, report) == reports.end()) reports.push_back(report);
  }
  return reports;
}

// Which parts of a trace the reports need: `rows` with all columns, `times` only by their times.
struct ReportNeeds {
  StatsTrace::Needs rows, times;
};
ReportNeeds NeedsOf(const std::vector<const StatsReport*>& reports) {
  ReportNeeds needs;
  for (const StatsReport* const report : reports) {
    StatsTrace::Needs& of = report->of_traces != nullptr ? needs.rows : needs.times;
    of = of | report->needs;
  }
  return needs;
}

// Whether all rows of the file were read into `trace`. False for a whole nsys export: tables that
// reports need only by their times (ReportNeeds::times) were read without their rows.
bool HasRowsOfAll(const TraceSource& file, const Trace& trace) {
  return trace.header.format != TraceFormat::kNsys || !file.part.empty();
}

FileStats MakeStats(const TraceSource& file, const std::vector<Trace>& traces, WorkTimes times,
                    const std::vector<const StatsReport*>& reports, size_t threads, size_t most) {
  const ReportNeeds needs = NeedsOf(reports);
  std::vector<StatsTrace> of;
  of.reserve(traces.size());
  for (const Trace& trace : traces) {
    const StatsTrace& stats = of.emplace_back(trace, needs.rows);
    const StatsTrace::Needs& wanted = needs.times;
    const bool all = HasRowsOfAll(file, trace);
    AddTimesOf(stats,
               {.gpu = wanted.gpu && (all || needs.rows.gpu),
                .gpu_details = wanted.gpu_details,
                .calls = wanted.calls && (all || needs.rows.calls),
                .os_calls = wanted.os_calls && (all || needs.rows.os_calls)},
               times);
  }
  FileStats stats{file.Display(), {}};
  for (const StatsReport* const report : reports) {
    stats.tables.push_back(report->of_traces != nullptr ? report->of_traces(of, most)
                                                        : report->of_times(times, threads));
  }
  return stats;
}

std::string Without(const FileStats& file, const std::vector<const StatsReport*>& reports) {
  std::string out;
  for (size_t i = 0; i < reports.size(); ++i) {
    if (file.tables[i].rows.empty())
      out += fmt::format("{}{} (no {})", out.empty() ? "" : ", ", reports[i]->name, reports[i]->of);
  }
  return out;
}

Document DocumentOf(const std::vector<FileStats>& files,
                    const std::vector<const StatsReport*>& reports, size_t top) {
  Document document;
  for (const FileStats& file : files) {
    document.Add(Subject{"file", file.path});
    for (size_t i = 0; i < reports.size(); ++i) {
      if (file.tables[i].rows.empty()) continue;
      document.AddForScreen(Gap{});
      document.Add(Heading{Heading::Level::kName,
                           fmt::format("{} ({})", reports[i]->title, reports[i]->name)});
      TitledTable table{file.tables[i]};
      table.screen_rows = top;
      table.markdown_rows = top;
      document.Add(std::move(table));
    }
    document.AddForScreen(Gap{});
    if (const std::string without = Without(file, reports); !without.empty())
      document.Add(Paragraph{"nothing for " + without, Paint::kDim});
  }
  return document;
}

// One table for each report. With several files, the rows begin with the name of the file.
std::string CsvOf(std::vector<FileStats> files, size_t reports) {
  std::string out;
  for (size_t i = 0; i < reports; ++i) {
    Table all = files.front().tables[i];
    all.rows.clear();
    if (files.size() > 1) all.columns.insert(all.columns.begin(), TableColumn{"File", "File"});
    for (FileStats& file : files) {
      for (TableRow& row : file.tables[i].rows) {
        if (files.size() > 1) row.cells.insert(row.cells.begin(), file.path);
        all.rows.push_back(std::move(row));
      }
    }
    if (!all.rows.empty()) out += (out.empty() ? "" : "\n") + RenderCsv(all);
  }
  return out;
}

std::string JsonOf(const std::vector<FileStats>& files,
                   const std::vector<const StatsReport*>& reports,
                   const std::vector<std::string>& incomplete) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, TachoVersion());
  json.BeginArray("files");
  for (const FileStats& file : files) {
    json.BeginObject();
    json.Field("path", file.path);
    json.BeginArray("reports");
    for (size_t i = 0; i < reports.size(); ++i) {
      json.BeginObject();
      json.Fields("name", reports[i]->name, "title", reports[i]->title);
      WriteRowsJson(json, "rows", file.tables[i]);
      json.End();
    }
    json.End();
    json.End();
  }
  json.End();
  if (!incomplete.empty()) json.List("incomplete", incomplete);
  json.End();
  return std::move(json).Finish();
}

Result<Readout<RunAnalysis>> ReadStats(const StatsOptions& options,
                                       const std::vector<const StatsReport*>& reports, size_t most,
                                       std::map<std::string, FileStats>& files) {
  TraceChoice choice{.paths = options.traces.paths};
  choice.keep_secrets = options.traces.keep_secrets;
  choice.threads = static_cast<size_t>(options.threads.value_or(0));
  std::mutex mutex;
  const auto [rows, wanted] = NeedsOf(reports);
  std::map<std::string, WorkTimes> timed;  // times read without rows, by path
  ProgressBar bar(StyleFor(SurroundingsOf(STDERR_FILENO), ColorChoice::kAuto),
                  ShowsProgress(options));
  return ReadFiles(
      choice,
      [&](const TraceSource& file, const std::vector<Trace>& traces) {
        const std::string path = file.Display();
        WorkTimes times;
        {
          const std::lock_guard lock(mutex);
          times = std::move(timed[path]);
          timed.erase(path);
        }
        FileStats stats = MakeStats(file, traces, std::move(times), reports, choice.threads, most);
        const std::lock_guard lock(mutex);
        files.emplace(stats.path, std::move(stats));
      },
      bar,
      ReaderOfParts({.gpu = rows.gpu,
                     .gpu_details = rows.gpu_details || wanted.gpu_details,
                     .calls = rows.calls,
                     .ranges = rows.ranges,
                     .os_calls = rows.os_calls,
                     .rest = false,
                     .unended = false},
                    {.gpu = wanted.gpu && !rows.gpu,
                     .gpu_details = wanted.gpu_details,
                     .calls = wanted.calls && !rows.calls,
                     .os_calls = wanted.os_calls && !rows.os_calls,
                     .take =
                         [&](const TraceSource& file, WorkTimes times) {
                           const std::lock_guard lock(mutex);
                           timed[file.Display()] = std::move(times);
                         }},
                    choice.threads));
}

}  // namespace

std::vector<CommandSpec> StatsSpecs() {
  StatsOptions options;
  return {StatsSpec(options)};
}

Result<int> RunStats(const std::vector<std::string>& arguments) {
  StatsOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto help, ParseArguments(StatsSpec(options), arguments));
  if (help) {
    const auto written = WriteStdout(HelpText(StatsSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  if (options.traces.paths.empty()) return MisuseOfStats("no file given");
  TACHO_ASSIGN_OR_RETURN(const StatsForm form, FormOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto reports, ReportsOf(options));
  std::map<std::string, FileStats> by_path;
  const auto top = static_cast<size_t>(options.top.value_or(kDefaultTop));
  const bool is_whole = form == StatsForm::kCsv || form == StatsForm::kJson;
  const auto readout = ReadStats(options, reports, is_whole ? SIZE_MAX - 1 : top, by_path);
  if (!readout) return CannotRead(readout.error());
  std::vector<FileStats> files;
  for (auto& [path, stats] : by_path) files.push_back(std::move(stats));
  ComplainAll(NoticesOf(readout->run));
  std::vector<std::string> incomplete = IncompleteReasons(readout->run);
  const bool named = !options.reports.empty();
  for (const FileStats& file : files) {
    for (const Table& table : file.tables) {
      if (!table.lacks.empty())
        incomplete.push_back(
            fmt::format("incomplete: {}: {}: {}", VisibleText(file.path), table.name, table.lacks));
    }
    const std::string without = Without(file, reports);
    if (!without.empty() && (named || form == StatsForm::kCsv))
      Complain(fmt::format("{}: nothing for {}", file.path, without));
    if (named && !without.empty())
      incomplete.emplace_back("incomplete: a report has nothing to show");
  }
  TextStyle style = StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto);
  style.whole_names = options.wide;
  style.wide_option = "--wide";
  std::string text;
  if (form == StatsForm::kText) text = RenderText(DocumentOf(files, reports, top), style);
  if (form == StatsForm::kMarkdown) text = RenderMarkdown(DocumentOf(files, reports, top));
  if (form == StatsForm::kJson) text = JsonOf(files, reports, incomplete);
  if (form == StatsForm::kCsv && !files.empty()) text = CsvOf(std::move(files), reports.size());
  TACHO_RETURN_IF_ERROR(WriteStdout(text));
  SayBlanked(readout->Blanked());
  return FinishReading(false, readout->failures, readout->run.skipped, readout->run.captures,
                       incomplete);
}

}  // namespace tacho
