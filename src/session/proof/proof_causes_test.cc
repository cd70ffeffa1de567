#include "session/proof/proof_causes.h"

#include <gmock/gmock.h>

#include "session/proof/proof_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Every cause that files can show, by its id.
TEST(ProofCauses, HaveIdsOfTheirOwn) {
  const auto id = [](const WorkerExpectation& worker, std::vector<TraceEvidence> traces) {
    return KindOf(Prove({worker}, std::move(traces)).Missing().front().id).id;
  };
  WorkerExpectation worker = AWorker("w", {});
  EXPECT_EQ(id(worker, {}), "no-file");
  worker.room_bytes = 0;
  EXPECT_EQ(id(worker, {}), "disk-full");
  worker.why_no_file = Finding{FindingId::kDaemonNotAsked, "", ""};
  EXPECT_EQ(id(worker, {}), "daemon-not-asked");
  worker.start_unix_ns = 0;
  EXPECT_EQ(id(worker, {}), "not-started");
  worker.trouble = Failed("no");
  EXPECT_EQ(id(worker, {}), "did-not-start");
  worker = AWorker("w", {"a"});
  TraceEvidence trace = ATrace("a");
  trace.defect = Note{.id = NoteId::kTruncatedGzip, .where = ""};
  EXPECT_EQ(id(worker, {trace}), "killed-while-writing");
  worker.answered_stop = true;
  EXPECT_EQ(id(worker, {trace}), "trace-unfinished");
  trace.defect = Note{.id = NoteId::kDamagedEvent, .where = ""};
  EXPECT_EQ(id(worker, {trace}), "file-damaged");
  trace = ATrace("a");
  trace.steps = 0;
  EXPECT_EQ(id(worker, {trace}), "no-request");
  worker.steps_by_metrics = {7};
  EXPECT_EQ(id(worker, {trace}), "load-outside-window");
  trace.first_unix_ns = trace.last_unix_ns = 1;
  worker.steps_by_metrics = {};
  EXPECT_EQ(id(worker, {trace}), "other-time");
  worker.facts.tensor_parallel = 2;
  EXPECT_EQ(id(worker, {ATrace("a")}), "no-file-of-rank");
  worker = AWorker("w", {"a"});
  trace = ATrace("a");
  trace.defect = Note{.id = NoteId::kReadFailed, .where = ""};
  EXPECT_EQ(id(worker, {trace}), "file-unreadable");
  trace = ATrace("a");
  worker.steps_asked = worker.steps_bound = 6;
  EXPECT_EQ(id(worker, {trace}), "too-few-steps");
  worker.ended_by_time_ns = 2'000'000'000;
  EXPECT_EQ(id(worker, {trace}), "window-too-short");
  trace.steps = 0;
  trace.empty_steps = 6;
  EXPECT_EQ(id(worker, {trace}), "empty-steps");
  trace = ATrace("a");
  trace.has_gpu = true;
  trace.gpu_events = 0;
  EXPECT_EQ(id(worker, {trace}), "gpu-not-traced");
  worker = AWorker("w", {"a"});
  worker.by_stage = true;
  EXPECT_EQ(id(worker, {ATrace("a")}), "one-stage");
}

// What a proven rank's files leave out, by its id.
TEST(ProofCauses, RemarksHaveIdsOfTheirOwn) {
  const auto id = [](const WorkerExpectation& worker) {
    return KindOf(Prove({worker}, {ATrace("a")}).remarks.front().id).id;
  };
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_by_metrics = {278};
  EXPECT_EQ(id(worker), "holds-part");
  worker.own_bound = 5;
  EXPECT_EQ(id(worker), "ended-by-own-bound");
  worker.own_bound.reset();
  worker.steps_asked = worker.steps_bound = 6;
  worker.ended_by_time_ns = 2'000'000'000;
  worker.time_asked = true;
  EXPECT_EQ(id(worker), "ended-by-duration");
  worker.ended_by_time_ns = 0;
  worker.ended_by_death = true;
  EXPECT_EQ(id(worker), "ended-by-death");
  worker.steps_asked = worker.steps_bound = 5;
  worker.all_running_unix_ns = kProofStop + 3'000'000'000;
  EXPECT_EQ(id(worker), "ended-before-others");
}

TEST(ProofCauses, FarFewerStepsThanTheEngineCountedAreRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_by_metrics = {9};
  EXPECT_THAT(Remarks(Prove({worker}, {ATrace("a")})), IsEmpty());
  worker.steps_by_metrics = {278};
  const Proof proof = Prove({worker}, {ATrace("a")});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(Remarks(proof), ElementsAre(HasSubstr("holds 5 steps of the 278 that")));
  worker.steps_asked = 5;
  EXPECT_THAT(Remarks(Prove({worker}, {ATrace("a")})), IsEmpty());
}

TEST(ProofCauses, ASessionThatItsOwnBoundEndedIsRemarkedOnWithWhatItHolds) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kProofStop;
  worker.own_bound = 5;
  TraceEvidence trace = ATrace("a");
  trace.last_unix_ns = *trace.first_unix_ns + 16'000'000;
  EXPECT_THAT(
      Remarks(Prove({worker}, {trace})),
      ElementsAre(HasSubstr("it holds 16 ms of the window's 5.0 s: the engine's own bound of 5 "
                            "steps (max_iterations) ended its session")));
  worker.steps_bound = 5;  // the bound of the start request itself
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), IsEmpty());
}

TEST(ProofCauses, StepsThatTheBudgetPlannedAreNotMissed) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kProofStop;
  worker.steps_by_metrics = {278};
  worker.steps_bound = 5;
  EXPECT_THAT(Remarks(Prove({worker}, {ATrace("a")})), IsEmpty());
  worker.steps_bound = 6;
  EXPECT_THAT(Remarks(Prove({worker}, {ATrace("a")})),
              ElementsAre(HasSubstr("5 steps of the 278")));
}

TEST(ProofCauses, ATraceFromBeforeTheLastProfilerRanIsRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_asked = worker.steps_bound = 5;
  worker.all_running_unix_ns = kProofStop + 3'000'000'000;
  worker.stop_unix_ns = kProofStop + 4'000'000'000;
  EXPECT_THAT(Remarks(Prove({worker}, {ATrace("a")})),
              ElementsAre(HasSubstr("ends 3.0 s before the last profiler ran")));
  worker.all_running_unix_ns = kProofStop;
  EXPECT_THAT(Remarks(Prove({worker}, {ATrace("a")})), IsEmpty());
}

// Requests were sent but the engine stood still: the advice is not to send requests.
TEST(ProofCauses, AnEngineThatStandsStillUnderTheLoadIsNotOneWithoutARequest) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.silent_under_load = true;
  TraceEvidence trace = ATrace("a");
  trace.idle = true;
  trace.steps = 0;
  EXPECT_THAT(Why(Prove({worker}, {trace})),
              AllOf(HasSubstr("tacho's load sent it requests, and no token came"),
                    Not(HasSubstr("drive every engine"))));
}

TEST(ProofCauses, WithoutARequestNeitherTheGpuNorAFolderIsToBlame) {
  WorkerExpectation worker = AWorker("w", {"a"});
  TraceEvidence trace = ATrace("a");
  trace.has_gpu = true;
  trace.idle = true;
  trace.steps.reset();
  EXPECT_THAT(Why(Prove({worker}, {trace})), HasSubstr("no request reached this engine"));
  trace.idle = false;
  trace.steps = 0;
  trace.empty_steps = 3;
  worker.steps_bound = 3;
  EXPECT_THAT(Why(Prove({worker}, {trace})),
              testing::AllOf(HasSubstr("holds empty steps alone"), HasSubstr("ended after 3")));
  worker = AWorker("w", {});
  worker.steps_asked = worker.steps_bound = 3;
  worker.nothing_ran = true;
  EXPECT_THAT(Why(Prove({worker}, {})), HasSubstr("its session of 3 steps never began"));
}

TEST(ProofCauses, ATraceThatEndsLongBeforeItsStopIsRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kProofStop;
  TraceEvidence trace = ATrace("a");
  trace.steps = 80;
  worker.steps_by_metrics = {100};
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), IsEmpty()) << "to its end: a start that took long";
  trace.last_unix_ns = kProofStop - 1'000'000'000;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})),
              ElementsAre(testing::AllOf(HasSubstr("holds 80 steps of the 100 that"),
                                         HasSubstr("ends 1.0 s before the stop"),
                                         HasSubstr("somebody else"))));
  worker.steps_by_metrics = {80};
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), IsEmpty()) << "the engine was idle then";
  // The flush of somebody else's stop halted the engine: the counter shows no missing step, or
  // there is no counter.
  worker.had_work_at_stop = true;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), ElementsAre(HasSubstr("ends 1.0 s before the")));
  worker.steps_by_metrics = {};
  EXPECT_THAT(Remarks(Prove({worker}, {trace})),
              ElementsAre(HasSubstr("holds 80 steps and ends 1.0 s before the stop")));
  worker.had_work_at_stop = false;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), IsEmpty());
  worker.wrote_before_stop = true;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), ElementsAre(HasSubstr("ends 1.0 s before the")));
}

TEST(ProofCauses, AReportOfNsysWithoutStepsOrGpuWorkIsRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.one_report = true;
  worker.pids = {100};
  worker.steps_by_metrics = {191};
  TraceEvidence trace = ATrace("a");
  trace.steps = 0;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})),
              ElementsAre(HasSubstr("names no step and holds no GPU work, though the engine took "
                                    "191 steps")));
  trace.gpu_events = 9;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), IsEmpty());
}

TEST(ProofCauses, RanksThatShareNoTimeAreNotOneRecording) {
  std::vector<WorkerExpectation> workers = {AWorker("v", {"a"}), AWorker("w", {"b"})};
  std::vector<TraceEvidence> traces = {ATrace("a"), ATrace("b", 0, 1, 200)};
  const int64_t second = kProofStart + 3'000'000'000;
  traces[0].last_unix_ns = second - 400'000'000;
  traces[1].first_unix_ns = second;
  for (WorkerExpectation& worker : workers) worker.all_running_unix_ns = second - 100'000'000;
  for (int turn = 0; turn < 2; ++turn) {
    const Proof proof = Prove(workers, traces);
    EXPECT_FALSE(proof.complete);
    EXPECT_THAT(Missing(proof), ElementsAre(HasSubstr("(v): its file ends 300 ms before the last "
                                                      "profiler ran and another rank's file")));
    std::ranges::reverse(traces);
  }
  // The profiler ran, but the engine was idle until then.
  for (WorkerExpectation& worker : workers) worker.all_running_unix_ns = kProofStart;
  EXPECT_TRUE(Prove(workers, traces).complete);
  // The offset between the clocks is not known precisely enough.
  for (WorkerExpectation& worker : workers) worker.all_running_unix_ns = second;
  workers[1].facts.clock_error_ns = 500'000'000;
  EXPECT_TRUE(Prove(workers, traces).complete);
}

TEST(ProofCauses, ATraceThatEndsBeforeTheLastProfilerRanIsRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  TraceEvidence trace = ATrace("a");
  trace.steps = 30;
  const auto remarks = [&](int64_t length_ns, int64_t before_ns) {
    trace.first_unix_ns = *trace.last_unix_ns - length_ns;
    worker.all_running_unix_ns = *trace.last_unix_ns + before_ns;
    return Remarks(Prove({worker}, {trace}));
  };
  EXPECT_THAT(remarks(200'000'000, 210'000'000),
              ElementsAre(HasSubstr("ends 210 ms before the last profiler ran")));
  EXPECT_THAT(remarks(200'000'000, 90'000'000), IsEmpty());
  EXPECT_THAT(remarks(900'000'000, 400'000'000), IsEmpty());
}

TEST(ProofCauses, StepsAfterTheStopAreNotMissed) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kProofStop;
  TraceEvidence trace = ATrace("a");
  trace.steps = 40;
  worker.steps_by_metrics = {100};
  EXPECT_THAT(Remarks(Prove({worker}, {trace})),
              ElementsAre(HasSubstr("holds 40 steps of the 100")));
  worker.steps_go_on = true;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), IsEmpty());
  trace.last_unix_ns = kProofStop - 1'000'000'000;
  EXPECT_THAT(Remarks(Prove({worker}, {trace})), ElementsAre(HasSubstr("ends 1.0 s before")));
}

TEST(ProofCauses, AClockThatIsOffIsNamedForIt) {
  constexpr int64_t kHour = 3'600'000'000'000;
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.facts.clock_offset_ns = 0;
  TraceEvidence trace = ATrace("a");
  *trace.first_unix_ns += kHour;
  *trace.last_unix_ns += kHour;
  Proof proof = Prove({worker}, {trace});
  EXPECT_THAT(Why(proof), HasSubstr("3600.0 s after this session's start"));
  EXPECT_THAT(Why(proof), HasSubstr("or it is an earlier session's"));
  EXPECT_THAT(Why(proof), HasSubstr("the preflight saw +0.0 s"));
  EXPECT_THAT(proof.foreign, ElementsAre("a"));
  worker.key = "tacho-1";
  EXPECT_THAT(Why(Prove({worker}, {trace})), HasSubstr("this session's by its name"));
  worker.facts.clock_offset_ns = kHour;
  EXPECT_TRUE(Prove({worker}, {trace}).complete) << "a known offset is reckoned with";
}

TEST(ProofCauses, ACutFileHasACause) {
  WorkerExpectation worker = AWorker("w", {"a"});
  TraceEvidence trace = ATrace("a");
  trace.defect = Note{.id = NoteId::kTruncatedJson, .where = "byte 7"};
  EXPECT_THAT(Why(Prove({worker}, {trace})),
              HasSubstr("the engine was killed while it wrote, or it still writes (--timeout); "
                        "truncated-json (byte 7): a"));
  EXPECT_THAT(Why(Prove({worker}, {trace})), Not(HasSubstr("full"))) << "nothing tells that";
  worker.answered_stop = true;
  worker.room_bytes = 3'000'000'000;
  EXPECT_THAT(
      Why(Prove({worker}, {trace})),
      HasSubstr("its trace was not finished although the engine answered its stop: a full disk "
                "is the usual cause (free there: 3.0 GB); truncated-json (byte 7): a"));
  worker.log_failure = "profiler failed: No space left on device";
  EXPECT_THAT(Why(Prove({worker}, {trace})), HasSubstr("full; its log says: profiler failed"));
  worker.room_bytes = 4096;
  EXPECT_THAT(Why(Prove({worker}, {trace})), HasSubstr("is full (4 kB are free)"));
  worker.trouble = Failed("it died");
  EXPECT_THAT(Why(Prove({worker}, {trace})), HasSubstr("it died; truncated-json (byte 7): a"));
}

TEST(ProofCauses, NoFileIsBlamedOnAFullDiskByEvidenceAlone) {
  WorkerExpectation worker = AWorker("w", {});
  EXPECT_THAT(Why(Prove({worker}, {})),
              AllOf(HasSubstr("one session only"), Not(HasSubstr("full"))));
  worker.room_bytes = 64u << 20;
  EXPECT_THAT(Why(Prove({worker}, {})), Not(HasSubstr("full")));
  worker.room_bytes = 8192;
  EXPECT_THAT(Why(Prove({worker}, {})),
              HasSubstr("no file at all: the disk that it writes to is full (8 kB"));
}

TEST(ProofCauses, WhereNoStepRanTheGpuIsNotBlamed) {
  TraceEvidence idle = ATrace("a");
  idle.steps = 0;
  idle.has_gpu = true;
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {idle})), HasSubstr("holds no step"));
}

TEST(ProofCauses, ARankThatWasNeverStartedSaysSo) {
  WorkerExpectation worker = AWorker("w", {});
  worker.start_unix_ns = worker.stop_unix_ns = 0;
  EXPECT_EQ(Why(Prove({worker}, {})), "no file: its profiler was never started");
}

TEST(ProofCauses, StepsThatTheUsersOwnDurationEndedAreProven) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_asked = worker.steps_bound = 100'000;
  EXPECT_THAT(Why(Prove({worker}, {ATrace("a")})), HasSubstr("stopped early, or too little load"));
  worker.interrupted = true;
  EXPECT_THAT(Why(Prove({worker}, {ATrace("a")})),
              HasSubstr("interrupted after 5 of the 100000 steps that were asked for"));
  worker.interrupted = false;
  worker.ended_by_time_ns = 6'000'000'000;
  EXPECT_THAT(
      Why(Prove({worker}, {ATrace("a")})),
      HasSubstr("5 of the 100000 steps that were asked for were taken in the window's 6.0 s: "
                "--duration gives it longer"));
  worker.time_asked = true;
  const Proof proof = Prove({worker}, {ATrace("a")});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(
      Remarks(proof),
      ElementsAre(HasSubstr("5 of 100000 steps were taken before --duration (6.0 s) ended")));
}

TEST(ProofCauses, AFileWithoutAStepProvesNothing) {
  TraceEvidence empty = ATrace("a");
  empty.steps = 0;
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {empty})), HasSubstr("holds no step"));
  WorkerExpectation idle = AWorker("w", {"a"});
  idle.steps_by_metrics = {0};
  EXPECT_THAT(Why(Prove({idle}, {empty})), HasSubstr("no request reached"));
}

TEST(ProofCauses, NamesFewerStepsThanAskedFor) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_asked = 6;
  EXPECT_THAT(Why(Prove({worker}, {ATrace("a")})), HasSubstr("5 of the 6 steps"));
  TraceEvidence with_empty = ATrace("a");
  with_empty.empty_steps = 1;
  EXPECT_TRUE(Prove({worker}, {with_empty}).complete) << "the engine took six";
  worker.steps_asked = 5;
  EXPECT_TRUE(Prove({worker}, {ATrace("a")}).complete);
}

TEST(ProofCauses, CutFilesAndMissingGpuEventsAreNoProof) {
  TraceEvidence cut = ATrace("a");
  cut.defect = Note{.id = NoteId::kTruncatedJson, .where = ""};
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {cut})), HasSubstr("truncated"));
  TraceEvidence blind = ATrace("a");
  blind.has_gpu = true;
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {blind})), HasSubstr("no GPU event"));
}

TEST(ProofCauses, TroubleWithAStartIsTheCause) {
  WorkerExpectation worker = AWorker("w", {});
  worker.trouble = Failed("died while it wrote");
  EXPECT_EQ(Why(Prove({worker}, {})), "died while it wrote");
}

}  // namespace
}  // namespace tacho
