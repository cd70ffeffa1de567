#include "session/files/trace_count.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

std::string Put(const FolderForTest& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

constexpr char kHead[] = R"j({"baseTimeNanoseconds":1000000000,"traceEvents":[)j";
constexpr char kSteps[] =
    R"j({"ph":"X","cat":"user_annotation","name":"execute_context_1(8)_generation_0(0)",)j"
    R"j("pid":1,"tid":1,"ts":10,"dur":5},)j"
    R"j({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":11,"dur":3},)j"
    R"j({"ph":"X","cat":"user_annotation","name":"step[DECODE bs=3]","pid":1,"tid":1,"ts":20,)j"
    R"j("dur":7},)j"
    R"j({"ph":"X","cat":"user_annotation","name":"gpu_model_runner: forward","pid":1,"tid":1,)j"
    R"j("ts":21,"dur":2},)j"
    R"j({"ph":"X","cat":"gpu_user_annotation","name":"execute_context_1(8)_generation_0(0)",)j"
    R"j("pid":0,"tid":7,"ts":12,"dur":2},)j"
    R"j({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"x","ts":0,)j"
    R"j("dur":99}])j";

TEST(TraceCount, CountsStepsOnceAndLeavesTheProfilersOwnWindowOut) {
  const FolderForTest folder;
  const std::string text = std::string(kHead) + kSteps + "}";
  const Result<TraceCount> count = CountTrace(Put(folder, "a.json", text));
  ASSERT_TRUE(count);
  EXPECT_EQ(count->steps, 2u);
  EXPECT_EQ(count->bytes, text.size());
  EXPECT_TRUE(count->whole);
  EXPECT_EQ(count->first_unix_ns, 1'000'010'000);
  EXPECT_EQ(count->last_unix_ns, 1'000'027'000);
}

// vLLM names an empty step when all requests have ended: a session of such steps alone saw no step.
TEST(TraceCount, TellsEmptySteps) {
  const FolderForTest folder;
  const Result<TraceCount> count = CountTrace(Put(
      folder, "a.json",
      std::string(kHead) +
          R"j({"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_0(0)",)j"
          R"j("pid":1,"tid":1,"ts":1,"dur":2},)j" +
          kSteps + "}"));
  ASSERT_TRUE(count);
  EXPECT_EQ(count->steps, 3u);
  EXPECT_EQ(count->empty_steps, 1u);
}

TEST(TraceCount, WithoutItsSizeThereIsNone) {
  const FolderForTest folder;
  const std::string path = folder.At("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { Put(folder, "fifo", std::string(kHead) + kSteps + "}"); });
  const Result<TraceCount> count = CountTrace(path);
  writer.join();
  EXPECT_FALSE(count) << count->bytes;
}

TEST(TraceCount, FiguresAreOfTheLargestWholeTrace) {
  const FolderForTest folder;
  const TraceCount whole = *CountTrace(Put(folder, "a.json", std::string(kHead) + kSteps + "}"));
  const TraceCount cut = *CountTrace(Put(folder, "b.json", std::string(kHead) + kSteps));
  const TraceCount empty = *CountTrace(Put(folder, "c.json", std::string(kHead) + "]}"));
  EXPECT_FALSE(cut.whole);
  TraceCount large = cut;
  large.bytes = 1 << 30;
  const std::optional<ProfileFigures> figures = FiguresOf({empty, large, whole}, 1'002'027'000);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->steps, 2);
  EXPECT_EQ(figures->window_ns, 17'000);
  EXPECT_EQ(figures->flush_ns, 2e6);
  EXPECT_FALSE(FiguresOf({empty, cut}, 0));
  EXPECT_FALSE(FiguresOf({}, 0));
  // If the clock is off, the time of the flush is unknown.
  EXPECT_EQ(FiguresOf({whole}, 0)->flush_ns, 0);
}

}  // namespace
}  // namespace tacho
