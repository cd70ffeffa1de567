#include "report/documents/analyze_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/results_for_test.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ScreenOptions Options() {
  ScreenOptions options;
  options.command_paths = options.view_paths = "run";
  return options;
}

TEST(LeftOutFiles, NamesFiveAndCountsTheOthers) {
  std::vector<std::string> skipped;
  for (int i = 0; i < 6; ++i) skipped.push_back(std::to_string(i) + ": is empty");
  EXPECT_EQ(RenderText(LeftOutFiles(skipped, {}), {}),
            " skipped: 0: is empty\n skipped: 1: is empty\n skipped: 2: is empty\n"
            " skipped: 3: is empty\n skipped: 4: is empty\n and 1 more; --json lists all\n");
  skipped.pop_back();
  EXPECT_THAT(RenderText(LeftOutFiles(skipped, {}), {}),
              testing::EndsWith(" skipped: 4: is empty\n"));
}

TEST(LeftOutFiles, RecordingsOfGraphCaptureAreOneSentence) {
  EXPECT_EQ(RenderText(LeftOutFiles({"x: is empty"}, {"a"}), {}),
            " 1 trace of a graph capture is left out: a\n skipped: x: is empty\n");
  EXPECT_EQ(RenderText(LeftOutFiles({}, {"d", "c", "b", "a"}), {}),
            " 4 traces of a graph capture are left out: a, b, c and 1 more\n");
}

TEST(AnalyzeText, OneTrace) {
  EXPECT_EQ(AnalyzeText(OneTrace(), Options()), R"( trace    run/rank0.pt.trace.json.gz
          rank 0 of 2 · vLLM 0.11.0 · NVIDIA H200 · 9 events · 1.23 kB (56.8 kB of JSON)
          1.20 ms from first to last event
 trust    no event lost · 66.7 % of GPU work linked to a launch · 1 overlap kept
          100.0 % of kernel time classified · recorded with record_shapes

 VERDICT  GPU busy 60.0 % of 1.00 ms, 50.0 % of the 1.20 ms recorded (100 us before the first work,
          100 us after the last work); the host launched late for at least 30.0 % of the window
          (longest gap: 300 us in aten::empty, 500 us after the first event); copies with no kernel
          beside them take 5.0 % of the window

 STEPS    n  total us  median us  p99 us  max us  period us  ctx tok  gen tok   tok/s
 prefill  1       490        490     490     490        600       32        0  53,333
 decode   1       500        500     500     500                   0        1

 WHERE DEVICE TIME GOES                    us  window %   IDLE BY CAUSE             us  idle %
 gemm.dense               ████▊           400      40.0   host-late      ██████    300    75.0
 norm                     ██▍             200      20.0   unknown        ██        100    25.0
 copies                   ▋              50.0       5.0
 counted twice (overlap)                -50.0      -5.0
 idle                     ████▊           400      40.0
 compute 55.0 % + exposed copies 5.0 % + idle 40.0 % = window of 1.00 ms (first to last work)
 host-late       the host had not yet launched the next work
 unknown         its launch is missing or on another clock, or missing GPU work may have run then

 TOP KERNELS          category    total us  kernel %  count  median us  p99 us
 gemm<128, "x">       gemm.dense       400      66.7      1        400     400
 norm\x1b[31m_kernel  norm             200      33.3      1        200     200

 TOP HOST OPERATORS  self us  self %  total us  device us  count
 aten::mm               70.0    70.0      90.0        400      2
 aten::empty            30.0    30.0      30.0          0      4

 COPIES  total us  count    bytes  GB/s  pageable
 HtoD        50.0      1  1.00 MB  20.0         1

 LAUNCHES
 3 pieces of GPU work, 2 linked to a launch, 1 without a launch in the recording; no graph launch;
 delay from launch to start: median 4.00 us, p99 10.0 us
 HOST CALLS        total us  count  median ns  p99 ns  max ns
 cudaLaunchKernel      12.0      2      5,000   7,000   7,000

 LONGEST GAPS   us  at us  cause      host did     before  after
            1  300    500  host-late  aten::empty  gemm    norm
            2  100    900  unknown                 norm    Memcpy HtoD

 NOTES
 orphan-gpu-events (1): GPU work whose launch is not in the recording is counted as work all the
   same; first at stream 7
 cannot tell: which Python code ran, because with_stack was off

 VERDICT  GPU busy 60.0 % of 1.00 ms; the host launched late for at least 30.0 % of the window
          (longest gap: 300 us in aten::empty, 500 us after the first event)

next:  tacho analyze run
         --steps     every step
         --findings  what the time was lost to, dearest first
         --json      all figures, for programs
       tacho explain run finding:idle.host-late  the dearest finding in full
       tacho view run --gap 1  at the longest gap (--step N, --find KERNEL)
       tacho report run  the same as one HTML file
)");
}

TEST(AnalyzeText, SaysWhereMoreGapsAre) {
  RunAnalysis run = OneTrace();
  EXPECT_THAT(AnalyzeText(run, Options()), Not(HasSubstr("--gaps")));
  IdleTable& idle = run.traces[0].idle;
  idle.gaps.push_back(idle.gaps.back());
  idle.gaps.back().when.end = idle.gaps.back().when.start + DurationNs{2'000};
  EXPECT_THAT(
      AnalyzeText(run, Options()),
      HasSubstr("\n each other gap is less than 1 % of the idle time; --gaps lists more\n"));
}

TEST(AnalyzeText, TwoRanksOfThree) {
  EXPECT_EQ(
      AnalyzeText(TwoRanksForTest(), Options()),
      R"( run      2 traces · 2 of 3 ranks · vLLM 0.11.0 · 18 events · 2.47 kB (114 kB of JSON)
 trust    no event lost · missing: rank 2 · 66.7 % of GPU work linked to a launch · 2 overlaps kept
          100.0 % of kernel time classified

 VERDICT  GPUs busy 65.0 % of the window over 2 traces (60.0 % to 70.0 %), 54.2 % of the time
          recorded; the host launched late for at least 30.0 % of the window; rank 1 computes
          longest: 650 us, 18.2 % more than rank 0; 1 of 3 ranks missing

 RANKS   window us  busy %  compute us  exp. comm us  idle us  steps  window
 rank 0      1,000    60.0         550             0      400      2  █████████░······
 rank 1      1,000    70.0         650             0      300      2  ██████████░·····
 █ compute  ▒ exposed communication  ░ exposed copies  · idle

 STEPS, rank 1  n  total us  median us  p99 us  max us  period us  ctx tok  gen tok   tok/s
 prefill        1       490        490     490     490        600       32        0  53,333
 decode         1       500        500     500     500                   0        1

 WHERE DEVICE TIME GOES                   us  window %   IDLE BY CAUSE             us  idle %
 gemm.dense               █████▍         900      45.0   host-late      ██████▉   600    85.7
 norm                     ██▍            400      20.0   unknown        █▏        100    14.3
 copies                   ▋              100       5.0
 counted twice (overlap)                -100      -5.0
 idle                     ████▎          700      35.0
 compute 60.0 % + exposed copies 5.0 % + idle 35.0 % = window of 2.00 ms over 2 devices (each from
 first to last work)
 host-late       the host had not yet launched the next work
 unknown         its launch is missing or on another clock, or missing GPU work may have run then

 TOP KERNELS          category    total us  kernel %  count
 gemm<128, "x">       gemm.dense       900      69.2      2
 norm\x1b[31m_kernel  norm             400      30.8      2

 COPIES  total us  count    bytes  GB/s  pageable
 HtoD         100      2  2.00 MB  20.0         2

 NOTES
 orphan-gpu-events (2): GPU work whose launch is not in the recording is counted as work all the
   same; in 2 of 2 traces; first at run/rank0.pt.trace.json.gz, stream 7

next:  tacho analyze run
         --rank 1    one rank in full
         --kernels   all kernels of each trace
         --findings  what the time was lost to, dearest first
         --json      all figures, for programs
       tacho explain run finding:idle.host-late  the dearest finding in full
       tacho view run --gap 1  at the longest gap (--step N, --find KERNEL)
       tacho report run  the same as one HTML file
)");
}

TEST(AnalyzeText, OfTwoRecordingsItProposesAComparison) {
  RunAnalysis run = TwoRanksForTest();
  ScreenOptions options = Options();
  options.compare_paths = "a b";
  EXPECT_THAT(AnalyzeText(run, options), Not(HasSubstr("tacho compare"))) << "ranks of one run";
  run.ranks.recordings = 2;
  EXPECT_THAT(AnalyzeText(run, options),
              HasSubstr("\n       tacho compare a b  what changed from the first to the second\n"));
  options.compare_paths.clear();
  EXPECT_THAT(AnalyzeText(run, options), Not(HasSubstr("tacho compare")));
}

TEST(AnalyzeText, OfReplicasItSaysWhoseTheStepsAre) {
  RunAnalysis run = TwoRanksForTest();
  EXPECT_THAT(AnalyzeText(run, Options()), Not(HasSubstr("the steps of")));
  run.ranks.rows[0].rank = run.ranks.rows[0].identity.rank = 1;
  EXPECT_THAT(AnalyzeText(run, Options()),
              HasSubstr(" the steps of rank1, which computes longest"));
}

TEST(AnalyzeText, StepsOfADeviceFitEightyColumns) {
  RunAnalysis run = TwoRanksForTest();
  for (Step& step : run.traces[1].steps.steps) step.device_busy = DurationNs{1'000'000'000};
  ScreenOptions narrow = Options();
  narrow.style.width = 80;
  const std::string text = AnalyzeText(run, narrow);
  EXPECT_THAT(text, HasSubstr("device ms  host p50 us  period us  ctx tok  gen tok   tok/s\n"));
  narrow.style.width = 95;  // the columns of the longest steps matter more than the 99th percentile
  EXPECT_THAT(AnalyzeText(run, narrow), HasSubstr("host p50 us  max us  period us"));
}

TEST(AnalyzeText, OneWorkerBesideItsFrontEndHasItsOwnScreen) {
  RunAnalysis run = OneTrace();
  run.traces.emplace_back();
  run.traces[1].path = "run/async_llm.json";
  run.traces[1].facts.role = TraceRole::kFrontend;
  run.traces[1].counts.total = 7;
  const std::string text = AnalyzeText(run, Options());
  EXPECT_THAT(text, HasSubstr("GPU busy 60.0 % of 1.00 ms"));
  EXPECT_THAT(text, HasSubstr("run/async_llm.json: a front-end's trace, no device work, 7 events"));
}

TEST(AnalyzeText, OneTraceOfARunSaysWhatIsMissingAndSkipped) {
  RunAnalysis run = TwoRanksForTest();
  run.traces.resize(1);
  run.ranks.rows.resize(1);
  run.ranks.slowest.reset();
  run.ranks.missing = {{"", 3, 1, {{1, 2}}, 2}};
  run.skipped = {"run/rank1.json: is empty"};
  const std::string text = AnalyzeText(run, Options());
  EXPECT_THAT(text, HasSubstr("missing: rank 1-2 (2 in all)"));
  EXPECT_THAT(text, HasSubstr("take 5.0 % of the window; 2 of 3 ranks missing"));
  EXPECT_THAT(text, HasSubstr("skipped: run/rank1.json: is empty"));
}

TEST(AnalyzeText, NextIsWhatShowsOneTraceAlone) {
  RunAnalysis run = TwoRanksForTest();
  ScreenOptions options = Options();
  options.is_file = [](const std::string&) { return true; };
  EXPECT_THAT(AnalyzeText(run, options), HasSubstr("--rank 1    one rank in full"));
  // With two traces of one rank, --rank would select both again.
  for (RankRow& row : run.ranks.rows) row.rank = row.identity.rank = 0;
  EXPECT_THAT(AnalyzeText(run, options),
              AllOf(HasSubstr("tacho analyze run/rank1.pt.trace.json.gz  one trace in full"),
                    Not(HasSubstr("--rank "))));
  options.is_file = [](const std::string&) { return false; };  // the traces are in an archive
  EXPECT_THAT(AnalyzeText(run, options), Not(HasSubstr("trace in full")));
}

TEST(AnalyzeText, NextOfResultsIsWhatWorksWithoutTheTraces) {
  RunAnalysis run = TwoRanksForTest();
  for (RankRow& row : run.ranks.rows) row.rank = row.identity.rank = 0;
  for (TraceAnalysis& trace : run.traces) trace.results = "results.json";
  ScreenOptions options = Options();
  options.is_file = [](const std::string&) { return true; };
  EXPECT_THAT(AnalyzeText(run, options),
              AllOf(HasSubstr("tacho report run"), Not(HasSubstr("trace in full")),
                    Not(HasSubstr("tacho view"))));
}

TEST(AnalyzeText, AMergedFileIsLeftOutOfTheFigures) {
  RunAnalysis run = TwoRanksForTest();
  run.traces.push_back(GpuTraceForTest());
  run.traces[2].path = "run/merged.json";
  run.traces[2].facts.role = TraceRole::kMerged;
  const std::string text = AnalyzeText(run, Options());
  EXPECT_THAT(text, HasSubstr("3 traces, 2 of workers"));
  EXPECT_THAT(text, HasSubstr("= window of 2.00 ms over 2 devices"));
  EXPECT_THAT(text, HasSubstr("run/merged.json: several ranks merged into one file, left out"));
}

TEST(AnalyzeText, DamageIsSaidAtTheTopAndInTheNotes) {
  RunAnalysis run = OneTrace();
  run.traces[0].notes.Add(NoteId::kTruncatedJson, "byte 468110");
  const std::string text = AnalyzeText(run, Options());
  EXPECT_THAT(text, HasSubstr("trust    incomplete: totals are lower bounds (see NOTES)"));
  EXPECT_THAT(text, HasSubstr("truncated-json (1): "));
  EXPECT_THAT(text, HasSubstr("byte 468110"));
}

TEST(AnalyzeText, AnEmptyTraceHasAScreenToo) {
  RunAnalysis run;
  run.traces.emplace_back();
  run.traces[0].path = "empty.json";
  run.traces[0].notes.Add(NoteId::kNoEvents, "");
  EXPECT_THAT(AnalyzeText(run, Options()), HasSubstr("VERDICT  the file holds no event"));
}

TEST(AnalyzeText, AsciiIsAsciiAndWithoutColourNoEscapes) {
  ScreenOptions options = Options();
  options.style.unicode = false;
  for (const RunAnalysis& run : {OneTrace(), TwoRanksForTest()}) {
    for (const char c : AnalyzeText(run, options)) {
      EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
    }
  }
}

TEST(AnalyzeText, KeepsTheWidth) {
  for (const size_t width : {80u, 100u, 140u}) {
    ScreenOptions options = Options();
    options.style.width = width;
    RunAnalysis run = TwoRanksForTest();
    for (TraceAnalysis& trace : run.traces) {
      trace.kernels.rows[0].name = std::string(300, 'k');
      trace.kernels.rows[0].category = std::string(40, 'c');
      trace.ops.rows[0].name = std::string(300, 'o');
      trace.idle.gaps[0].host = trace.idle.gaps[0].before = std::string(300, 'h');
    }
    for (const std::string& text :
         {AnalyzeText(run, options),
          RenderText(TraceDocument(run.traces[0], {}, options), options.style)}) {
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST(ScopeText, NamesTheStepsThatReachBeyondTheWindow) {
  TraceAnalysis trace;
  EXPECT_EQ(ScopeText(trace), "");
  trace.scope.window = {{1'000'000}, {2'000'000}};
  trace.steps.steps.resize(3);
  EXPECT_EQ(ScopeText(trace), "only 1.00 ms to 2.00 ms of the trace");
  trace.steps.steps[0].cut = true;
  EXPECT_EQ(ScopeText(trace),
            "only 1.00 ms to 2.00 ms of the trace; 1 step reaches beyond it and is counted whole");
  trace.steps.steps[2].cut = true;
  EXPECT_THAT(ScopeText(trace), HasSubstr("; 2 steps reach beyond it and are counted whole"));
}

}  // namespace
}  // namespace tacho
