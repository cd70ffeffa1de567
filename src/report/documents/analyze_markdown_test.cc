#include "report/documents/analyze_markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/results_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;

TEST(AnalyzeMarkdown, OneTrace) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  EXPECT_EQ(AnalyzeMarkdown(run, {}, "1.2.3"), R"(## Where the time goes

**Findings**

| finding | cost us | share % | of | confidence | what |
| :-- | --: | --: | :-- | :-- | :-- |
| idle.host-late | 300 | 30.0 | window | at-least | the host launched late for at least 30.0 % of the window (longest gap: 300 us in aten::empty, 500 us after the first event) |
| idle.unknown | 100 | 10.0 | window | measured | idle time of unknown cause makes 10.0 % of the window (longest gap: 100 us, 900 us after the first event) |
| copies | 50.0 | 5.0 | window | measured | copies with no kernel beside them take 5.0 % of the window |

### run/rank0.pt.trace.json.gz

- trace: rank 0 of 2, vLLM 0.11.0, NVIDIA H200, 9 events, 1.23 kB (56.8 kB of JSON), 1.20 ms from first to last event
- trust: no event lost, 66.7 % of GPU work linked to a launch, 1 overlap kept, 100.0 % of kernel time classified, recorded with record\_shapes
- **verdict: GPU busy 60.0 % of 1.00 ms, 50.0 % of the 1.20 ms recorded (100 us before the first work, 100 us after the last work); the host launched late for at least 30.0 % of the window (longest gap: 300 us in aten::empty, 500 us after the first event); copies with no kernel beside them take 5.0 % of the window**

**Steps**

| phase | n | total us | median us | p99 us | max us | period us | ctx tok | gen tok | tok/s |
| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| prefill | 1 | 490 | 490 | 490 | 490 | 600 | 32 | 0 | 53,333 |
| decode | 1 | 500 | 500 | 500 | 500 |  | 0 | 1 |  |

**Where the time goes**

| part | us | window % |
| :-- | --: | --: |
| gemm.dense | 400 | 40.0 |
| norm | 200 | 20.0 |
| copies | 50.0 | 5.0 |
| counted twice (overlap) | -50.0 | -5.0 |
| idle | 400 | 40.0 |

compute 55.0 % + exposed copies 5.0 % + idle 40.0 % = window of 1.00 ms (first to last work)

**Idle by cause**

| cause | us | idle % |
| :-- | --: | --: |
| host-late | 300 | 75.0 |
| unknown | 100 | 25.0 |

**Top kernels**

| name | category | total us | kernel % | count | median us | p99 us |
| :-- | :-- | --: | --: | --: | --: | --: |
| gemm&lt;128, "x"> | gemm.dense | 400 | 66.7 | 1 | 400 | 400 |
| norm\\x1b\[31m\_kernel | norm | 200 | 33.3 | 1 | 200 | 200 |

**Top host operators**

| name | self us | self % | total us | device us | count |
| :-- | --: | --: | --: | --: | --: |
| aten::mm | 70.0 | 70.0 | 90.0 | 400 | 2 |
| aten::empty | 30.0 | 30.0 | 30.0 | 0 | 4 |

**Copies**

| kind | total us | count | bytes | GB/s | pageable |
| :-- | --: | --: | --: | --: | --: |
| HtoD | 50.0 | 1 | 1.00 MB | 20.0 | 1 |

**Launches**

3 pieces of GPU work, 2 linked to a launch, 1 without a launch in the recording; no graph launch; delay from launch to start: median 4.00 us, p99 10.0 us

**Host calls**

| call | total us | count | median ns | p99 ns | max ns |
| :-- | --: | --: | --: | --: | --: |
| cudaLaunchKernel | 12.0 | 2 | 5,000 | 7,000 | 7,000 |

**Longest gaps**

| gap | us | at us | cause | host did | before | after |
| --: | --: | --: | :-- | :-- | :-- | :-- |
| 1 | 300 | 500 | host-late | aten::empty | gemm | norm |
| 2 | 100 | 900 | unknown |  | norm | Memcpy HtoD |

**Notes**

- **orphan-gpu-events** (1): GPU work whose launch is not in the recording is counted as work all the same; first at stream 7
- cannot tell: which Python code ran, because with\_stack was off

<sub>tacho 1.2.3</sub>
)");
}

TEST(AnalyzeMarkdown, StaysBelowTheLimitAndSaysWhatIsLeftOut) {
  RunAnalysis run = TwoRanksForTest();
  for (int i = 0; i < 200; ++i) run.traces.push_back(GpuTraceForTest());
  const std::string text = AnalyzeMarkdown(run, {}, "1.2.3");
  EXPECT_LT(text.size(), kMarkdownLimit);
  EXPECT_THAT(text, HasSubstr(" more traces do not fit here"));
}

TEST(AnalyzeMarkdown, FoldsHarderRatherThanLeaveATraceOut) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    for (int i = 0; i < 1000; ++i) {
      KernelRow row = trace.kernels.rows[0];
      trace.kernels.rows.push_back(row);
    }
  }
  ScreenOptions options;
  options.top = 1'000'000;
  const std::string text = AnalyzeMarkdown(run, options, "1.2.3");
  EXPECT_LT(text.size(), kMarkdownLimit);
  EXPECT_THAT(text, HasSubstr("### run/rank1.pt.trace.json.gz"));
  EXPECT_THAT(text, HasSubstr("others]"));
  run.traces.resize(1);
  run.ranks = {};
  EXPECT_THAT(AnalyzeMarkdown(run, options, "1.2.3"), HasSubstr("Top kernels"));
}

TEST(AnalyzeMarkdown, SaysWhichRanksAreMissing) {
  RunAnalysis run = TwoRanksForTest();
  EXPECT_THAT(AnalyzeMarkdown(run, {}, "1.2.3"), HasSubstr("\nmissing: rank 2\n"));
  run.traces.resize(1);
  run.ranks.rows.resize(1);
  run.ranks.slowest.reset();  // it is gone
  run.ranks.missing = {{"", 3, 1, {{1, 2}}, 2}};
  const std::string text = AnalyzeMarkdown(run, {}, "1.2.3");
  EXPECT_THAT(text, HasSubstr("; 2 of 3 ranks missing**\n"));
  EXPECT_THAT(text, HasSubstr("\nmissing: rank 1-2 (2 in all)\n"));
}

TEST(AnalyzeMarkdown, NamesStayNames) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  run.traces[0].path = "<img src=x>_*`";
  EXPECT_THAT(AnalyzeMarkdown(run, {}, "1.2.3"), HasSubstr("### &lt;img src=x>\\_\\*\\`"));
}

}  // namespace
}  // namespace tacho
