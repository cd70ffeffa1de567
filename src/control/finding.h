#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// How serious a finding is for the user's command.
enum class FindingSeverity {
  kInfo,        // worth knowing
  kNotice,      // a recording will contain something unusual, or may fail
  kIncomplete,  // a recording lacks something: exit status 4
  kBlocking,    // the command cannot be carried out on this worker in its present state
};

// Everything that preflight, session, proof and `tacho engine status` can find out about a
// deployment. docs/findings.md explains each id; finding_kinds.cc has the table of their kinds, in
// the same order.
enum class FindingId : uint8_t {
  // The deployment.
  kListedTwice,
  kSeveralRouters,
  kGrpcWorker,
  kZmqWorker,
  kInvalidAddress,
  kUnhealthyByRouter,
  kKeySentToWorkers,
  // Before an engine is launched.
  kVersionUnknown,
  // Whether a worker can be profiled, and what to expect.
  kNoAnswer,
  kEngineDead,
  kProfilerOff,
  kEngineAsleep,
  kStacksUnbounded,
  kRequestDoesNotFit,
  kDaemonOff,
  kOpenSession,
  kBeingProfiled,
  kFolderUnknown,
  kFolderNotSeen,
  kTraceDirContradicted,
  kTraceDirMissing,
  kLittleRoom,
  kClockOffset,
  kStacksUnknown,
  kScheduleOnce,
  kSessionsNotReported,
  kStepsNotCounted,
  kOwnBound,
  kTableOfAverages,
  kTrialFiles,
  kForecastUnsure,
  kStopAnswersEarly,
  // How an engine is started: its command line and environment.
  kOptionUnknown,
  kConfigUnreadable,
  kConfigKeyUnknown,
  kConfigContradicts,
  kConfigReplaced,
  kVariableNotParsed,
  kVariableNotRead,
  kTimeoutNotRead,
  kNeedsGpu,
  kTwoProfilers,
  kEndsWithRange,
  kProfilerV2,
  kFunctionTrace,
  kLaunchesBlock,
  kKinetoSilent,
  kRustFrontEnd,
  kNothingCaptures,
  kProtonNotRead,
  kRangeNeverOpens,
  kForksNotTraced,
  kFlushInStep,
  kFlushCostly,
  kFrontEndProfiled,
  kSeveralFrontEnds,
  kGraphsHideRanges,
  kGraphCaptureEmpty,
  kRayNotTraced,
  kRanksShareNames,
  kTwoKeys,
  // The load.
  kLoadThroughRouter,
  kLoadAfterStart,
  kRequestsShortened,
  kLoadNotBegun,
  kLoadGaveUp,
  kMostRequestsFailed,
  kRequestsFailed,
  kTooFewRequests,
  kLoadEndedEarly,
  kOverheadCutShort,
  kPartOfLoad,
  // Start, stop and collection.
  kMarkNotKept,
  kOldSessionEnded,
  kOldSessionHangs,
  kSlowStart,
  kWaitsForTokens,
  kTakesNoRequests,
  kDidNotStart,
  kEngineDied,
  kStopNotAnswered,
  kStopRefused,
  kFlushLeft,
  kStillWriting,
  kGivenUp,
  kInterrupted,
  kNotCollected,
  kOnlyLinked,
  kNotKept,
  kSharedFolder,
  kLogFailure,
  // What an engine's log says.
  kOneRankProfiled,
  kPortInUse,
  kStartRefused,
  kStopWithoutSession,
  kStartThroughRouter,
  kSessionLost,
  kFrontEndThread,
  kNpuProfilerThread,
  kNoDaemon,
  kFlushLong,
  kWaitsForFlush,
  kFlushTimedOut,
  kTraceFolderBad,
  kStackReplay,
  kTableNotMade,
  kMergeFailed,
  kGpuTracingOff,
  kLaunchFailed,
  kGpuMemoryFull,
  kStopHangs,
  kCollectiveTimedOut,
  kWorkerKilled,
  kCrashWhileProfiled,
  kNsysNotImported,
  kNsysVersion,
  // Kineto's daemon.
  kDaemonUnavailable,
  kDaemonNotAsked,
  kTooLate,
  kDaemonPathRefused,
  kWindowTakenAgain,
  kNothingWritten,
  kRanksUnknown,
  // Nsight Systems.
  kNsysMissing,
  kNotUnderNsys,
  kNsysRecords,
  kNsysRawImported,
  kNsysNoImporter,
  kNsysNoLibrary,
  kNsysNoReport,
  kNsysNoGpu,
  kNvtxMissing,
  // Why a rank is not proven.
  kNotStarted,
  kDiskFull,
  kNoFile,
  kNoFileOfRank,
  kOtherTime,
  kNoRequest,
  kTooFewSteps,
  kEmptySteps,
  kLoadOutsideWindow,
  kWindowTooShort,
  kOneStage,
  kGpuNotTraced,
  kKilledWhileWriting,
  kTraceUnfinished,
  kFileUnreadable,
  kFileDamaged,
  kApartFromOthers,
  kRowsMissing,
  // What a proven rank's files leave out.
  kEndedBeforeOthers,
  kEndedByOwnBound,
  kEndedByDeath,
  kEndedByDuration,
  kHoldsPart,
  kStepsUnnamed,
  // What only tacho doctor looks for: routers, faults of a version, this host, traces.
  kRouterForwards,
  kStacksMayCrash,
  kAutoStopSilent,
  kOneStepLess,
  kEngineApiSilent,
  kRocmHangs,
  kOldCuda,
  kStrayAgent,
  kImporterMissing,
  kHardwareTracing,
  kRayKillsNsys,
  kRayReportLost,
  kRayNoNsys,
  kRayNoPython,
  kFrontEndFile,
  kGraphsWithoutShapes,
  kNotShown,
  kFiguresDoubtful,
  kRanksMissing,
  kCutShort,
  kCount,
};

struct FindingKind {
  std::string_view id;  // stable, kebab-case
  FindingSeverity severity;
  std::string_view remedy;  // the remedy in general
  // The text between evidence and remedy on screen. If it is " (", the remedy is followed by ")".
  std::string_view joint = ": ";
};
const FindingKind& KindOf(FindingId id);
std::string_view NameOf(FindingSeverity severity);
std::optional<FindingId> FindingNamed(std::string_view id);
std::optional<FindingSeverity> SeverityNamed(std::string_view name);

// Something that was found out about a deployment, as data for screens, run.json and programs.
struct Finding {
  FindingId id;
  std::string subject;   // a worker's URL, a rank or a folder; "": the whole deployment
  std::string evidence;  // what was seen, with figures
  // For this case and version, a command if possible; "": the remedy of the kind.
  std::string remedy = {};
  // A short form of `evidence` without the reason, to be put after a name: "did not start"; "": all
  // of `evidence`.
  std::string brief = {};

  [[nodiscard]] FindingSeverity severity() const { return KindOf(id).severity; }
  // Whether the finding makes a recording incomplete.
  [[nodiscard]] bool IsTrouble() const { return severity() >= FindingSeverity::kIncomplete; }
  [[nodiscard]] std::string_view Remedy() const;  // `remedy`, else the remedy of the kind
  [[nodiscard]] std::string Words() const;        // `evidence` and `remedy`
  [[nodiscard]] std::string Text() const;         // "SUBJECT: " and Words(), as on every screen
};

// The texts of the findings that are troubles (IsTrouble) or, if `troubles` is false, of the
// others.
std::vector<std::string> TextsOf(const std::vector<Finding>& findings, bool troubles);

// A value, or the finding that says why there is none.
template <typename T>
using Checked = tl::expected<T, Finding>;

// The error that ends a command because of `finding`. kRemote if nobody answers or somebody else
// profiles the engine (kNoAnswer, kOpenSession, kBeingProfiled), else kUsage.
Error ErrorOf(const Finding& finding);
// The finding for an `error` about the worker at `url`: the worker did not answer (kRemote), or
// cannot do what was asked for.
Finding FindingOf(const Error& error, const std::string& url);

}  // namespace tacho
