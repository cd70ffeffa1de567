#include "cli/export/export_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/exit_status.h"
#include "cli/export/export_traces.h"
#include "cli/options/output_file.h"
#include "cli/options/window_argument.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/progress_bar.h"
#include "export/export_format.h"
#include "export/folded_stacks.h"
#include "export/gpu_csv.h"
#include "export/kineto_json.h"
#include "export/perfetto_trace.h"
#include "export/speedscope.h"
#include "export/sqlite_file.h"
#include "export/torch_stacks.h"
#include "io/block_stream.h"
#include "io/gzip_sink.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr int kGzipLevel = 6;

tl::unexpected<Error> RefuseExport(std::string problem) {
  return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho export --help'");
}

struct ExportPlan {
  ExportFormat format = ExportFormat::kKineto;
  std::string output;  // "-": standard output
  bool gzip = false, replace = false, shows_progress = false;
  StackTime time = StackTime::kCpu;
  ExportPart part;
};

// Whether a file in `format` gives no sign of the program that wrote it.
bool IsAnyones(ExportFormat format) {
  return format == ExportFormat::kFolded || format == ExportFormat::kStacks;
}

Result<ExportPlan> PlanOf(const ExportOptions& options) {
  if (options.traces.paths.empty()) return RefuseExport("no trace given");
  if (!options.output || options.output->empty())
    return RefuseExport("-o FILE says where the export goes");
  ExportPlan plan;
  plan.output = *options.output;
  plan.gzip = IsGzipName(plan.output);
  auto format = FormatOfFile(plan.output);
  if (options.format) format = FormatOfName(*options.format);
  if (!format)
    return RefuseExport(fmt::format("the name {} does not say which format: give --format ({})",
                                    VisibleText(plan.output), fmt::join(FormatNames(), ", ")));
  plan.format = *format;
  if (plan.format == ExportFormat::kSqlite && (plan.gzip || plan.output == "-"))
    return RefuseExport("a SQLite database goes into a file, and is not compressed");
  if (options.time) {
    if (!IsAnyones(plan.format)) return RefuseExport("--time goes with folded and stacks");
    if (*options.time == "gpu") plan.time = StackTime::kGpu;
  }
  if (options.replace && !IsAnyones(plan.format))
    return RefuseExport("--replace goes with folded and stacks");
  plan.replace = options.replace;
  plan.shows_progress = ShowsProgress(options);
  if (options.window && options.step) return RefuseExport("--window and --step do not go together");
  if (options.window) {
    TACHO_ASSIGN_OR_RETURN(plan.part.window, WithContext(ParseWindow(*options.window), "--window"));
  }
  plan.part.step = options.step;
  plan.part.gpu_alone = plan.format == ExportFormat::kCsv;
  return plan;
}

// Fails if the output is an existing file that is not an earlier export in the same format. For a
// format whose files do not tell who wrote them (stacks), replacing a file also needs --replace.
Result<void> CheckReplaced(const ExportPlan& plan) {
  if (plan.output == "-") return {};
  std::error_code error;
  const std::filesystem::path path(plan.output);
  if (std::filesystem::is_regular_file(path, error) &&
      std::filesystem::file_size(path, error) > 0) {
    TACHO_ASSIGN_OR_RETURN(const auto stream, OpenStream(plan.output, StreamThreads::kInline));
    const Block block = stream->Next();
    if (!LooksExported(plan.format, {block.data, std::min(block.size, kExportSniff)}))
      return Fail(
          ErrorKind::kOutput,
          fmt::format("{} is there and is not an earlier export of this format: move it away, "
                      "or give another name",
                      VisibleText(plan.output)));
    if (IsAnyones(plan.format) && !plan.replace)
      return Fail(ErrorKind::kUsage,
                  VisibleText(plan.output) +
                      " is there, and stacks do not say who wrote them: --replace replaces it");
  }
  return CheckWritable(plan.output);
}

// An earlier export may be replaced, but not if it is among the traces that this export reads.
Result<void> CheckNotRead(const ExportPlan& plan, const ViewedRun& run) {
  for (const RankEntry& entry : run.entries()) {
    std::error_code error;
    if (std::filesystem::equivalent(entry.path, plan.output, error))
      return Fail(ErrorKind::kUsage, VisibleText(plan.output) +
                                         " is one of the traces that are exported: give another "
                                         "name");
  }
  return {};
}

// Shows "writing run.db, 120 MB 3.2 s", with the size of the unfinished file beside the output.
// nullptr: no line is shown.
std::unique_ptr<RedrawnLine> ShowWriting(const ExportPlan& plan, const OutputFile& file) {
  if (!plan.shows_progress || file.name_beside().empty()) return nullptr;
  constexpr size_t kNameWidth = 40;
  const std::string name = VisibleText(std::filesystem::path(plan.output).filename().string());
  return std::make_unique<RedrawnLine>([what = FitText(name, kNameWidth, false),
                                        path = file.name_beside()](double seconds) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    return fmt::format("writing {}, {}  {:.1f} s", what, FormatBytes(error ? 0 : size), seconds);
  });
}

// Lets `write` write to the output, compressed if the plan says so, and then renames the finished
// file to its path.
template <typename Write>
Result<void> WriteOutput(const ExportPlan& plan, const Write& write) {
  const InterruptScope interrupt("removing the unfinished export");
  TACHO_ASSIGN_OR_RETURN(const auto file, OutputFile::Open(plan.output, interrupt.token()));
  const auto progress = ShowWriting(plan, *file);
  if (!plan.gzip) {
    TACHO_RETURN_IF_ERROR(write(*file));
  } else {
    GzipSink gzip(*file, kGzipLevel);
    TACHO_RETURN_IF_ERROR(write(gzip));
    gzip.Finish();
  }
  return file->Finish();
}

// Where the export is: "the export is in s.json (1.2 MB): open it at https://ui.perfetto.dev".
std::string WhereItIs(const ExportPlan& plan) {
  std::string out = "the export is in " + VisibleText(plan.output);
  std::error_code error;
  if (std::filesystem::is_regular_file(plan.output, error))
    out += fmt::format(" ({})", FormatBytes(std::filesystem::file_size(plan.output, error)));
  if (plan.format == ExportFormat::kKineto || plan.format == ExportFormat::kPerfetto)
    out += ": open it at https://ui.perfetto.dev";
  if (plan.format == ExportFormat::kSpeedscope) out += ": open it at https://www.speedscope.app";
  return out;
}

// Names what was left out, and returns the exit status.
int FinishExport(const ExportPlan& plan, const Readout<RunAnalysis>& readout,
                 const std::vector<std::string>& without, std::vector<std::string> incomplete) {
  if (plan.output != "-") Complain(WhereItIs(plan));
  SayBlanked(readout.Blanked());
  for (const std::string& why : without) incomplete.push_back("left out: " + why);
  return FinishReading(false, readout.failures, readout.run.skipped, readout.run.captures,
                       incomplete);
}

Result<int> ExportTimeline(const ExportOptions& options, const ExportPlan& plan,
                           const TraceChoice& choice, const Classifier& classifier) {
  TACHO_ASSIGN_OR_RETURN(const auto read, ReadViewedExport(options, choice, classifier, plan.part));
  TACHO_RETURN_IF_ERROR(CheckNotRead(plan, *read.run));
  TACHO_RETURN_IF_ERROR(WriteOutput(plan, [&](ByteSink& to) -> Result<void> {
    if (plan.format == ExportFormat::kPerfetto)
      WritePerfetto(read.ranks, to);
    else if (plan.format == ExportFormat::kSpeedscope)
      WriteSpeedscope(read.ranks, to);
    else
      WriteKinetoJson(read.ranks, to);
    return {};
  }));
  return FinishExport(plan, read.readout, read.without,
                      IncompleteReasons(read.readout.run, choice));
}

Result<void> WriteDatabase(const ExportPlan& plan, const QueriedExport& read) {
  const InterruptScope interrupt("removing the unfinished export");
  TACHO_ASSIGN_OR_RETURN(const auto file, OutputFile::Open(plan.output, interrupt.token()));
  if (file->name_beside().empty())
    return RefuseExport(VisibleText(plan.output) + " is not a file: a SQLite database needs one");
  const auto progress = ShowWriting(plan, *file);
  TACHO_RETURN_IF_ERROR(
      WithContext(WriteSqliteFile(*read.read.run, read.windows, file->name_beside(),
                                  [&] { return interrupt.token().stop_requested(); }),
                  "cannot write " + VisibleText(plan.output)));
  return file->Finish();
}

// Writes a line for each stack. kUsage: there is no stack; the message says what the recording
// lacks.
Result<void> WriteStacks(const ExportPlan& plan, const QueriedRun& run,
                         const std::vector<Interval>& windows, ByteSink& to) {
  const bool torch = plan.format == ExportFormat::kStacks;
  const bool python = std::ranges::any_of(
      run.traces, [](const auto& trace) { return trace->trace().python_frames.size() > 0; });
  if (torch && !python)
    return Fail(
        ErrorKind::kUsage,
        "no Python stacks were recorded: record with them (SGLang, vLLM from 0.33 on: tacho "
        "record --with-stack; older vLLM: torch_profiler_with_stack in its --profiler-config; "
        "torch.profiler: with_stack=True), or export --format folded, which needs none");
  const size_t lines = torch ? WriteTorchStacks(run, windows, plan.time, to)
                             : WriteFoldedStacks(run, windows, plan.time, to);
  if (lines > 0) return {};
  return Fail(ErrorKind::kUsage, plan.time == StackTime::kGpu
                                     ? "no GPU work to count: --time cpu counts that of the host"
                                     : "nothing of a thread was recorded");
}

Result<int> ExportTables(const ExportOptions& options, const ExportPlan& plan,
                         const TraceChoice& choice, const Classifier& classifier) {
  TACHO_ASSIGN_OR_RETURN(const auto read,
                         ReadQueriedExport(options, choice, classifier, plan.part));
  const QueriedRun& run = *read.read.run;
  if (plan.format == ExportFormat::kSqlite) {
    TACHO_RETURN_IF_ERROR(WriteDatabase(plan, read));
  } else {
    TACHO_RETURN_IF_ERROR(WriteOutput(plan, [&](ByteSink& to) -> Result<void> {
      if (plan.format != ExportFormat::kCsv) return WriteStacks(plan, run, read.windows, to);
      WriteGpuCsv(run, read.windows, to);
      return {};
    }));
  }
  return FinishExport(plan, read.read.rest, read.without, IncompleteReasons(run.analysis, choice));
}

}  // namespace

CommandSpec ExportSpec(ExportOptions& o) {
  CommandSpec spec;
  spec.name = "export";
  spec.summary = "a trace, or a part of a run, in the formats of other tools";
  spec.usage = "PATH... -o FILE [options]";
  spec.description =
      "PATH is what tacho analyze takes. The end of FILE's name says the format: .json is Chrome's "
      "and Kineto's JSON, which Perfetto opens and tacho reads again; .pftrace is Perfetto's own "
      "format; .folded and .speedscope.json are for flame graphs, and .stacks is what PyTorch's "
      "export_stacks writes; .csv has a line for each kernel, copy and memset; .sqlite or .db is a "
      "database with the tables of tacho query. A further .gz compresses. docs/export.md describes "
      "each.";
  spec.positionals = &o.traces.paths;
  OptionGroup look_at = o.WhatToLookAt();
  std::erase_if(look_at.options, [](const OptionRow& row) { return row.names == "--device"; });
  look_at.options.push_back(
      {"--step", "N",
       "only the Nth step of each trace, until the GPU work that it launched is over", &o.step, 1});
  spec.groups = {
      {"the export",
       {{"-o", "FILE",
         "where it goes, in folders that are made if they are missing; - is standard output. An "
         "earlier export of that format is replaced, any other file is left alone",
         &o.output},
        {"--replace", "",
         "for folded and stacks, whose files do not show who wrote them: replace a file of that "
         "format",
         &o.replace},
        OptionRow{"--format", "F",
                  fmt::format("{}: where the name does not say it", fmt::join(FormatNames(), ", ")),
                  &o.format}
            .OneOf(FormatNames()),
        OptionRow{"--time", "T",
                  "what stacks count: cpu (the default: self time of the host) or gpu (of what was "
                  "launched "
                  "there)",
                  &o.time}
            .OneOf({"cpu", "gpu"}),
        o.traces.KeepSecrets()}},
      look_at,
      {"how", o.How()},
  };
  spec.examples = {
      {"tacho export vllm_profile/ --step 4 -o step.json.gz",
       "one step of all ranks, small enough for every viewer"},
      {"tacho export rank0.pt.trace.json.gz --window 100ms:150ms -o part.json", "50 ms of a trace"},
      {"tacho export vllm_profile/ -o run.pftrace.gz", "all of it for ui.perfetto.dev"},
      {"tacho export rank0.pt.trace.json.gz -o cpu.folded && flamegraph.pl cpu.folded > cpu.svg",
       "a flame graph"},
      {"tacho export vllm_profile/ -o run.db", "a database, for sqlite3 or pandas"},
      {"tacho export rank0.pt.trace.json.gz -o - --format csv | head",
       "every kernel, with its launch, operator and step"},
  };
  return spec;
}

std::vector<CommandSpec> ExportSpecs() {
  ExportOptions options;
  return {ExportSpec(options)};
}

Result<int> RunExport(const std::vector<std::string>& arguments) {
  ExportOptions options;
  TACHO_ASSIGN_OR_RETURN(const auto help, ParseArguments(ExportSpec(options), arguments));
  if (help) {
    const auto written = WriteStdout(HelpText(ExportSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  TACHO_ASSIGN_OR_RETURN(const ExportPlan plan, PlanOf(options));
  TACHO_RETURN_IF_ERROR(CheckReplaced(plan));
  TACHO_ASSIGN_OR_RETURN(const auto choice, ChoiceOf(options));
  TACHO_ASSIGN_OR_RETURN(const auto classifier, MakeClassifier(options));
  if (plan.format == ExportFormat::kKineto || plan.format == ExportFormat::kPerfetto ||
      plan.format == ExportFormat::kSpeedscope)
    return ExportTimeline(options, plan, choice, classifier);
  return ExportTables(options, plan, choice, classifier);
}

}  // namespace tacho
