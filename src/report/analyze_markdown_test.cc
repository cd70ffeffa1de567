#include "report/analyze_markdown.h"

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

### run/rank0.pt.trace.json.gz

GPU busy 60.0 % of 1.00 ms; the host launched late for 75.0 % of the idle time.

**Steps**

| phase | n | total us | median us | p90 us | p99 us | max us | context tok | generated |
| :-- | --: | --: | --: | --: | --: | --: | --: | --: |
| prefill | 1 | 490 | 490 | 490 | 490 | 490 | 32 | 0 |
| decode | 1 | 500 | 500 | 500 | 500 | 500 | 0 | 1 |

**Where the time goes**

| part | us | window % |
| :-- | --: | --: |
| gemm.dense | 400 | 40.0 |
| norm | 200 | 20.0 |
| copies | 50.0 | 5.0 |
| counted twice (overlap) | -50.0 | -5.0 |
| idle | 400 | 40.0 |

**Idle by cause**

| cause | us | idle % |
| :-- | --: | --: |
| host-late | 300 | 75.0 |
| unknown | 100 | 25.0 |

**Top kernels**

| name | category | total us | kernel % | count | median us | p99 us |
| :-- | :-- | --: | --: | --: | --: | --: |
| gemm&lt;128> | gemm.dense | 400 | 66.7 | 1 | 400 | 400 |
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

**Longest gaps**

| gap us | at us | cause | host did | after | before |
| --: | --: | :-- | :-- | :-- | :-- |
| 300 | 500 | host-late | aten::empty | gemm | norm |
| 100 | 900 | unknown |  | norm | Memcpy HtoD |

**Notes**

- **orphan-gpu-events** (1): GPU work whose launch lies before the window is counted as work all the same; first at stream 7
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
      row.short_name = std::string(100, 'k') + std::to_string(i);
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
  run.ranks.missing = {{1, 2}};
  run.ranks.missing_count = 2;
  const std::string text = AnalyzeMarkdown(run, {}, "1.2.3");
  EXPECT_THAT(text, HasSubstr("; 2 of 3 ranks missing.\n"));
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
