#include "cli/record/record_launch.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/words.h"
#include "cli/launch/launch_narrator.h"
#include "cli/launch/launch_options.h"
#include "cli/options/secret.h"
#include "cli/screen/output.h"
#include "control/nsys/nsys_launch.h"
#include "launch/launch_folder.h"
#include "text/shell_word.h"

namespace tacho {

namespace fs = std::filesystem;

namespace {

Result<LaunchedServers> MakeIn(const std::string& folder, TakenName taken, EngineKind kind,
                               RecordArguments& own, const std::vector<std::string>& arguments) {
  TACHO_ASSIGN_OR_RETURN(
      PlanOfHere here, PlanUntilInterrupted(kind, own.engine, folder, NsysSessionName(taken.name)));
  const PlannedLaunch& plan = here.plan;
  std::vector<std::string> words = WordsIn(plan.record_options);
  words.insert(words.end(), arguments.begin(), arguments.end());
  RecordArguments whole;  // the user's arguments come last and win
  TACHO_RETURN_IF_ERROR(ParseArguments(RecordSpec(whole), words));
  own.session.profile = std::move(whole.session.profile);
  own.command += " -- " + ShownWords(own.engine.words);
  own.targets = plan.targets();
  TACHO_RETURN_IF_ERROR(RecordOptionsOf(own));
  here.held.push_back(std::move(taken.lock));
  return LaunchedServers::Make(std::move(here), taken.name, folder);
}

}  // namespace

Result<LaunchedServers> MakeForRecording(RecordArguments& own,
                                         const std::vector<std::string>& arguments) {
  TACHO_ASSIGN_OR_RETURN(const EngineKind kind, ParseEngine(own.launch));
  if (!own.targets.empty())
    return Fail(
        ErrorKind::kUsage,
        fmt::format("--launch starts the engine that is recorded: leave out {}, or put what "
                    "is the engine's after --",
                    ShellWord(own.targets[0])));
  for (const std::string& setting : MoveSettings(own.engine))
    own.command += " --env " + WrittenWord(Secret::kVariable, setting);
  // --via nsys implies --preset nsys, and the reverse.
  if (own.via == "nsys" && own.engine.preset == "light") own.engine.preset = "nsys";
  if (own.engine.preset == "nsys" && own.via == "auto") own.via = "nsys";
  TACHO_ASSIGN_OR_RETURN(TakenName taken, TakeLaunchName("", own.launch));
  TACHO_ASSIGN_OR_RETURN(const std::string folder,
                         MakeLaunchFolder(LaunchFolderFor(own.session.out, taken.name)));
  auto made = MakeIn(folder, std::move(taken), kind, own, arguments);
  if (!made) RemoveEmptyParts(folder);
  return made;
}

void EndAfterRecording(LaunchedServers& servers, const std::string& run_folder, bool complete) {
  const std::string folder = servers.record().folder;
  EndAndSay(servers);
  std::error_code error;
  fs::rename(folder + "/logs", run_folder + "/server", error);
  if (error)
    Complain(fmt::format("the server's log stays in {}/logs: {}", folder, error.message()));
  if (complete) fs::remove_all(folder + "/traces", error);
  RemoveEmptyParts(folder);
}

}  // namespace tacho
