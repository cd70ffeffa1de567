#include "cli/read_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "report/analyze_json.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A folder of small traces of ranks.
class ReadRunTest : public testing::Test {
 protected:
  std::string WriteRank(int rank, int world_size, bool whole = true) const {
    const std::string text =
        R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": )" +
        std::to_string(rank) + R"(, "world_size": )" + std::to_string(world_size) +
        R"(}, "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 100.000, "dur": 40.000},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 110.000, "dur": 5.000,
   "args": {"correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 120.000, "dur": 50.000,
   "args": {"device": 0, "stream": 7, "correlation": 7}},
  {"ph": "X", "cat": "kernel", "name": "norm", "pid": 0, "tid": 7, "ts": 190.000, "dur": 10.000,
   "args": {"device": 0, "stream": 7, "correlation": 8}}
)";
    return folder_.Write("rank" + std::to_string(rank) + ".json", whole ? text + "]}" : text);
  }

  Result<Readout<RunAnalysis>> Read(ReadOptions options) const {
    const auto classifier = Classifier::Create();
    ProgressCounter counter;
    return ReadRun(options, *classifier, counter);
  }
  FolderForTest folder_;
};

TEST_F(ReadRunTest, AFolderIsARun) {
  WriteRank(0, 3);
  WriteRank(1, 3);
  const auto readout = Read({.paths = {folder_.path()}});
  ASSERT_TRUE(readout.has_value()) << readout.error().message;
  EXPECT_TRUE(readout->is_collection);
  ASSERT_THAT(readout->run.traces, SizeIs(2));
  EXPECT_THAT(readout->run.ranks.missing, ElementsAre(MissingRanks{"", 3, 1, {{2, 2}}, 1}));
  const TraceAnalysis& trace = readout->run.traces[0];
  EXPECT_EQ(trace.path, folder_.At("rank0.json"));
  EXPECT_EQ(trace.bytes, trace.json_bytes);
  ASSERT_THAT(trace.devices, SizeIs(1));
  EXPECT_EQ(trace.devices[0].busy, DurationNs{60'000});
}

TEST_F(ReadRunTest, AFolderWithOneTraceOfThreeSaysWhichAreMissing) {
  const std::string path = WriteRank(1, 3);
  const auto readout = Read({.paths = {folder_.path()}});
  ASSERT_TRUE(readout.has_value());
  EXPECT_THAT(readout->run.ranks.missing, ElementsAre(MissingRanks{"", 3, 1, {{0, 0}, {2, 2}}, 2}));
  EXPECT_THAT(AnalyzeJson(readout->run, "1"), HasSubstr("\"missing\": [0, 2]"));
  // A file on its own, or a rank that was asked for, misses none.
  EXPECT_THAT(Read({.paths = {path}})->run.ranks.missing, SizeIs(0));
  EXPECT_THAT(Read({.paths = {folder_.path()}, .rank = 1})->run.ranks.missing, SizeIs(0));
}

TEST_F(ReadRunTest, ASingleFileIsNoCollection) {
  const auto readout = Read({.paths = {WriteRank(0, 8)}});
  ASSERT_TRUE(readout.has_value());
  EXPECT_FALSE(readout->is_collection);
}

TEST_F(ReadRunTest, TheSameBytesWhateverTheThreads) {
  for (int rank = 0; rank < 6; ++rank) WriteRank(rank, 6);
  const auto one = Read({.paths = {folder_.path()}, .threads = 1});
  const auto four = Read({.paths = {folder_.path()}, .threads = 4});
  ASSERT_TRUE(one.has_value() && four.has_value());
  EXPECT_EQ(AnalyzeJson(one->run, "1"), AnalyzeJson(four->run, "1"));
}

TEST_F(ReadRunTest, OnlyTheRankThatWasAskedFor) {
  WriteRank(0, 2);
  WriteRank(1, 2);
  const auto readout = Read({.paths = {folder_.path()}, .rank = 1});
  ASSERT_TRUE(readout.has_value());
  ASSERT_THAT(readout->run.traces, SizeIs(1));
  EXPECT_EQ(readout->run.traces[0].facts.rank, 1);
}

TEST_F(ReadRunTest, OnlyAWindow) {
  const auto window = ParseWindow("20us:70us");  // from the first event at 100 us on
  const auto readout = Read({.paths = {WriteRank(0, 1)}, .window = *window});
  ASSERT_TRUE(readout.has_value());
  EXPECT_EQ(readout->run.traces[0].devices[0].window, (Interval{{120'000}, {170'000}}));
  EXPECT_EQ(readout->run.traces[0].devices[0].busy, DurationNs{50'000});
  const auto behind = Read({.paths = {WriteRank(0, 1)}, .window = *ParseWindow("1s:")});
  ASSERT_FALSE(behind.has_value());
  EXPECT_EQ(behind.error().kind, ErrorKind::kUsage);
}

TEST_F(ReadRunTest, ADeviceThatIsNotThere) {
  const auto readout = Read({.paths = {WriteRank(0, 1)}, .device = "5"});
  ASSERT_FALSE(readout.has_value());
  EXPECT_EQ(readout.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(readout.error().message, HasSubstr("no device '5' in it; devices: 0"));
}

TEST_F(ReadRunTest, DamageIsANoteAndTheRestCounts) {
  const auto readout = Read({.paths = {WriteRank(0, 1, false)}});
  ASSERT_TRUE(readout.has_value());
  EXPECT_EQ(readout->run.traces[0].notes.CountOf(NoteId::kTruncatedJson), 1u);
  EXPECT_EQ(readout->run.traces[0].devices[0].gpu_events, 2u);
}

TEST_F(ReadRunTest, AnEmptyFileInTheFolderIsAFailureAndTheRestCounts) {
  WriteRank(0, 2);
  folder_.Write("rank1.json", "");
  const auto readout = Read({.paths = {folder_.path()}});
  ASSERT_TRUE(readout.has_value());
  EXPECT_THAT(readout->run.traces, SizeIs(1));
  ASSERT_THAT(readout->failures, SizeIs(1));
  EXPECT_THAT(readout->failures[0].message, HasSubstr("rank1.json: is empty (0 bytes)"));
  EXPECT_THAT(readout->run.skipped, ElementsAre(readout->failures[0].message));
}

TEST_F(ReadRunTest, AMissingPathFailsTheWhole) {
  const auto readout = Read({.paths = {WriteRank(0, 1), folder_.At("nowhere.json")}});
  ASSERT_FALSE(readout.has_value());
  EXPECT_EQ(readout.error().kind, ErrorKind::kUnreadable);
  EXPECT_THAT(readout.error().message, HasSubstr("nowhere.json"));
}

TEST_F(ReadRunTest, SummariesCountTheSameEvents) {
  WriteRank(0, 2);
  WriteRank(1, 2);
  ProgressCounter counter;
  const auto readout = ReadSummaries({.paths = {folder_.path()}}, counter);
  ASSERT_TRUE(readout.has_value());
  ASSERT_THAT(readout->run.traces, SizeIs(2));
  EXPECT_EQ(readout->run.traces[1].events, 4u);
  EXPECT_EQ(readout->run.traces[1].rank, 1);
  EXPECT_EQ(readout->run.traces[1].devices[0].sum, DurationNs{60'000});
}

}  // namespace
}  // namespace tacho
