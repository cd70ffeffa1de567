#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "export/export_window.h"
#include "export/folded_stacks.h"
#include "export/speedscope.h"
#include "export/text_sink_for_test.h"
#include "export/torch_stacks.h"
#include "query/query_for_test.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

std::unique_ptr<QueriedRun> RunOfOne(TraceBuilder builder) {
  std::vector<Trace> traces;
  traces.push_back(std::move(builder).Finish());
  return RunOfTraces(std::move(traces));
}

// A Python function that calls an operator, which launches a kernel.
TraceBuilder LaunchBelowPython() {
  TraceBuilder builder;
  builder.NameProcess("1", "python");
  builder.Host("python_function", "f.py(1): main; x", {.start = 0, .duration = 90'000});
  builder.Host("python_function", "g.py(2): g", {.start = 10'000, .duration = 60'000});
  builder.Host("cpu_op", "aten::mm", {.start = 20'000, .duration = 40'000});
  builder.Host("cuda_runtime", "cudaLaunchKernel",
               {.start = 30'000, .duration = 5'000, .correlation = 4});
  builder.Kernel("gemm", {.start = 50'000, .duration = 7'000, .correlation = 4});
  builder.Kernel("lost", {.start = 60'000, .duration = 3'000});
  return builder;
}

std::string Folded(const QueriedRun& run, StackTime time, Interval window = kAllTime) {
  TextSink text;
  WriteFoldedStacks(run, std::vector<Interval>{window}, time, text);
  return text.text;
}

TEST(FoldedStacks, SelfTimeOfTheHost) {
  const auto run = RunOfOne(LaunchBelowPython());
  const std::string main = "trace 0;1 python;1;f.py(1): main: x";
  EXPECT_EQ(Folded(*run, StackTime::kCpu), main + " 30000\n" + main + ";g.py(2): g 20000\n" + main +
                                               ";g.py(2): g;aten::mm 35000\n" + main +
                                               ";g.py(2): g;aten::mm;cudaLaunchKernel 5000\n");
  EXPECT_EQ(Folded(*run, StackTime::kCpu, {{15'000}, {25'000}}),
            main + ";g.py(2): g 5000\n" + main + ";g.py(2): g;aten::mm 5000\n");
}

TEST(FoldedStacks, GpuWorkBelowItsLaunch) {
  const auto run = RunOfOne(LaunchBelowPython());
  EXPECT_EQ(Folded(*run, StackTime::kGpu),
            "trace 0;1 python;1;f.py(1): main: x;g.py(2): g;aten::mm;cudaLaunchKernel;gemm 7000\n"
            "trace 0;(no launch in the trace);lost 3000\n");
}

TEST(TorchStacks, LinesOfPythonFunctions) {
  const auto run = RunOfOne(LaunchBelowPython());
  TextSink cpu, gpu;
  const std::vector<Interval> all = {kAllTime};
  EXPECT_EQ(WriteTorchStacks(*run, all, StackTime::kCpu, cpu), 3u);
  EXPECT_EQ(cpu.text,
            "f.py(1):_main__x 20\nf.py(1):_main__x;g.py(2):_g 35\nf.py(1):_main__x;g.py(2):_g 5\n");
  EXPECT_EQ(WriteTorchStacks(*run, all, StackTime::kGpu, gpu), 1u);
  EXPECT_EQ(gpu.text, "f.py(1):_main__x;g.py(2):_g 7\n");
}

// Whatever names there are, each line is a stack and a number, in UTF-8.
TEST(FoldedStacks, AnyNames) {
  const std::string names[] = {"a;b",  "two\nlines", "",  "\xff\xfe",
                               "x 12", "tab\t",      " ", "\x7f\x1b[0m"};
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    for (int64_t i = 0; i < 100; ++i) {
      const char* const kinds[] = {"python_function", "cpu_op", "user_annotation", "cuda_runtime"};
      builder.Host(kinds[random() % 4], names[random() % 8],
                   {.pid = names[random() % 2],
                    .tid = names[random() % 8],
                    .start = static_cast<int64_t>(random() % 9000),
                    .duration = static_cast<int64_t>(random() % 9000),
                    .correlation = i});
      builder.Kernel(
          names[random() % 8],
          {.start = static_cast<int64_t>(random() % 9000), .duration = 9, .correlation = i});
    }
    const auto run = RunOfOne(std::move(builder));
    int64_t gpu = 0;
    for (const StackTime time : {StackTime::kCpu, StackTime::kGpu}) {
      TextSink torch;
      WriteTorchStacks(*run, std::vector<Interval>{kAllTime}, time, torch);
      for (const std::string& text : {Folded(*run, time), torch.text}) {
        EXPECT_TRUE(IsUtf8(text));
        EXPECT_TRUE(text.empty() || LooksFolded(text)) << text;
      }
    }
    std::string text = Folded(*run, StackTime::kGpu);
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      gpu += std::stoll(text.substr(text.substr(0, end).rfind(' ') + 1));
      text.erase(0, end + 1);
    }
    EXPECT_EQ(gpu, 900);
  }
}

TEST(FoldedStacks, AreKnownAgain) {
  EXPECT_TRUE(LooksFolded("a;b c 12\nd 3\ncut o"));
  EXPECT_TRUE(LooksFolded("a 1\n"));
  EXPECT_FALSE(LooksFolded("a;b of mine\n"));
  EXPECT_FALSE(LooksFolded("a 1\nb -1\n"));
  EXPECT_FALSE(LooksFolded("12\n"));
  EXPECT_FALSE(LooksFolded(""));
}

TEST(Speedscope, OverlapsAreProfilesOfTheirOwn) {
  TraceBuilder builder;
  builder.Kernel("a", {.start = 0, .duration = 10});
  builder.Kernel("b \"\xff", {.start = 5, .duration = 10});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  TextSink text, full;
  const std::vector<ExportedRank> all = {{ranks[0].get(), 0, kAllTime, "rank 0"}};
  EXPECT_TRUE(WriteSpeedscope(all, text));
  const std::string want =
      std::string(kSpeedscopeBegin) +
      ",\n\"profiles\":[\n"
      R"x({"type":"evented","name":"rank 0 0 stream 7","unit":"nanoseconds","startValue":0,)x"
      R"x("events":[{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":10}],)x"
      "\"endValue\":10},\n"
      R"x({"type":"evented","name":"rank 0 0 stream 7 (2)","unit":"nanoseconds","startValue":5,)x"
      R"x("events":[{"type":"O","frame":1,"at":5},{"type":"C","frame":1,"at":15}],)x"
      "\"endValue\":15}\n],\n\"shared\":{\"frames\":[\n{\"name\":\"a\"},\n"
      "{\"name\":\"b \\\"\xef\xbf\xbd\"}\n]}}\n";
  EXPECT_EQ(text.text, want);
  full.most = 10;
  EXPECT_FALSE(WriteSpeedscope(all, full));
}

}  // namespace
}  // namespace tacho
