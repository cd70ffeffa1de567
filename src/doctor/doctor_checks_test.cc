#include "doctor/doctor_checks.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "doctor/doctor_workers.h"

namespace tacho {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> NamesOf(const std::vector<Diagnosis>& found) {
  std::vector<std::string> names;
  for (const Diagnosis& one : found) names.push_back(one.id);
  return names;
}

const CheckOutcome* OutcomeOf(const std::vector<CheckOutcome>& outcomes, std::string_view id) {
  const auto at = std::ranges::find_if(
      outcomes, [&](const CheckOutcome& outcome) { return outcome.page->id == id; });
  return at == outcomes.end() ? nullptr : &*at;
}

// Each of a check's findings makes the check kFound; its looks without a finding make it kClear.
TEST(JudgeChecks, EachCheckIsFoundByItsFindingsAndClearWithoutThem) {
  for (const CheckPage& page : CheckPages()) {
    Examination examination;
    for (const Look look : page.looks) examination.looked.push_back({look, "here"});
    const auto clear = JudgeChecks(examination);
    ASSERT_NE(OutcomeOf(clear, page.id), nullptr) << page.id;
    EXPECT_EQ(OutcomeOf(clear, page.id)->status, CheckStatus::kClear) << page.id;
    for (const std::string& id : page.findings) {
      examination.found = {{id, FindingSeverity::kNotice, "", "e", "r"}};
      const auto found = JudgeChecks(examination);
      EXPECT_EQ(OutcomeOf(found, page.id)->status, CheckStatus::kFound) << page.id << ' ' << id;
    }
  }
}

TEST(JudgeChecks, WhatCannotBeLookedAtIsNotClear) {
  Examination examination;
  EXPECT_THAT(JudgeChecks(examination), IsEmpty());
  examination.looked = {{Look::kCommand, "w0"}, {Look::kCommand, "w1", "another host"}};
  const auto outcomes = JudgeChecks(examination);
  const CheckOutcome* const nsys = OutcomeOf(outcomes, "D33");
  ASSERT_NE(nsys, nullptr);
  EXPECT_EQ(nsys->status, CheckStatus::kCannotLook);
  EXPECT_EQ(nsys->why, "w1: another host");
  EXPECT_THAT(nsys->looked_at, ElementsAre("w0"));
  EXPECT_EQ(OutcomeOf(outcomes, "D44"), nullptr) << "this host was not looked at";
  examination.looked.push_back({Look::kLog, "a.log"});
  EXPECT_EQ(OutcomeOf(JudgeChecks(examination), "D34")->status, CheckStatus::kClear)
      << "a log shows it as well";
}

TEST(JudgeChecks, LeavesOutThoseOfOtherEngines) {
  Examination examination;
  examination.looked = {{Look::kLog, "a.log"}};
  examination.found = {{"trace-folder-bad", FindingSeverity::kNotice, "", "e", "r"}};
  EXPECT_THAT(examination.ChecksOf("trace-folder-bad"), ElementsAre("D10", "D41"));
  examination.engines = {"vllm"};
  EXPECT_THAT(examination.ChecksOf("trace-folder-bad"), ElementsAre("D10"));
  EXPECT_EQ(OutcomeOf(JudgeChecks(examination), "D41"), nullptr);
  EXPECT_THAT(examination.ChecksOf("being-profiled"), IsEmpty());
  examination.engines = {"vllm", "sglang"};
  EXPECT_NE(OutcomeOf(JudgeChecks(examination), "D41"), nullptr);
}

TEST(Examination, TheWorstComesFirstAndEachOnce) {
  Examination examination;
  examination.Add(Finding{FindingId::kFrontEndFile, "f", "e"});
  examination.Add(Finding{FindingId::kFrontEndFile, "f", "e"});
  EXPECT_FALSE(examination.SpoilsARecording());
  examination.Add(Finding{FindingId::kProfilerOff, "u", "e"});
  examination.SortBySeverity();
  EXPECT_THAT(NamesOf(examination.found), ElementsAre("profiler-off", "front-end-file"));
  EXPECT_TRUE(examination.SpoilsARecording());
}

TEST(CheckTrace, NotesWithTheirRemedies) {
  TraceAnalysis trace;
  trace.path = "t.json";
  EXPECT_THAT(CheckTrace(trace), IsEmpty());
  trace.notes.Add(NoteId::kTruncatedJson, "byte 7");
  trace.notes.Add(NoteId::kNoEngineStep, "");
  std::vector<Diagnosis> found = CheckTrace(trace);
  ASSERT_THAT(NamesOf(found), ElementsAre("truncated-json", "no-engine-step"));
  EXPECT_EQ(found[0].severity, FindingSeverity::kIncomplete);
  EXPECT_THAT(found[0].evidence, testing::EndsWith(" (at byte 7)"));
  EXPECT_EQ(found[1].severity, FindingSeverity::kIncomplete);
}

TEST(CheckTrace, SaysWhatItCannotShow) {
  TraceAnalysis trace;
  trace.facts.cannot_tell = {"a, because b", "c, because d"};
  const std::vector<Diagnosis> found = CheckTrace(trace);
  ASSERT_THAT(NamesOf(found), ElementsAre("not-shown"));
  EXPECT_EQ(found[0].evidence, "it cannot tell a, because b; c, because d");
  EXPECT_EQ(found[0].severity, FindingSeverity::kInfo);
}

TEST(CheckTrace, AFrontEndsFileOwesNothing) {
  TraceAnalysis trace;
  trace.facts.role = TraceRole::kFrontend;
  trace.notes.Add(NoteId::kNoGpuEvents, "");
  trace.notes.Add(NoteId::kNoEngineStep, "");
  const std::vector<Diagnosis> found = CheckTrace(trace);
  EXPECT_THAT(NamesOf(found), Contains("front-end-file"));
  for (const Diagnosis& one : found) EXPECT_EQ(one.severity, FindingSeverity::kInfo) << one.id;
}

TEST(CheckTrace, GraphLaunches) {
  TraceAnalysis trace;
  trace.launches.graphs.resize(3);
  trace.launches.graph_gpu_events = 1200;
  const std::vector<Diagnosis> found = CheckTrace(trace);
  ASSERT_THAT(NamesOf(found), ElementsAre("graphs-without-shapes"));
  EXPECT_THAT(found[0].evidence, testing::StartsWith("1,200 pieces of GPU work"));
}

TEST(KeptFindingsOf, ReadsARunAndRefusesOtherFiles) {
  EXPECT_FALSE(KeptFindingsOf(""));
  EXPECT_FALSE(KeptFindingsOf("[1]"));
  EXPECT_FALSE(KeptFindingsOf(R"({"findings":[]})"));
  const auto kept = KeptFindingsOf(
      R"({"proof":{},"workers":[{"engine":"vllm","engine_version":"0.32.0"}],"findings":[
          {"id":"disk-full","severity":"incomplete","subject":"w0","evidence":"e","remedy":"r"},
          {"id":"x","severity":"terrible"}, 7, {}]})");
  ASSERT_TRUE(kept);
  EXPECT_THAT(*kept,
              ElementsAre(Diagnosis{"disk-full", FindingSeverity::kIncomplete, "w0", "e", "r"}));
  EXPECT_EQ(KeptEngineOf(R"({"proof":{},"workers":[{"engine":"vllm"}]})").first, "vllm");
  EXPECT_EQ(KeptEngineOf(R"({"proof":{},"workers":[]})").first, "");
}

TEST(WithoutFieldsSet, NamesWhatTheEngineLacks) {
  const std::string with = R"(--profiler-config with )", few = R"( and a small "max_iterations")";
  const std::string stack = R"("torch_profiler_with_stack":false)",
                    gzip = R"("torch_profiler_use_gzip":false)",
                    table = R"("torch_profiler_dump_cuda_time_total":false)",
                    front = R"("ignore_frontend":true)";
  const std::string all = with + stack + "," + gzip + "," + table + "," + front + few;
  const auto of = [&](const std::string& profiler) {
    return WithoutFieldsSet(all, R"({"proof":{},"workers":[{"profiler":)" + profiler + "}]}");
  };
  EXPECT_EQ(of("{}"), all);
  EXPECT_EQ(of("7"), all);
  EXPECT_EQ(WithoutFieldsSet(all, ""), all);
  EXPECT_EQ(of(R"({"with_stack":true,"ignore_frontend":false})"), all);
  EXPECT_EQ(of(R"({"with_stack":false,"dump_table":false})"), with + gzip + "," + front + few);
  EXPECT_EQ(of(R"({"dump_table":false,"ignore_frontend":true})"), with + stack + "," + gzip + few);
  EXPECT_EQ(
      of(R"({"with_stack":false,"use_gzip":false,"dump_table":false,"ignore_frontend":true})"),
      R"(fewer steps: --steps N, or a smaller "max_iterations")");
  EXPECT_EQ(WithoutFieldsSet("a shorter window", R"({"proof":{},"workers":[{"profiler":{}}]})"),
            "a shorter window");
}

EngineFacts Vllm(const char* version) {
  EngineFacts facts;
  facts.kind = EngineKind::kVllm;
  facts.version = version;
  facts.profiler.has_http = facts.profiler.reads_body = true;
  facts.profiler.with_stack = false;
  facts.profiler.folder = "/";
  return facts;
}

std::vector<std::string> NamesOf(const EngineFacts& facts) {
  Examination examination;
  ExaminedWorker worker;
  worker.worker.url = "http://h:1";
  worker.facts = facts;
  ExamineWorker(worker, examination);
  return NamesOf(examination.found);
}

TEST(ExamineWorker, WhatAPreflightFinds) {
  EXPECT_THAT(NamesOf(Vllm("0.32.0")), Not(Contains("stacks-unbounded")));
  EngineFacts facts = Vllm("0.32.0");
  facts.profiler.with_stack = true;
  facts.clock_offset_ns = 5'000'000'000;
  facts.clock_error_ns = 0;
  EXPECT_THAT(NamesOf(facts),
              testing::AllOf(Contains("stacks-unbounded"), Contains("clock-offset")));
  facts.profiler.max_iterations = 5;
  EXPECT_THAT(NamesOf(facts),
              testing::AllOf(Not(Contains("stacks-unbounded")), Contains("own-bound")));
  for (const int64_t of_a_preset : {20, 1000}) {
    facts.profiler.max_iterations = of_a_preset;
    EXPECT_THAT(NamesOf(facts), Not(Contains("own-bound"))) << of_a_preset;
  }
  facts = Vllm("0.31.0");
  facts.profiler.warmup_iterations = 2;
  EXPECT_THAT(NamesOf(facts),
              testing::AllOf(Contains("schedule-once"), Contains("auto-stop-silent")));
  facts = Vllm("0.32.0");
  facts.asleep = true;
  EXPECT_THAT(NamesOf(facts), Contains("engine-asleep"));
  facts = Vllm("0.32.0");
  facts.profiler.folder = "/nowhere/at/all";
  EXPECT_THAT(NamesOf(facts), Contains("folder-not-seen"));
}

TEST(ExamineTogether, EnginesThatShareAFolder) {
  std::vector<ExaminedWorker> workers(2);
  for (ExaminedWorker& worker : workers) worker.facts = Vllm("0.31.0");
  Examination examination;
  workers[0].facts.profiler.reads_body = workers[1].facts.profiler.reads_body = false;
  ExamineTogether(workers, examination);
  EXPECT_THAT(NamesOf(examination.found), ElementsAre("shared-folder"));
  examination = {};
  workers[1].facts.profiler.folder = "/other";
  ExamineTogether(workers, examination);
  EXPECT_THAT(examination.found, IsEmpty());
}

TEST(ExamineCommand, SaysOfWhomAndWhatItCannotKnow) {
  Examination examination;
  ExamineCommand(EngineKind::kVllm, "", {"vllm", "serve", "m"}, {"VLLM_RPC_TIMEOUT=9"},
                 "http://h:1", examination);
  EXPECT_THAT(NamesOf(examination.found), ElementsAre("profiler-off", "timeout-not-read"));
  EXPECT_EQ(examination.found[0].subject, "http://h:1");
  EXPECT_EQ(examination.found[1].subject, "http://h:1: VLLM_RPC_TIMEOUT=9");
  ASSERT_EQ(examination.looked.size(), 1u);
  EXPECT_FALSE(examination.looked[0].cannot.empty()) << "the version is not known";
}

TEST(ExamineRoom, AFolderThatIsNotThereCannotBeLookedAt) {
  Examination examination;
  ExamineRoom({"/nowhere/at/all"}, examination);
  ASSERT_EQ(examination.looked.size(), 1u);
  EXPECT_FALSE(examination.looked[0].cannot.empty());
}

}  // namespace
}  // namespace tacho
