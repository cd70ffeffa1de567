#include "cli/record_command.h"

#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/record_narrator.h"
#include "cli/record_options.h"
#include "cli/record_report.h"
#include "cli/terminal.h"

namespace tacho {
namespace {

int Report(const RecordArguments& arguments, const RecordOptions& options, Recording& recording,
           Narrator& narrator) {
  const ProvenRecording proven = ProveRecording(recording, options, narrator);
  const std::string text =
      arguments.json ? proven.json
                     : RecordScreen(recording, proven,
                                    StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto));
  if (auto written = WriteStdout(text); !written) return Fails(written.error());
  ComplainOf(recording);
  return proven.status;
}

}  // namespace

Result<int> RunRecord(const std::vector<std::string>& arguments) {
  RecordArguments own;
  TACHO_ASSIGN_OR_RETURN(auto parsed, ParseArguments(RecordSpec(own), arguments));
  if (parsed) {
    auto written = WriteStdout(RecordHelp());
    return written ? kDone : Fails(written.error());
  }
  TACHO_ASSIGN_OR_RETURN(RecordOptions options, RecordOptionsOf(own));
  TACHO_ASSIGN_OR_RETURN(const auto http, own.remote.Http());
  TACHO_ASSIGN_OR_RETURN(auto client, HttpClient::Create(http));

  InterruptScope interrupt;
  Narrator narrator(LiveColumns(SurroundingsOf(STDERR_FILENO)), own.quiet);
  // Finished workers need not wait for one that still writes.
  narrator.WhenPartly([&](Recording& partly) {
    const ProvenRecording proven = ProveRecording(partly, options, narrator);
    if (own.json) return;
    const TextStyle style = StyleFor(SurroundingsOf(STDOUT_FILENO), ColorChoice::kAuto);
    WriteStdout(RecordScreen(partly, proven, style));
  });
  narrator.WaitForPreflight(ProbePatience(options.patience));
  TACHO_ASSIGN_OR_RETURN(Recording recording,
                         Record(*client, options, narrator, interrupt.token()));
  return Report(own, options, recording, narrator);
}

std::string RecordHelp() {
  RecordArguments arguments;
  return HelpText(RecordSpec(arguments));
}

}  // namespace tacho
