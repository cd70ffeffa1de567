#include "cli/record/record_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/launch/launch_narrator.h"
#include "cli/load/load_result_files.h"
#include "cli/options/load_argument.h"
#include "cli/record/record_launch.h"
#include "cli/record/record_narrator.h"
#include "cli/record/record_options.h"
#include "cli/record/record_ray.h"
#include "cli/record/record_report.h"
#include "cli/screen/interrupt.h"
#include "cli/screen/output.h"
#include "cli/screen/terminal.h"
#include "cli/screen/without_interrupts.h"
#include "launch/launch_folder.h"
#include "session/record.h"

namespace tacho {
namespace {

// Proves the recording, prints its results and writes its files. `shown`: what was printed earlier,
// when fewer ranks were finished.
int Report(const RecordArguments& arguments, const RecordOptions& options, Recording& recording,
           Narrator& narrator, std::string_view shown) {
  const ProvenRecording proven = ProveRecording(recording, options, narrator);
  const std::string text =
      arguments.json
          ? proven.json
          : RecordScreen(recording, proven,
                         StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto), shown);
  Result<void> kept;
  if (!arguments.records.empty() && recording.load)
    kept = WriteRecords(arguments.records, *recording.load);
  if (auto written = WriteStdout(text); !written) return Fails(written.error());
  ComplainOf(recording);
  return kept ? proven.status : Fails(kept.error());
}

// `launched`: the servers to record, if tacho starts them. In that case `between` holds signals
// back until an InterruptScope can end the recording.
Result<int> RecordThem(const RecordArguments& own, std::optional<LaunchedServers>& launched,
                       std::optional<WithoutInterrupts>& between, const HttpClientOptions& http) {
  TACHO_ASSIGN_OR_RETURN(RecordOptions options, RecordOptionsOf(own));
  std::optional<RecordedCluster> cluster;
  if (own.ray) {
    TACHO_ASSIGN_OR_RETURN(cluster, ClusterOf(own));
  }
  TACHO_ASSIGN_OR_RETURN(auto client, HttpClient::Create(http));

  InterruptScope interrupt("stopping what was started; what was recorded is kept");
  between.reset();
  std::string ready;
  if (launched) {
    TACHO_ASSIGN_OR_RETURN(const int64_t patience_ns,
                           NsArgument("--ready-within", own.engine.ready_within));
    SayWarnings(launched->plan());
    LaunchNarrator narrator(LiveColumns(SurroundingsOf(STDERR_FILENO)), own.quiet);
    TACHO_RETURN_IF_ERROR(StartAndNarrate(*launched, *client,
                                          std::chrono::milliseconds(patience_ns / 1'000'000),
                                          narrator, interrupt.token()));
    ready = fmt::format("ready after {} s at {}", narrator.Seconds(), launched->plan().url());
  }
  Narrator narrator(LiveColumns(SurroundingsOf(STDERR_FILENO)), own.quiet);
  if (launched) narrator.OnDone("launch", ready);
  if (cluster) {
    const bool are_named = !options.targets.empty();
    TACHO_ASSIGN_OR_RETURN(options.targets,
                           FindTargets(*cluster, options.targets, interrupt.token()));
    if (!are_named) narrator.OnDone("targets", fmt::format("{}", fmt::join(options.targets, ", ")));
  }
  // Shows the finished workers while another one still writes.
  std::string shown;
  if (!cluster)
    narrator.WhenPartly([&](Recording& partly) {
      const ProvenRecording proven = ProveRecording(partly, options, narrator);
      if (own.json) return;
      const TextStyle style = StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto);
      const std::string screen = RecordScreen(partly, proven, style, shown) + "\n";
      WriteStdout(screen);
      if (proven.HasAnalysis(partly)) shown += screen;
    });
  narrator.WaitForPreflight(ProbePatience(options.patience));
  TACHO_ASSIGN_OR_RETURN(Recording recording,
                         Record(*client, options, narrator, interrupt.token()));
  if (cluster) {
    // After an interrupt the traces are analysed all the same; a second one ends tacho.
    AnalyseOnNodes(*cluster, recording, narrator,
                   recording.interrupted_ns ? std::stop_token() : interrupt.token());
  }
  const int status = Report(own, options, recording, narrator, shown);
  if (launched) EndAfterRecording(*launched, recording.folder.path(), status == kDone);
  return status;
}

}  // namespace

Result<int> RunRecord(const std::vector<std::string>& arguments) {
  RecordArguments own;
  // With --launch, the words after "--" are the engine's own arguments.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> before(arguments.begin(), dashes);
  TACHO_ASSIGN_OR_RETURN(auto parsed, ParseArguments(RecordSpec(own), before));
  if (parsed) {
    auto written = WriteStdout(HelpText(RecordSpecs().front()));
    return written ? kDone : Fails(written.error());
  }
  std::vector<std::string>& rest = own.launch.empty() ? own.targets : own.engine.words;
  if (dashes != arguments.end()) rest.insert(rest.end(), dashes + 1, arguments.end());
  // Reads the key before signals are held back: a key file may be a pipe that nobody writes to, and
  // Ctrl-C must end that wait.
  TACHO_ASSIGN_OR_RETURN(auto http, own.remote.Http());
  std::optional<LaunchedServers> launched;
  std::optional<WithoutInterrupts> between;
  if (!own.launch.empty()) {
    between.emplace();
    TACHO_ASSIGN_OR_RETURN(launched, MakeForRecording(own, before));
    UseKeyOf(launched->plan(), own.remote.server, http);
  }
  const std::string folder = launched ? launched->record().folder : "";
  auto status = RecordThem(own, launched, between, http);
  launched.reset();
  if (!status && !folder.empty()) RemoveEmptyParts(folder);
  return status;
}

std::vector<CommandSpec> RecordSpecs() {
  RecordArguments arguments;
  return {RecordSpec(arguments)};
}

}  // namespace tacho
