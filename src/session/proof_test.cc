#include "session/proof.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kStart = 1'000'000'000'000, kStop = kStart + 5'000'000'000;

WorkerExpectation AWorker(std::string url, std::vector<std::string> files) {
  WorkerExpectation worker;
  worker.url = std::move(url);
  worker.facts.kind = EngineKind::kVllm;
  worker.start_unix_ns = kStart;
  worker.stop_unix_ns = kStop;
  worker.files = std::move(files);
  return worker;
}

TraceEvidence Trace(std::string path, int64_t rank = 0, int64_t world = 1, int64_t pid = 100) {
  TraceEvidence trace;
  trace.path = std::move(path);
  trace.rank = rank;
  trace.world_size = world;
  trace.pids = {pid};
  trace.first_unix_ns = kStart + 1'000'000;
  trace.last_unix_ns = kStop - 1'000'000;
  trace.steps = 5;
  return trace;
}

std::string Why(const Proof& proof, size_t i = 0) { return proof.ranks.at(i).why; }

TEST(Prove, OneWorkerOneRank) {
  Proof proof = Prove({AWorker("w", {"a"})}, {Trace("a")});
  EXPECT_TRUE(proof.complete);
  ASSERT_EQ(proof.ranks.size(), 1u);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a"));
  EXPECT_EQ(proof.ranks[0].steps, 5u);
  EXPECT_THAT(proof.Missing(), IsEmpty());
}

TEST(Prove, FarFewerStepsThanTheEngineCountedAreRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_by_metrics = {9};
  EXPECT_THAT(Prove({worker}, {Trace("a")}).remarks, IsEmpty());
  worker.steps_by_metrics = {278};
  const Proof proof = Prove({worker}, {Trace("a")});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(proof.remarks, ElementsAre(HasSubstr("holds 5 of the 278 steps")));
  worker.steps_asked = 5;
  EXPECT_THAT(Prove({worker}, {Trace("a")}).remarks, IsEmpty());
}

TEST(Prove, ASessionThatItsOwnBoundEndedIsRemarkedOnWithWhatItHolds) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kStop;
  worker.own_bound = 5;
  TraceEvidence trace = Trace("a");
  trace.last_unix_ns = *trace.first_unix_ns + 16'000'000;
  EXPECT_THAT(
      Prove({worker}, {trace}).remarks,
      ElementsAre(HasSubstr("it holds 16 ms of the window's 5.0 s: the engine's own bound of 5 "
                            "steps (max_iterations) ended its session")));
  worker.steps_bound = 5;  // the start request's own
  EXPECT_THAT(Prove({worker}, {trace}).remarks, IsEmpty());
}

TEST(Prove, StepsThatTheBudgetPlannedAreNoneToMiss) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kStop;
  worker.steps_by_metrics = {278};
  worker.steps_bound = 5;
  EXPECT_THAT(Prove({worker}, {Trace("a")}).remarks, IsEmpty());
  worker.steps_bound = 6;
  EXPECT_THAT(Prove({worker}, {Trace("a")}).remarks, ElementsAre(HasSubstr("5 of the 278")));
}

TEST(Prove, ATraceFromBeforeTheLastProfilerRanIsRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_asked = worker.steps_bound = 5;
  worker.all_running_unix_ns = kStop + 3'000'000'000;
  worker.stop_unix_ns = kStop + 4'000'000'000;
  EXPECT_THAT(Prove({worker}, {Trace("a")}).remarks,
              ElementsAre(HasSubstr("ends 3.0 s before the last profiler ran")));
  worker.all_running_unix_ns = kStop;
  EXPECT_THAT(Prove({worker}, {Trace("a")}).remarks, IsEmpty());
}

TEST(Prove, WithoutARequestNeitherTheGpuNorAFolderIsToBlame) {
  WorkerExpectation worker = AWorker("w", {"a"});
  TraceEvidence trace = Trace("a");
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

TEST(Prove, ATraceThatEndsLongBeforeItsStopIsRemarkedOn) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kStop;
  TraceEvidence trace = Trace("a");
  trace.steps = 80;
  worker.steps_by_metrics = {100};
  EXPECT_THAT(Prove({worker}, {trace}).remarks, IsEmpty()) << "to its end: a start that took long";
  trace.last_unix_ns = kStop - 1'000'000'000;
  EXPECT_THAT(Prove({worker}, {trace}).remarks,
              ElementsAre(testing::AllOf(HasSubstr("holds 80 of the 100 steps"),
                                         HasSubstr("ends 1.0 s before the stop"),
                                         HasSubstr("somebody else"))));
  worker.steps_by_metrics = {80};
  EXPECT_THAT(Prove({worker}, {trace}).remarks, IsEmpty()) << "the engine was idle then";
}

TEST(Prove, StepsBehindTheStopAreMissedByNobody) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.stop_asked_unix_ns = kStop;
  TraceEvidence trace = Trace("a");
  trace.steps = 40;
  worker.steps_by_metrics = {100};
  EXPECT_THAT(Prove({worker}, {trace}).remarks, ElementsAre(HasSubstr("holds 40 of the 100")));
  worker.steps_go_on = true;
  EXPECT_THAT(Prove({worker}, {trace}).remarks, IsEmpty());
  trace.last_unix_ns = kStop - 1'000'000'000;
  EXPECT_THAT(Prove({worker}, {trace}).remarks, ElementsAre(HasSubstr("ends 1.0 s before")));
}

TEST(Prove, AClockThatIsOffIsNamedForIt) {
  constexpr int64_t kHour = 3'600'000'000'000;
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.facts.clock_offset_ns = 0;
  TraceEvidence trace = Trace("a");
  *trace.first_unix_ns += kHour;
  *trace.last_unix_ns += kHour;
  Proof proof = Prove({worker}, {trace});
  EXPECT_THAT(Why(proof), HasSubstr("3600.0 s behind this session's start"));
  EXPECT_THAT(Why(proof), HasSubstr("or it is an earlier session's"));
  EXPECT_THAT(Why(proof), HasSubstr("the preflight saw +0.0 s"));
  EXPECT_THAT(proof.foreign, ElementsAre("a"));
  worker.key = "tacho-1";
  EXPECT_THAT(Why(Prove({worker}, {trace})), HasSubstr("this session's by its name"));
  worker.facts.clock_offset_ns = kHour;
  EXPECT_TRUE(Prove({worker}, {trace}).complete) << "a known offset is reckoned with";
}

TEST(Prove, ACutFileHasACause) {
  WorkerExpectation worker = AWorker("w", {"a"});
  TraceEvidence trace = Trace("a");
  trace.defect = "truncated-json (byte 7)";
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
  worker.trouble = "it died";
  EXPECT_THAT(Why(Prove({worker}, {trace})), HasSubstr("it died; truncated-json (byte 7): a"));
}

TEST(Prove, NoFileIsBlamedOnAFullDiskByEvidenceAlone) {
  WorkerExpectation worker = AWorker("w", {});
  EXPECT_THAT(Why(Prove({worker}, {})),
              AllOf(HasSubstr("one session only"), Not(HasSubstr("full"))));
  worker.room_bytes = 64u << 20;
  EXPECT_THAT(Why(Prove({worker}, {})), Not(HasSubstr("full")));
  worker.room_bytes = 8192;
  EXPECT_THAT(Why(Prove({worker}, {})),
              HasSubstr("no file at all: the disk that it writes to is full (8 kB"));
}

TEST(Prove, AWorkerOfWhichNothingIsKnownCountsAsTheOthersDo) {
  WorkerExpectation left_out;
  left_out.name = "w0";
  left_out.url = "v";
  left_out.trouble = "connection refused";
  const Proof proof =
      Prove({left_out, AWorker("w", {"a", "b"})}, {Trace("a", 0, 2, 1), Trace("b", 1, 2, 2)});
  EXPECT_THAT(proof.Missing(), ElementsAre("w0 rank 0 (v): connection refused",
                                           "w0 rank 1 (v): connection refused"));
  EXPECT_EQ(proof.ranks.size(), 4u);
}

TEST(Prove, WhereNoStepRanTheGpuIsNotBlamed) {
  TraceEvidence idle = Trace("a");
  idle.steps = 0;
  idle.has_gpu = true;
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {idle})), HasSubstr("holds no step"));
}

TEST(Prove, ARankThatWasNeverStartedSaysSo) {
  WorkerExpectation worker = AWorker("w", {});
  worker.start_unix_ns = worker.stop_unix_ns = 0;
  EXPECT_EQ(Why(Prove({worker}, {})), "no file: its profiler was never started");
}

// Where one worker ends a recording, it comes first, and the others name it: their own files are no
// recording of what was asked for.
TEST(Prove, WhatWasGivenUpForAnotherFollowsItsCause) {
  WorkerExpectation ended = AWorker("v", {"a"});
  ended.given_up = "ended at once, because w1 (w) did not start; --keep-going records the others";
  WorkerExpectation failed = AWorker("w", {});
  failed.trouble = "did not start: out of memory";
  const Proof proof = Prove({ended, failed}, {Trace("a")});
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a"));
  EXPECT_THAT(proof.remarks, IsEmpty());
  EXPECT_THAT(proof.Missing(), ElementsAre(HasSubstr("(w): did not start"),
                                           HasSubstr("(v): ended at once, because w1")));
}

TEST(Prove, StepsThatTheUsersOwnDurationEndedAreProven) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_asked = worker.steps_bound = 100'000;
  EXPECT_THAT(Why(Prove({worker}, {Trace("a")})), HasSubstr("stopped early, or too little load"));
  worker.ended_by_time_ns = 6'000'000'000;
  EXPECT_THAT(
      Why(Prove({worker}, {Trace("a")})),
      HasSubstr("5 of the 100000 steps that were asked for were taken in the window's 6.0 s: "
                "--duration gives it longer"));
  worker.time_asked = true;
  const Proof proof = Prove({worker}, {Trace("a")});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(
      proof.remarks,
      ElementsAre(HasSubstr("5 of 100000 steps were taken before --duration (6.0 s) ended")));
}

// What Kineto's daemon brings: a file of every process that uses PyTorch.
TEST(Prove, AProcessWithoutWorkIsNoRank) {
  WorkerExpectation worker = AWorker("w", {"api", "core", "rank"});
  worker.steps_named = false;
  worker.by_daemon = true;
  TraceEvidence idle;
  idle.steps = 0;
  idle.idle = true;
  std::vector<TraceEvidence> traces = {idle, idle, Trace("rank")};
  traces[0].path = "api";
  traces[1].path = "core";
  traces[2].rank.reset();
  traces[2].world_size.reset();
  Proof proof = Prove({worker}, traces);
  ASSERT_EQ(proof.ranks.size(), 1u);
  EXPECT_TRUE(proof.complete) << Why(proof);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("rank"));
  EXPECT_THAT(proof.extra, ElementsAre("api", "core"));

  traces.pop_back();
  EXPECT_FALSE(Prove({worker}, traces).complete);
  traces.push_back(Trace("rank"));
  traces[2].idle = true;  // its name tells the rank
  proof = Prove({worker}, traces);
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(Why(proof), HasSubstr("holds no work"));
}

TEST(Prove, NothingProvesNothing) {
  EXPECT_FALSE(Prove({}, {}).complete);
  Proof proof = Prove({AWorker("w", {})}, {});
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(Why(proof), HasSubstr("no file at all"));
}

// As the router has them; a rank without a file is called as its fellows are.
TEST(Prove, WorkersStayInOrderAndRanksAreCalledAsInTheTables) {
  WorkerExpectation first = AWorker("z", {"a", "b"}), second = AWorker("a", {"c"});
  first.name = "w0";
  second.name = "w1";
  first.facts.tensor_parallel = second.facts.tensor_parallel = 2;
  std::vector<TraceEvidence> traces = {Trace("a", 0, 2, 1), Trace("b", 1, 2, 2),
                                       Trace("c", 0, 2, 3)};
  for (TraceEvidence& trace : traces) trace.identity.tensor = trace.rank;
  traces[0].identity.stage = "prefill";
  const Proof proof = Prove({first, second}, traces);
  std::vector<std::string> names;
  for (const RankProof& rank : proof.ranks) names.push_back(rank.identity.Name());
  EXPECT_THAT(names, ElementsAre("w0 TP0", "w0 TP1", "w1 TP0", "w1 TP1"));
  EXPECT_THAT(proof.Missing(), ElementsAre(HasSubstr("w1 TP1 (a): no file")));
}

TEST(Prove, AWorkerThatToldNothingHasRanksCalledAsTheOthersAre) {
  WorkerExpectation left_out, other = AWorker("w", {"a", "b"});
  left_out.name = "w1";
  left_out.url = "v";
  left_out.trouble = "connection refused";
  other.name = "w0";
  other.facts.tensor_parallel = 2;
  const Proof proof = Prove({other, left_out}, {Trace("a", 0, 2, 1), Trace("b", 1, 2, 2)});
  EXPECT_THAT(proof.Missing(),
              ElementsAre("w1 TP0 (v): connection refused", "w1 TP1 (v): connection refused"));
}

TEST(Prove, AMissingRankOfAWorldIsNamed) {
  Proof proof = Prove({AWorker("w", {"a", "b"})}, {Trace("a", 0, 3, 1), Trace("b", 2, 3, 3)});
  EXPECT_FALSE(proof.complete);
  ASSERT_EQ(proof.ranks.size(), 3u);
  EXPECT_TRUE(proof.ranks[0].proven);
  EXPECT_FALSE(proof.ranks[1].proven);
  EXPECT_TRUE(proof.ranks[2].proven);
  EXPECT_THAT(proof.Missing(), ElementsAre(HasSubstr("rank 1 (w): no file of this rank")));
}

TEST(Prove, ToldSizesCountMoreThanTheFiles) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.facts.tensor_parallel = 2;
  EXPECT_EQ(Prove({worker}, {Trace("a")}).ranks.size(), 2u);
}

TEST(Prove, AFileWithoutAStepProvesNothing) {
  TraceEvidence empty = Trace("a");
  empty.steps = 0;
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {empty})), HasSubstr("holds no step"));
  WorkerExpectation idle = AWorker("w", {"a"});
  idle.steps_by_metrics = {0};
  EXPECT_THAT(Why(Prove({idle}, {empty})), HasSubstr("no request reached"));
}

TEST(Prove, FewerStepsThanAskedAreNamed) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.steps_asked = 6;
  EXPECT_THAT(Why(Prove({worker}, {Trace("a")})), HasSubstr("5 of the 6 steps"));
  TraceEvidence with_empty = Trace("a");
  with_empty.empty_steps = 1;
  EXPECT_TRUE(Prove({worker}, {with_empty}).complete) << "the engine took six";
  worker.steps_asked = 5;
  EXPECT_TRUE(Prove({worker}, {Trace("a")}).complete);
}

TEST(Prove, CutFilesAndMissingGpuEventsAreNoProof) {
  TraceEvidence cut = Trace("a");
  cut.defect = "truncated: half an event at its end";
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {cut})), HasSubstr("truncated"));
  TraceEvidence blind = Trace("a");
  blind.has_gpu = true;
  EXPECT_THAT(Why(Prove({AWorker("w", {"a"})}, {blind})), HasSubstr("no GPU event"));
}

TEST(Prove, AnOlderSessionsFileIsForeign) {
  TraceEvidence old = Trace("old");
  old.first_unix_ns = kStart - 100'000'000'000;
  old.last_unix_ns = kStart - 50'000'000'000;
  Proof proof = Prove({AWorker("w", {"old"})}, {old});
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(proof.foreign, ElementsAre("old"));
  // The same file from a machine whose clock is a minute behind is of this session.
  WorkerExpectation behind = AWorker("w", {"old"});
  behind.facts.clock_offset_ns = -60'000'000'000;
  EXPECT_TRUE(Prove({behind}, {old}).complete);
}

TEST(Prove, FrontEndsAndMergedFilesAreExtra) {
  TraceEvidence front = Trace("f");
  front.front_end = true;
  TraceEvidence merged = Trace("m");
  merged.merged = true;
  Proof proof = Prove({AWorker("w", {"a", "f", "m"})}, {Trace("a"), front, merged});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(proof.extra, ElementsAre("f", "m"));
  EXPECT_FALSE(Prove({AWorker("w", {"f"})}, {front}).complete);
}

TEST(Prove, DataParallelEnginesThatAllSayRankZeroAreToldApartByProcess) {
  WorkerExpectation worker = AWorker("w", {"a", "b"});
  worker.steps_by_metrics = {0, 40};
  TraceEvidence idle = Trace("a", 0, 1, 11), busy = Trace("b", 0, 1, 22);
  idle.steps = 0;
  busy.steps = 40;
  Proof proof = Prove({worker}, {idle, busy});
  ASSERT_EQ(proof.ranks.size(), 2u);
  EXPECT_THAT(proof.ranks[1].paths, ElementsAre("b"));
  EXPECT_TRUE(proof.ranks[1].proven);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a"));
  EXPECT_THAT(proof.ranks[0].why,
              HasSubstr("no request reached this engine in the window (drive every"));
  Proof lost = Prove({worker}, {busy});
  EXPECT_FALSE(lost.ranks[0].proven);
  EXPECT_THAT(lost.ranks[0].why, HasSubstr("took no step"));
}

TEST(Prove, StagesOfARankAreOneRank) {
  WorkerExpectation worker = AWorker("w", {"a-EXTEND", "a-DECODE"});
  worker.by_stage = true;
  worker.steps_asked = 3;
  TraceEvidence extend = Trace("a-EXTEND"), decode = Trace("a-DECODE");
  extend.steps = 1;
  decode.steps = 3;
  Proof proof = Prove({worker}, {extend, decode});
  EXPECT_TRUE(proof.complete);
  ASSERT_EQ(proof.ranks.size(), 1u);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a-DECODE", "a-EXTEND"));
  EXPECT_THAT(Why(Prove({worker}, {decode})), HasSubstr("one stage only"));
  EXPECT_EQ(proof.ranks[0].steps, 4u);
}

TEST(Prove, WorkersThatShareAFolderAreToldApartByTheirProcesses) {
  WorkerExpectation one = AWorker("w1", {"a", "b"}), two = AWorker("w2", {"a", "b"});
  one.pids = {7, 8};
  two.pids = {9};
  Proof proof = Prove({one, two}, {Trace("a", 0, 1, 9), Trace("b", 0, 1, 8)});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("b"));
  EXPECT_THAT(proof.ranks[1].paths, ElementsAre("a"));
}

TEST(Prove, TroubleWithAStartIsTheCause) {
  WorkerExpectation worker = AWorker("w", {});
  worker.trouble = "died while it wrote";
  EXPECT_EQ(Why(Prove({worker}, {})), "died while it wrote");
}

TEST(Prove, TheOrderOfFilesDoesNotMatter) {
  WorkerExpectation worker = AWorker("w", {"a", "b", "c", "d"});
  worker.facts.tensor_parallel = 2;
  worker.facts.data_parallel = 2;
  std::vector<TraceEvidence> traces = {Trace("a", 0, 2, 1), Trace("b", 1, 2, 2),
                                       Trace("c", 0, 2, 3), Trace("d", 1, 2, 4)};
  auto text = [&] {
    std::string all;
    for (const RankProof& rank : Prove({worker}, traces).ranks)
      all += std::to_string(rank.engine) + "/" + std::to_string(rank.rank) + rank.paths.at(0) + " ";
    return all;
  };
  std::string first = text();
  std::sort(traces.begin(), traces.end(), [](auto& a, auto& b) { return a.path < b.path; });
  do EXPECT_EQ(text(), first);
  while (std::next_permutation(traces.begin(), traces.end(),
                               [](auto& a, auto& b) { return a.path < b.path; }));
}

}  // namespace
}  // namespace tacho
