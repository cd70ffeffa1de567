#include "session/proof/proof.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "session/proof/proof_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Prove, OneWorkerOneRank) {
  Proof proof = Prove({AWorker("w", {"a"})}, {ATrace("a")});
  EXPECT_TRUE(proof.complete);
  ASSERT_EQ(proof.ranks.size(), 1u);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a"));
  EXPECT_EQ(proof.ranks[0].steps, 5u);
  EXPECT_THAT(Missing(proof), IsEmpty());
}

TEST(Prove, AWorkerOfWhichNothingIsKnownCountsAsTheOthersDo) {
  WorkerExpectation left_out;
  left_out.name = "w0";
  left_out.url = "v";
  left_out.trouble = Failed("connection refused");
  const Proof proof =
      Prove({left_out, AWorker("w", {"a", "b"})}, {ATrace("a", 0, 2, 1), ATrace("b", 1, 2, 2)});
  EXPECT_THAT(Missing(proof), ElementsAre("w0 rank 0 (v): connection refused",
                                          "w0 rank 1 (v): connection refused"));
  EXPECT_EQ(proof.ranks.size(), 4u);
}

// If one worker's trouble ends a recording, that worker comes first and the others name it: their
// own files do not record what was asked for.
TEST(Prove, WhatWasGivenUpForAnotherFollowsItsCause) {
  WorkerExpectation ended = AWorker("v", {"a"});
  ended.given_up = Finding{FindingId::kGivenUp, "", "ended at once, because w1 (w) did not start"};
  WorkerExpectation failed = AWorker("w", {});
  failed.trouble = Failed("did not start: out of memory");
  const Proof proof = Prove({ended, failed}, {ATrace("a")});
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a"));
  EXPECT_THAT(Remarks(proof), IsEmpty());
  EXPECT_THAT(Missing(proof), ElementsAre(HasSubstr("(w): did not start"),
                                          HasSubstr("(v): ended at once, because w1")));
}

// Kineto's daemon brings a file of every process that uses PyTorch.
TEST(Prove, AProcessWithoutWorkIsNoRank) {
  WorkerExpectation worker = AWorker("w", {"api", "core", "rank"});
  worker.steps_named = false;
  worker.idle_processes_write = true;
  TraceEvidence idle;
  idle.steps = 0;
  idle.idle = true;
  std::vector<TraceEvidence> traces = {idle, idle, ATrace("rank")};
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
  traces.push_back(ATrace("rank"));
  traces[2].idle = true;  // the file's name contains the rank
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

// Workers keep the router's order; a rank without a file is named like the other ranks.
TEST(Prove, WorkersStayInOrderAndRanksAreCalledAsInTheTables) {
  WorkerExpectation first = AWorker("z", {"a", "b"}), second = AWorker("a", {"c"});
  first.name = "w0";
  second.name = "w1";
  first.facts.tensor_parallel = second.facts.tensor_parallel = 2;
  std::vector<TraceEvidence> traces = {ATrace("a", 0, 2, 1), ATrace("b", 1, 2, 2),
                                       ATrace("c", 0, 2, 3)};
  for (TraceEvidence& trace : traces) trace.identity.tensor = trace.rank;
  traces[0].identity.stage = "prefill";
  const Proof proof = Prove({first, second}, traces);
  std::vector<std::string> names;
  for (const RankProof& rank : proof.ranks) names.push_back(rank.identity.Name());
  EXPECT_THAT(names, ElementsAre("w0 TP0", "w0 TP1", "w1 TP0", "w1 TP1"));
  EXPECT_THAT(Missing(proof), ElementsAre(HasSubstr("w1 TP1 (a): no file")));
}

TEST(Prove, AWorkerThatToldNothingHasRanksCalledAsTheOthersAre) {
  WorkerExpectation left_out, other = AWorker("w", {"a", "b"});
  left_out.name = "w1";
  left_out.url = "v";
  left_out.trouble = Failed("connection refused");
  other.name = "w0";
  other.facts.tensor_parallel = 2;
  const Proof proof = Prove({other, left_out}, {ATrace("a", 0, 2, 1), ATrace("b", 1, 2, 2)});
  EXPECT_THAT(Missing(proof),
              ElementsAre("w1 TP0 (v): connection refused", "w1 TP1 (v): connection refused"));
}

TEST(Prove, AMissingRankOfAWorldIsNamed) {
  Proof proof = Prove({AWorker("w", {"a", "b"})}, {ATrace("a", 0, 3, 1), ATrace("b", 2, 3, 3)});
  EXPECT_FALSE(proof.complete);
  ASSERT_EQ(proof.ranks.size(), 3u);
  EXPECT_TRUE(proof.ranks[0].proven);
  EXPECT_FALSE(proof.ranks[1].proven);
  EXPECT_TRUE(proof.ranks[2].proven);
  EXPECT_THAT(Missing(proof), ElementsAre(HasSubstr("rank 1 (w): no file of this rank")));
}

TEST(Prove, ToldSizesCountMoreThanTheFiles) {
  WorkerExpectation worker = AWorker("w", {"a"});
  worker.facts.tensor_parallel = 2;
  EXPECT_EQ(Prove({worker}, {ATrace("a")}).ranks.size(), 2u);
}

TEST(Prove, AnOlderSessionsFileIsForeign) {
  TraceEvidence old = ATrace("old");
  old.first_unix_ns = kProofStart - 100'000'000'000;
  old.last_unix_ns = kProofStart - 50'000'000'000;
  Proof proof = Prove({AWorker("w", {"old"})}, {old});
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(proof.foreign, ElementsAre("old"));
  // The same file from a machine whose clock is a minute behind is of this session.
  WorkerExpectation behind = AWorker("w", {"old"});
  behind.facts.clock_offset_ns = -60'000'000'000;
  EXPECT_TRUE(Prove({behind}, {old}).complete);
}

TEST(Prove, FrontEndsAndMergedFilesAreExtra) {
  TraceEvidence front = ATrace("f");
  front.front_end = true;
  TraceEvidence merged = ATrace("m");
  merged.merged = true;
  Proof proof = Prove({AWorker("w", {"a", "f", "m"})}, {ATrace("a"), front, merged});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(proof.extra, ElementsAre("f", "m"));
  EXPECT_FALSE(Prove({AWorker("w", {"f"})}, {front}).complete);
}

TEST(Prove, DataParallelEnginesThatAllSayRankZeroAreToldApartByProcess) {
  WorkerExpectation worker = AWorker("w", {"a", "b"});
  worker.steps_by_metrics = {0, 40};
  TraceEvidence idle = ATrace("a", 0, 1, 11), busy = ATrace("b", 0, 1, 22);
  idle.steps = 0;
  busy.steps = 40;
  Proof proof = Prove({worker}, {idle, busy});
  ASSERT_EQ(proof.ranks.size(), 2u);
  EXPECT_THAT(proof.ranks[1].paths, ElementsAre("b"));
  EXPECT_TRUE(proof.ranks[1].proven);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a"));
  EXPECT_THAT(Why(proof, 0),
              HasSubstr("no request reached this engine in the window (drive every"));
  Proof lost = Prove({worker}, {busy});
  EXPECT_FALSE(lost.ranks[0].proven);
  EXPECT_THAT(Why(lost, 0), HasSubstr("took no step"));
}

TEST(Prove, StagesOfARankAreOneRank) {
  WorkerExpectation worker = AWorker("w", {"a-EXTEND", "a-DECODE"});
  worker.by_stage = true;
  worker.steps_asked = 3;
  TraceEvidence extend = ATrace("a-EXTEND"), decode = ATrace("a-DECODE");
  extend.steps = 1;
  decode.steps = 3;
  Proof proof = Prove({worker}, {extend, decode});
  EXPECT_TRUE(proof.complete);
  ASSERT_EQ(proof.ranks.size(), 1u);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("a-DECODE", "a-EXTEND"));
  EXPECT_THAT(Why(Prove({worker}, {decode})), HasSubstr("one stage only"));
  worker.steps_asked = 5;
  extend.stage = "prefill";
  decode.stage = "decode";
  extend.steps = 3;
  decode.steps = 5;
  const Proof short_of_prefill = Prove({worker}, {extend, decode});
  EXPECT_TRUE(short_of_prefill.complete);
  EXPECT_EQ(short_of_prefill.ranks[0].steps_of_stages,
            (std::map<std::string, uint64_t>{{"decode", 5}, {"prefill", 3}}));
  EXPECT_THAT(Remarks(short_of_prefill),
              ElementsAre(HasSubstr("its prefill stage holds 3 of the 5 steps that were asked")));
  EXPECT_EQ(proof.ranks[0].steps, 4u);
}

TEST(Prove, WorkersThatShareAFolderAreToldApartByTheirProcesses) {
  WorkerExpectation one = AWorker("w1", {"a", "b"}), two = AWorker("w2", {"a", "b"});
  one.pids = {7, 8};
  two.pids = {9};
  Proof proof = Prove({one, two}, {ATrace("a", 0, 1, 9), ATrace("b", 0, 1, 8)});
  EXPECT_TRUE(proof.complete);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("b"));
  EXPECT_THAT(proof.ranks[1].paths, ElementsAre("a"));
}

// One export holds all processes of an engine; nsys does not say which rank a process is.
TEST(Prove, OfNsysThoseProcessesAreRanksThatWork) {
  WorkerExpectation worker = AWorker("w", {"w0.sqlite"});
  worker.one_report = true;
  worker.why_no_file = Finding{FindingId::kNoFileOfRank, "", "not in the report"};
  worker.pids = {100, 101, 102};
  worker.facts.tensor_parallel = 2;
  std::vector<TraceEvidence> traces;
  for (const int64_t pid : {100, 101, 102, 999}) {
    traces.push_back(ATrace("w0.sqlite#pid=" + std::to_string(pid), 0, 1, pid));
    traces.back().rank.reset();
    traces.back().steps = 0;
    traces.back().events = static_cast<uint64_t>(pid);  // pid 999, the busiest, is no worker's
  }
  // With calls of the OS alone, the busiest processes of the worker are its ranks.
  Proof proof = Prove({worker}, traces);
  ASSERT_EQ(proof.ranks.size(), 2u);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("w0.sqlite#pid=101"));
  EXPECT_THAT(proof.ranks[1].paths, ElementsAre("w0.sqlite#pid=102"));
  EXPECT_TRUE(proof.complete);
  EXPECT_FALSE(proof.ranks[0].steps);
  // GPU work counts more than ranges, and ranges more than calls.
  traces[0].steps = traces[2].steps = 7;
  proof = Prove({worker}, traces);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("w0.sqlite#pid=100"));
  EXPECT_EQ(proof.ranks[1].steps, 7u);
  traces[1].gpu_events = 1;
  proof = Prove({worker}, traces);
  EXPECT_THAT(proof.ranks[0].paths, ElementsAre("w0.sqlite#pid=101"));
  EXPECT_THAT(Missing(proof), ElementsAre(HasSubstr("not in the report")));
}

// The file is whole and proves its rank, but the recording is incomplete.
TEST(Prove, ARankWhoseProfilerLostRowsIsProvenAndTheRecordingIncomplete) {
  TraceEvidence lossy = ATrace("a");
  lossy.loss = "lost-at-edge: the work of the first calls is missing";
  const Proof proof = Prove({AWorker("w", {"a"})}, {lossy});
  EXPECT_TRUE(proof.ranks.at(0).proven);
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(TextsOf(proof.remarks, true),
              ElementsAre("rank 0 (w): lost-at-edge: the work of the first calls is missing"));
  EXPECT_THAT(Remarks(proof), IsEmpty());
}

// No rank owes a front end's file.
TEST(Prove, AnExtraFileThatIsNotWholeIsNamed) {
  TraceEvidence front = ATrace("f");
  front.front_end = true;
  front.defect = Note{.id = NoteId::kTruncatedJson, .where = "byte 10"};
  const Proof proof = Prove({AWorker("w", {"a", "f"})}, {ATrace("a"), front});
  EXPECT_FALSE(proof.complete);
  EXPECT_THAT(TextsOf(proof.remarks, true), ElementsAre(HasSubstr("truncated-json (byte 10): f")));
}

TEST(Prove, TheOrderOfFilesDoesNotMatter) {
  WorkerExpectation worker = AWorker("w", {"a", "b", "c", "d"});
  worker.facts.tensor_parallel = 2;
  worker.facts.data_parallel = 2;
  std::vector<TraceEvidence> traces = {ATrace("a", 0, 2, 1), ATrace("b", 1, 2, 2),
                                       ATrace("c", 0, 2, 3), ATrace("d", 1, 2, 4)};
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
