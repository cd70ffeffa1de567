#include "report/words/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/documents/analyze_markdown.h"
#include "report/html/html_report.h"
#include "report/json/analyze_json.h"
#include "report/results_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Redact, CodeStaysAndTextDoesNot) {
  const Redactor redactor("salt");
  for (const char* code : {"aten::mm", "vllm::all_reduce", "torch.ops._C::rms_norm.out",
                           "cudaLaunchKernel", "hipEventSynchronize", ""})
    EXPECT_EQ(redactor.Name(code), code);
  EXPECT_EQ(redactor.Name("/home/alice/vllm/v1/core.py(301): step"), "core.py(301): step");
  for (const char* text :
       {"cmpl-8f3a2b", "tell me about Alice", "alice", "/home/alice/x", "request 17: aten::mm",
        "a.py(b): c", "x.py(3): tell me about Alice", "tell me x.py(3): step", "cudad", "req_8f3a"})
    EXPECT_THAT(redactor.Name(text), testing::MatchesRegex("#[0-9a-f]+")) << text;
  EXPECT_EQ(redactor.Name("a.py(3): <listcomp>"), "a.py(3): <listcomp>");
  EXPECT_EQ(redactor.KernelName("gemm<float>(int)"), "gemm<float>(int)");
  for (const char* path : {"k_/home/alice/x.cu", "k_C:\\alice\\x.cu"})
    EXPECT_THAT(redactor.KernelName(path), testing::StartsWith("#"));
  EXPECT_EQ(redactor.Hash("a"), redactor.Hash("a"));
  EXPECT_NE(redactor.Hash("a"), Redactor("other").Hash("a"));
  EXPECT_EQ(redactor.Id("w3"), "w3");
  EXPECT_EQ(redactor.Id("0.11.0"), "0.11.0");
  EXPECT_THAT(redactor.Id("gpu-host-7"), testing::StartsWith("#"));
}

// A prompt may look like code.
TEST(Redact, AnAnnotationIsNoCode) {
  RunAnalysis run = OneTrace();
  IdleGap& gap = run.traces[0].idle.gaps[0];
  gap.host = "planted::word";
  gap.host_is_annotation = true;
  gap.host_track = "PLANTED/1";
  Drawings drawings;
  drawings.timelines.push_back({"Gap", 0, run.traces[0].span, {{"thread 1", {}}, {"", {}}}});
  for (DrawnRow& row : drawings.timelines[0].rows) {
    row.spans.push_back({0, 1, "h1", "x.py(3): planted", DrawnSpan::Name::kAnnotation});
    row.spans.push_back({0, 1, "h2", "aten::mm", DrawnSpan::Name::kCode});
    row.spans.push_back({0, 1, "w0", "gemm", DrawnSpan::Name::kKernel});
  }
  const Redactor redactor("salt");
  const RunAnalysis redacted = redactor.Redacted(std::move(run));
  EXPECT_THAT(redacted.traces[0].idle.gaps[0].host, testing::StartsWith("#"));
  EXPECT_THAT(redacted.traces[0].idle.gaps[0].host_track, testing::StartsWith("#"));
  drawings = redactor.Redacted(std::move(drawings));
  for (const DrawnRow& row : drawings.timelines[0].rows) {
    EXPECT_THAT(row.spans[0].name, testing::StartsWith("#"));
    EXPECT_EQ(row.spans[1].name, "aten::mm");
    EXPECT_EQ(row.spans[2].name, "gemm") << "also in a lane without a label";
  }
}

TEST(Redact, NoPlantedSecretIsInAnyReport) {
  const std::string secret = "planted-secret tell me";
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    trace.path = "/home/" + secret + "/" + trace.path;
    trace.header.producer_log = {secret};
    trace.header.trace_id = trace.header.backend = secret;
    trace.facts.engine_version = trace.facts.identity.worker = secret;
    trace.facts.process_names = {secret};
    trace.facts.by_category.emplace_back(secret, 1);
    trace.notes.Add(NoteId::kRepairedName, secret);
    trace.kernels.rows[0].name += "/home/" + secret;
    trace.ops.rows[0].name = trace.ops.rows[0].shapes = secret;
    trace.ops.key_averages.rows.push_back(trace.ops.rows[1]);
    trace.ops.key_averages.rows[0].annotation = true;
    trace.ops.key_averages.rows[0].name = secret;
    trace.idle.gaps[0].host = trace.idle.gaps[0].host_track = secret;
    trace.idle.causes[0].call = secret;
    trace.launches.apis[0].name = secret;
    trace.launches.overhead.emplace().rows = {{secret + " buffer flush", 1, {1}}};
    DeviceMemory& memory = trace.memory.devices.emplace_back();
    memory.device = "cuda 0";
    memory.peak.emplace().parts.emplace().operators = {{secret, secret, 1, 1}};
    trace.devices[0].streams[0].stream = trace.launches.queues[0].stream = secret;
  }
  for (RankRow& row : run.ranks.rows) row.path = row.identity.worker = secret;
  run.ranks.missing[0].worker = secret;
  run.ranks.blame.absent = RankBlame::Absent::kNo;
  RankBlame::Group& group = run.ranks.blame.groups.emplace_back();
  group.name = secret + ":0";
  group.ranks = {0, 1};
  run.skipped = {secret + ": no trace"};
  const Redactor redactor("salt");
  Drawings drawings;
  drawings.timelines.push_back(
      {"Gap", 0, run.traces[0].span, {{"thread " + secret, {}, DrawnRow::Of::kThread, secret}}});
  using enum DrawnSpan::Name;
  for (const DrawnSpan::Name name : {kCode, kAnnotation})
    drawings.timelines[0].rows[0].spans.push_back({0, 1, "h0", secret, name});
  drawings.timelines[0].rows[0].spans.push_back({0, 1, "w0", "/home/" + secret, kKernel});
  const RunAnalysis redacted = redactor.Redacted(std::move(run));
  EXPECT_THAT(redacted.ranks.blame.groups.at(0).name, Not(testing::IsEmpty()))
      << "a name, but another";
  const std::string html =
      HtmlReport(redacted, {.title = "r", .drawings = redactor.Redacted(drawings)});
  for (const std::string& report :
       {html, AnalyzeJson(redacted, "1"), AnalyzeMarkdown(redacted, {}, "1")}) {
    EXPECT_THAT(report, Not(HasSubstr("planted")));
    EXPECT_THAT(report, HasSubstr("aten::empty")) << "what is no secret";
  }
}

}  // namespace
}  // namespace tacho
