#include "cli/stats_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/terminal.h"
#include "stats/reports.h"
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

// A table for each report that was asked for, of one file.
struct FileStats {
  std::string path;
  std::vector<Table> tables;  // without rows: there is nothing of it
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
       {{"-r,--report", "NAME,...", "these reports, by their new or old names", &o.reports}}},
      {"as what (default: aligned tables)",
       {{"--csv", "", "as CSV, one table after the other", &o.csv},
        {"--json", "", "as JSON: the rows of each report as objects", &o.json},
        {"--markdown", "", "as GitHub tables", &o.markdown},
        {"-f,--format", "NAME", "the same by the words of nsys: column, table, csv, json",
         &o.format},
        {"--top", "N", "rows of an aligned or GitHub table; the others are summed up (default: 50)",
         &o.top, 1},
        {"-w,--wide", "", "all columns and whole names, lines of any length", &o.wide}}},
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
  if (options.format && options.format != "column" && options.format != "table")
    return MisuseOfStats(fmt::format("--format is column, table, csv or json, not '{}'",
                                     VisibleText(*options.format)));
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

StatsTrace::Needs NeedsOf(const std::vector<const StatsReport*>& reports) {
  StatsTrace::Needs needs;
  for (const StatsReport* const report : reports) needs = needs | report->needs;
  return needs;
}

FileStats MakeStats(const std::string& path, const std::vector<Trace>& traces,
                    const std::vector<const StatsReport*>& reports) {
  const StatsTrace::Needs needs = NeedsOf(reports);
  std::vector<StatsTrace> of;
  of.reserve(traces.size());
  for (const Trace& trace : traces) of.emplace_back(trace, needs);
  FileStats stats{path, {}};
  for (const StatsReport* const report : reports) stats.tables.push_back(report->make(of));
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

// One table for each report; of several files they begin with the name of the file.
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
                   const std::vector<const StatsReport*>& reports) {
  JsonWriter json;
  json.BeginObject();
  json.Fields("schema", 1, "tacho", TachoVersion());
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
  json.End();
  return std::move(json).Finish();
}

Result<Readout<TracesNoted>> ReadStats(const StatsOptions& options,
                                       const std::vector<const StatsReport*>& reports,
                                       std::map<std::string, FileStats>& files) {
  TraceChoice choice{.paths = options.traces.paths};
  choice.threads = static_cast<size_t>(options.threads.value_or(0));
  std::mutex mutex;
  const StatsTrace::Needs needs = NeedsOf(reports);
  ProgressBar bar(StyleFor(SurroundingsOf(STDERR_FILENO), ColorChoice::kAuto),
                  ShowsProgress(options));
  return ReadFiles(
      choice,
      [&](const TraceSource& file, const std::vector<Trace>& traces) {
        FileStats stats = MakeStats(file.Display(), traces, reports);
        const std::lock_guard lock(mutex);
        files.emplace(stats.path, std::move(stats));
      },
      bar,
      ReaderOfParts({.gpu = needs.gpu,
                     .gpu_details = needs.gpu_details,
                     .calls = needs.calls,
                     .ranges = needs.ranges,
                     .os_calls = needs.os_calls,
                     .rest = false}));
}

}  // namespace

std::string StatsHelp() {
  StatsOptions options;
  return HelpText(StatsSpec(options));
}

Result<int> RunStats(const std::vector<std::string>& arguments) {
  StatsOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto help, ParseArguments(StatsSpec(options), arguments));
  if (help) {
    const auto written = WriteStdout(StatsHelp());
    return written ? kDone : Fails(written.error());
  }
  if (options.traces.paths.empty()) return MisuseOfStats("no file given");
  TACHO_ASSIGN_OR_RETURN(const StatsForm form, FormOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto reports, ReportsOf(options));
  std::map<std::string, FileStats> by_path;
  const auto readout = ReadStats(options, reports, by_path);
  if (!readout) return CannotRead(readout.error());
  std::vector<FileStats> files;
  for (auto& [path, stats] : by_path) files.push_back(std::move(stats));
  std::vector<std::string> incomplete = IncompleteReasons(readout->run);
  const bool named = !options.reports.empty();
  for (const FileStats& file : files) {
    const std::string without = Without(file, reports);
    if (!without.empty() && (named || form == StatsForm::kCsv))
      Complain(fmt::format("{}: nothing for {}", file.path, without));
    if (named && !without.empty())
      incomplete.emplace_back("incomplete: a report has nothing to show");
  }
  TextStyle style = StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto);
  style.whole_names = options.wide;
  const auto top = static_cast<size_t>(options.top.value_or(kDefaultTop));
  std::string text;
  if (form == StatsForm::kText) text = RenderText(DocumentOf(files, reports, top), style);
  if (form == StatsForm::kMarkdown) text = RenderMarkdown(DocumentOf(files, reports, top));
  if (form == StatsForm::kJson) text = JsonOf(files, reports);
  if (form == StatsForm::kCsv && !files.empty()) text = CsvOf(std::move(files), reports.size());
  TACHO_RETURN_IF_ERROR(WriteStdout(text));
  return FinishReading(false, readout->failures, readout->run.skipped, incomplete);
}

}  // namespace tacho
