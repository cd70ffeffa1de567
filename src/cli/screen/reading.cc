#include "cli/screen/reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "cli/exit_status.h"
#include "cli/options/choice_words.h"
#include "cli/options/window_argument.h"
#include "cli/screen/output.h"
#include "cli/screen/progress_bar.h"
#include "cli/screen/read_on_cluster.h"
#include "cli/screen/terminal.h"
#include "io/read_whole.h"
#include "report/documents/report_parts.h"
#include "report/words/rank_text.h"
#include "run/model_config.h"
#include "run/unproven_ranks.h"
#include "text/format_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kMostComplaints = 20;
constexpr size_t kMostRules = size_t{1} << 24;

bool IsLack(NoteId id) {
  switch (id) {
    case NoteId::kNoGpuEvents:
    case NoteId::kNoEngineStep:
    case NoteId::kDeviceRowsNotRead:
    case NoteId::kRangeProfiler:
    case NoteId::kMixedRanks:
    case NoteId::kNoEvents:
      return true;
    default:
      return false;
  }
}

// Whether a sentence in `unproven` already reports this note about the trace, with its cause.
bool IsSaid(const std::vector<std::string>& unproven, const std::string& path, NoteId id) {
  return std::ranges::any_of(
      unproven, [&](const std::string& sentence) { return NamesDefect(sentence, path, id); });
}

// The notes that make a run incomplete, as sentences. Lost data gets a sentence for each trace. A
// lack that the traces of a run usually share (IsLack) gets one sentence for all traces.
template <typename Run>
std::vector<std::string> NotesThatCount(const Run& run) {
  std::vector<std::string> reasons;
  std::map<NoteId, std::vector<std::string>> lacking;  // paths
  for (const auto& trace : run.traces) {
    for (const Note& note : trace.notes.list()) {
      if (IsLack(note.id)) lacking[note.id].push_back(VisibleText(trace.path));
      if (KindOf(note.id).severity != Severity::kDataLoss ||
          IsSaid(run.unproven, trace.path, note.id))
        continue;
      reasons.push_back(
          fmt::format("incomplete: {}: {}{}", VisibleText(trace.path), KindOf(note.id).id,
                      note.where.empty() ? "" : " (" + VisibleText(note.where) + ")"));
    }
  }
  for (const auto& [id, paths] : lacking) {
    reasons.push_back(
        fmt::format("incomplete: {}: {}{}", paths.front(), KindOf(id).id,
                    paths.size() == 1
                        ? ""
                        : fmt::format(", as in {} of {} traces", paths.size(), run.traces.size())));
  }
  return reasons;
}

template <typename Run>
std::vector<std::string> ReasonsOf(const Run& run) {
  std::vector<std::string> reasons = NotesThatCount(run);
  for (const std::string& sentence : run.unproven)
    reasons.push_back("incomplete: " + VisibleText(sentence));
  for (const MissingRanks& missing : run.ranks.missing) {
    const auto named = std::ranges::count_if(run.unproven, [&](const std::string& sentence) {
      return IsOfWorker(sentence, missing.worker);
    });
    const bool is_whole_worker = std::ranges::any_of(
        run.unproven,
        [&](const std::string& sentence) { return IsAboutWholeWorker(sentence, missing.worker); });
    if (named >= missing.count || is_whole_worker) continue;
    reasons.push_back(fmt::format("incomplete: {} of world size {} {} missing",
                                  MissingRanksText(missing), missing.world_size,
                                  missing.count == 1 ? "is" : "are"));
  }
  return reasons;
}

// Reads the mapping recording. kUnreadable if it has no frames that launch work.
Result<SourcesAsked> ReadSources(const std::string& path, size_t threads,
                                 const Classifier& classifier, RunProgress& progress) {
  ReadOptions options;
  options.sources.asked = true;
  TACHO_ASSIGN_OR_RETURN(const auto readout, ReadRun({.paths = {path}, .threads = threads}, options,
                                                     classifier, progress));
  SourceMap map;
  for (const TraceAnalysis& trace : readout.run.traces)
    if (trace.source_map) map.Add(*trace.source_map);
  if (map.empty()) {
    return Fail(ErrorKind::kUnreadable,
                "--stacks-from " + VisibleText(path) +
                    ": no Python frame launches work outside of a graph; it must be recorded with "
                    "stacks (with_stack) and without graphs");
  }
  return SourcesAsked{true, std::make_shared<const SourceMap>(std::move(map)), path};
}

// The options of ReadingArguments::TheModel.
std::string ModelWords(const ReadingArguments& arguments) {
  std::string words;
  if (arguments.model_config) words += " --model-config " + ShellWord(*arguments.model_config);
  if (arguments.gpu) words += " --gpu " + ShellWord(*arguments.gpu);
  if (arguments.tensor_parallel)
    words += fmt::format(" --tensor-parallel {}", *arguments.tensor_parallel);
  if (arguments.context_length)
    words += fmt::format(" --context-length {}", *arguments.context_length);
  return words;
}

std::string ClusterWords(const ReadingArguments& arguments) {
  std::string words;
  if (arguments.ray) words += " --ray " + ShellWord(*arguments.ray);
  if (arguments.ray_program) words += " --ray-program " + ShellWord(*arguments.ray_program);
  return words;
}

}  // namespace

OptionGroup ReadingArguments::WhatToLookAt() {
  return {
      "what to look at",
      {{"--rank", "R", "only the traces of rank R, or of several: 0,3", &traces.rank},
       {"--session", "S",
        "of a folder or archive of several profiling sessions: latest (the default there), all, "
        "or "
        "a part of the path of one of its files",
        &traces.session},
       {"--device", "D", "only device D, by the trace's own id", &device},
       {"--window", "A:B",
        "only from A to B, counted from the first event of each trace: 1.2s:1.5s, "
        "10:20ms (the unit is that of both), 100ms:, :80us; nanoseconds without a unit",
        &window},
       {"--rules", "FILE",
        "kernel categories of your own, tried before the built-in ones (docs/rules.md)",
        &rules_file}}};
}

OptionGroup ReadingArguments::TheModel() {
  return {
      "the model, for its roofline (docs/metrics.md#roofline)",
      {{"--model-config", "FILE",
        "config.json of the model, or its folder; tacho record keeps that of an engine on a host "
        "that it "
        "can read",
        &model_config},
       {"--gpu", "NAME",
        fmt::format("the accelerator (default: as the trace names it): {}",
                    fmt::join(AcceleratorIds(), ", ")),
        &gpu},
       {"--tensor-parallel", "N",
        "ranks that share each matrix (default: as the recorded engine said, else the world size "
        "that the trace has)",
        &tensor_parallel, 1},
       {"--context-length", "N",
        "mean length in tokens of the requests in decode, for steps that do not say it",
        &context_length, 1}}};
}

OptionGroup ReadingArguments::OnACluster(const std::string& what_comes) {
  return {"traces on the nodes of a Ray cluster (docs/ray.md)",
          {{"--ray", "ADDRESS",
            "read every path, which is absolute, on each node that has it: http://HEAD:8265, HOST, "
            "or auto for RAY_API_SERVER_ADDRESS, RAY_ADDRESS or this host; " +
                what_comes,
            &ray},
           {"--ray-program", "FILE",
            "the static tacho that runs on the nodes (default: this program, or tacho-static "
            "beside it)",
            &ray_program}}};
}

std::vector<OptionRow> ReadingArguments::How() {
  return {{"--threads", "N", "threads to use (default: one for each core)", &threads, 1},
          {"--no-progress", "", "no progress bar on standard error", &no_progress}};
}

Result<Classifier> MakeClassifier(const ReadingArguments& arguments) {
  if (!arguments.rules_file) return Classifier::Create();
  TACHO_ASSIGN_OR_RETURN(auto rules, ReadWholeFile(*arguments.rules_file, kMostRules));
  return WithContext(Classifier::Create(rules), *arguments.rules_file);
}

Result<TraceChoice> ChoiceOf(const ReadingArguments& arguments) {
  TACHO_ASSIGN_OR_RETURN(TraceChoice choice, ChoiceOf(arguments.traces, arguments.command));
  choice.threads = static_cast<size_t>(arguments.threads.value_or(0));
  return choice;
}

Result<ReadOptions> ReadOptionsOf(const ReadingArguments& arguments) {
  ReadOptions reading;
  reading.device = arguments.device;
  reading.own_rules = arguments.rules_file.has_value();
  RooflineSetup& roofline = reading.roofline;
  roofline.tensor_ranks = arguments.tensor_parallel;
  roofline.context_length = arguments.context_length;
  if (arguments.model_config) {
    TACHO_ASSIGN_OR_RETURN(roofline.model, ReadModelConfig(*arguments.model_config));
  }
  if (arguments.gpu) {
    roofline.gpu = FindAccelerator(*arguments.gpu);
    if (!roofline.gpu) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--gpu: no accelerator is called '{}': {}",
                              VisibleText(*arguments.gpu), fmt::join(AcceleratorIds(), ", ")));
    }
  }
  if (arguments.window) {
    TACHO_ASSIGN_OR_RETURN(reading.window, WithContext(ParseWindow(*arguments.window), "--window"));
  }
  return reading;
}

std::string CommandPaths(const ReadingArguments& arguments) {
  std::string words = CommandPaths(arguments.traces);
  if (words.empty()) return "";
  if (!arguments.device.empty()) words += " --device " + ShellWord(arguments.device);
  if (arguments.window) words += " --window " + ShellWord(*arguments.window);
  words += ModelWords(arguments) + ClusterWords(arguments);
  return VisibleText(words) == words ? words : "";
}

std::string WholePaths(const ReadingArguments& arguments) {
  std::string words = CommandPaths(arguments.traces);
  if (words.empty()) return "";
  words += ModelWords(arguments) + ClusterWords(arguments);
  return VisibleText(words) == words ? words : "";
}

std::string ComparePaths(const ReadingArguments& arguments) {
  const std::string words = CommandPaths(arguments.traces);
  return words.empty() ? "" : words + ClusterWords(arguments);
}

bool ShowsProgress(const ReadingArguments& arguments) {
  return LiveColumns(SurroundingsOf(STDERR_FILENO)) && !arguments.no_progress;
}

Result<Readout<RunAnalysis>> ReadChosen(const ReadingArguments& arguments,
                                        const TraceChoice& choice, ReadOptions reading,
                                        const Classifier& classifier,
                                        std::optional<std::stop_token> stop) {
  if (arguments.ray) return ReadOnCluster(arguments, choice, reading, classifier);
  auto readout = [&]() -> Result<Readout<RunAnalysis>> {
    ProgressBar bar(StyleFor(SurroundingsOf(STDERR_FILENO), ColorChoice::kAuto),
                    ShowsProgress(arguments), std::move(stop));
    if (arguments.stacks_from) {
      TACHO_ASSIGN_OR_RETURN(reading.sources,
                             ReadSources(*arguments.stacks_from, choice.threads, classifier, bar));
    }
    return ReadRun(choice, reading, classifier, bar);
  }();
  if (!readout) return CannotRead(readout.error());
  TACHO_RETURN_IF_ERROR(WordWhatIsLeftOut(choice, reading, *readout));
  return readout;
}

std::vector<std::string> IncompleteReasons(const RunAnalysis& run, const TraceChoice& choice) {
  std::vector<std::string> incomplete = IncompleteReasons(run);
  for (const int64_t rank : choice.ranks) {
    if (std::ranges::none_of(
            run.traces, [&](const TraceAnalysis& trace) { return trace.facts.rank == rank; })) {
      incomplete.push_back("incomplete: " + NoSuchRank({rank}));
    }
  }
  return incomplete;
}

std::vector<std::string> IncompleteReasons(const RunAnalysis& run) { return ReasonsOf(run); }
std::vector<std::string> IncompleteReasons(const RunSummary& run) { return ReasonsOf(run); }

std::vector<std::string> NoticesOf(const RunAnalysis& run) {
  std::vector<std::string> notices;
  for (const TraceAnalysis& trace : run.traces) {
    for (const Note& note : trace.notes.list()) {
      const NoteKind& kind = KindOf(note.id);
      if (kind.severity != Severity::kNotice || IsLack(note.id)) continue;
      notices.push_back(
          fmt::format("{}: {} ({}): {}", VisibleText(trace.path), kind.id, note.count, kind.text));
    }
  }
  return notices;
}

std::vector<std::string> FirstOf(std::vector<std::string> messages) {
  if (messages.size() <= kMostComplaints) return messages;
  const size_t more = messages.size() - kMostComplaints;
  messages.resize(kMostComplaints);
  messages.push_back(fmt::format("and {} more", more));
  return messages;
}

void ComplainAll(const std::vector<std::string>& messages) {
  for (const std::string& message : FirstOf(messages)) Complain(message);
}

int FinishReading(bool names_skipped, const std::vector<Error>& failures,
                  const std::vector<std::string>& skipped, const std::vector<std::string>& captures,
                  const std::vector<std::string>& incomplete) {
  std::vector<std::string> messages;
  if (names_skipped && isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1) {
    if (!failures.empty()) {
      messages.push_back(fmt::format("incomplete: {} skipped, see above",
                                     FormatCounted(failures.size(), "input was", "inputs were")));
    }
  } else {
    for (const Error& error : failures)
      messages.push_back("incomplete: " + VisibleText(error.message));
  }
  for (const std::string& file : skipped) {
    const bool is_failure =
        std::ranges::any_of(failures, [&](const Error& error) { return error.message == file; });
    if (!names_skipped && !is_failure) messages.push_back("skipped: " + VisibleText(file));
  }
  if (!names_skipped && !captures.empty()) {
    messages.push_back(VisibleText(CapturesText(captures)));
  }
  messages.insert(messages.end(), incomplete.begin(), incomplete.end());
  ComplainAll(messages);
  return failures.empty() && incomplete.empty() ? kDone : kIncomplete;
}

void SayBlanked(size_t secrets) {
  if (secrets == 0) return;
  const bool one = secrets == 1;
  Complain(fmt::format("{} like {} blanked: --keep-secrets keeps {}",
                       FormatCounted(secrets, "text that looks", "texts that look"),
                       one ? "a key or a password is" : "keys or passwords are",
                       one ? "it" : "them"));
}

tl::unexpected<Error> CannotRead(const Error& error) {
  return Fail(error.kind, VisibleText(error.message));
}

}  // namespace tacho
