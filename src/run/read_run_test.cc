#include "run/read_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <filesystem>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct CountingProgress : RunProgress {
  void OnPlan(size_t count, uint64_t stored_bytes) override {
    traces += count;
    planned_bytes += stored_bytes;
  }
  void OnBytes(uint64_t stored_bytes) override { bytes += stored_bytes; }
  size_t traces = 0;
  uint64_t planned_bytes = 0;
  std::atomic<uint64_t> bytes = 0;
};

std::vector<std::string> Paths(const RunAnalysis& run) {
  std::vector<std::string> paths;
  for (const TraceAnalysis& trace : run.traces) paths.push_back(trace.path);
  return paths;
}

// A folder of small traces of ranks.
class ReadRunTest : public ::testing::Test {
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

  Result<Readout<RunAnalysis>> Read(const TraceChoice& choice, const ReadOptions& options = {}) {
    const auto classifier = Classifier::Create();
    return ReadRun(choice, options, *classifier, progress_);
  }
  // Writes the trace of a rank, at `hour`, into a folder that may have the name of a session.
  std::string WriteSession(const std::string& folder, int hour, int rank = 0) const {
    const std::string ts = std::to_string(hour * 3600LL * 1'000'000);
    const std::string rank_text = std::to_string(rank);
    return folder_.Write(
        folder + "/rank" + rank_text + ".json",
        R"({"schemaVersion": 1, "baseTimeNanoseconds": 0, "distributedInfo": {"rank": )" +
            rank_text + R"(, "world_size": 1}, "traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" +
            ts + R"(, "dur": 50, "args": {"device": 0, "stream": 7}}]})");
  }
  FolderForTest folder_;
  CountingProgress progress_;
};

// Stops the reading once a quarter of it is read.
struct StoppingProgress : CountingProgress {
  [[nodiscard]] bool IsStopped() const override { return bytes >= planned_bytes / 4; }
};

TEST_F(ReadRunTest, AStopEndsTheReadingWithinAFile) {
  std::string text =
      R"({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1})";
  while (text.size() < size_t{64} << 20)
    text += R"(,{"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 100, "dur": 40})";
  const std::string path = folder_.Write("large.json", text + "]}");
  const auto classifier = Classifier::Create();
  StoppingProgress progress;
  const auto readout = ReadRun({.paths = {path}, .threads = 1}, {}, *classifier, progress);
  ASSERT_FALSE(readout.has_value());
  EXPECT_EQ(readout.error().kind, ErrorKind::kInterrupted);
  EXPECT_GT(progress.bytes, 0U);
  EXPECT_LT(progress.bytes, progress.planned_bytes * 3 / 4);
}

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
  // A single file, or a rank that was asked for, misses no others.
  EXPECT_THAT(Read({.paths = {path}})->run.ranks.missing, SizeIs(0));
  EXPECT_THAT(Read({.paths = {path}, .is_run = true})->run.ranks.missing, SizeIs(1));
  EXPECT_THAT(Read({.paths = {folder_.path()}, .ranks = {1}})->run.ranks.missing, SizeIs(0));
}

TEST_F(ReadRunTest, ASingleFileIsNoCollection) {
  const auto readout = Read({.paths = {WriteRank(0, 8)}});
  ASSERT_TRUE(readout.has_value());
  EXPECT_FALSE(readout->is_collection);
}

TEST_F(ReadRunTest, TheSameOrderWhateverTheThreads) {
  for (int rank = 0; rank < 6; ++rank) WriteRank(rank, 6);
  const auto one = Read({.paths = {folder_.path()}, .threads = 1});
  const auto four = Read({.paths = {folder_.path()}, .threads = 4});
  ASSERT_TRUE(one.has_value() && four.has_value());
  EXPECT_EQ(Paths(one->run), Paths(four->run));
  EXPECT_THAT(Paths(one->run), SizeIs(6));
}

TEST_F(ReadRunTest, OnlyTheRankThatWasAskedFor) {
  WriteRank(0, 2);
  WriteRank(1, 2);
  const auto readout = Read({.paths = {folder_.path()}, .ranks = {1}});
  ASSERT_TRUE(readout.has_value());
  ASSERT_THAT(readout->run.traces, SizeIs(1));
  EXPECT_EQ(readout->run.traces[0].facts.rank, 1);
}

TEST_F(ReadRunTest, OnlyAWindow) {
  const TraceWindow window{DurationNs{20'000}, DurationNs{70'000}};  // the first event is at 100 us
  const auto readout = Read({.paths = {WriteRank(0, 1)}}, {.window = window});
  ASSERT_TRUE(readout.has_value());
  EXPECT_EQ(readout->run.traces[0].devices[0].window, (Interval{{120'000}, {170'000}}));
  EXPECT_EQ(readout->run.traces[0].devices[0].busy, DurationNs{50'000});
  const auto after = Read({.paths = {WriteRank(0, 1)}},
                          {.window = TraceWindow{DurationNs{1'000'000'000}, std::nullopt}});
  ASSERT_TRUE(after.has_value());
  EXPECT_THAT(after->run.traces, IsEmpty());
  EXPECT_EQ(after->seen.at(0).lacks, SeenTrace::Lacks::kWindow);
}

// One reading is enough to say what there is instead.
TEST_F(ReadRunTest, ADeviceOrARankThatIsNotThere) {
  for (int rank = 0; rank < 3; ++rank) WriteRank(rank, 3);
  const auto device = Read({.paths = {folder_.path()}}, {.device = "5"});
  ASSERT_TRUE(device.has_value());
  EXPECT_THAT(device->run.traces, IsEmpty());
  ASSERT_THAT(device->seen, SizeIs(3));
  EXPECT_EQ(device->seen[0].lacks, SeenTrace::Lacks::kDevice);
  EXPECT_THAT(device->seen[0].devices, ElementsAre("0"));
  EXPECT_EQ(progress_.bytes, progress_.planned_bytes);

  const auto rank = Read({.paths = {folder_.path()}, .ranks = {7}});
  ASSERT_TRUE(rank.has_value());
  EXPECT_THAT(rank->run.traces, IsEmpty());
  ASSERT_THAT(rank->seen, SizeIs(3));
  EXPECT_EQ(rank->seen[2].lacks, SeenTrace::Lacks::kRank);
  EXPECT_EQ(rank->seen[2].rank, 2);
  EXPECT_EQ(progress_.traces, 6u) << "two readings of three";
  EXPECT_EQ(progress_.bytes, progress_.planned_bytes);
}

TEST_F(ReadRunTest, OfSessionsWithNamesOnlyTheChosenOneIsOpened) {
  const std::string early = WriteSession("tacho-20261121-080000", 0);
  const std::string late = WriteSession("tacho-20261121-090000", 1);
  const auto latest = Read({.paths = {folder_.path()}, .session = "latest"});
  ASSERT_TRUE(latest.has_value());
  EXPECT_THAT(Paths(latest->run), ElementsAre(late));
  EXPECT_EQ(progress_.traces, 1u);
  EXPECT_EQ(progress_.bytes, std::filesystem::file_size(late));
  EXPECT_EQ(latest->sessions->paths.size(), 2u);
  EXPECT_TRUE(latest->is_collection);
  const auto named = Read({.paths = {folder_.path()}, .session = "-080000"});
  ASSERT_TRUE(named.has_value());
  EXPECT_THAT(Paths(named->run), ElementsAre(early));
  const auto nowhere = Read({.paths = {folder_.path()}, .session = "cold"});
  ASSERT_TRUE(nowhere.has_value());
  EXPECT_THAT(nowhere->run.traces, IsEmpty());
  EXPECT_EQ(nowhere->sessions->chosen(), std::nullopt);
  EXPECT_EQ(progress_.traces, 2u) << "nothing is read where no name fits";
  EXPECT_EQ(progress_.bytes, progress_.planned_bytes);
}

TEST_F(ReadRunTest, ARankIsOfTheSessionThatIsChosen) {
  WriteSession("a", 0, 0);
  WriteSession("a", 0, 1);
  const std::string late = WriteSession("b", 1, 0);
  const TraceChoice choice{.paths = {folder_.path()}, .session = "latest", .ranks = {1}};
  const auto without = Read(choice);
  ASSERT_TRUE(without.has_value());
  EXPECT_EQ(progress_.traces, 3u) << "no name tells the sessions apart";
  EXPECT_THAT(without->run.traces, IsEmpty()) << "rank 1 is of the earlier session alone";
  ASSERT_THAT(without->seen, SizeIs(1));
  EXPECT_EQ(without->seen[0].path, late);
  EXPECT_THAT(without->sessions->sessions, SizeIs(2));
  WriteSession("b", 1, 1);
  EXPECT_THAT(Paths(Read(choice)->run), ElementsAre(folder_.At("b/rank1.json")));
}

struct KeepsAll : TraceKeeper {
  void OnFound(const Discovery& found) override {
    begun = std::vector<std::atomic<int>>(found.traces.size());
    ended = std::vector<std::atomic<int>>(found.traces.size());
    failed = std::vector<std::atomic<int>>(found.traces.size());
    kept.resize(found.traces.size());
    unreadable = found.failures.size();
  }
  void OnBegin(size_t source) override { ++begun[source]; }
  void OnTrace(size_t source, const std::string& path, std::unique_ptr<const Trace> trace,
               const PreparedTrace& prepared, const std::optional<InFlight>& in_flight) override {
    EXPECT_EQ(&prepared.index.trace(), trace.get());
    kept[source].push_back({path, std::move(trace), in_flight.has_value()});
  }
  void OnEnd(size_t source, const Error* failure) override {
    ++ended[source];
    failed[source] += failure != nullptr ? 1 : 0;
  }
  std::vector<std::atomic<int>> begun, ended, failed;
  struct Kept {
    std::string path;
    std::unique_ptr<const Trace> trace;
    bool has_requests = false;
  };
  std::vector<std::deque<Kept>> kept;
  size_t unreadable = 0;
};

TEST_F(ReadRunTest, AKeeperGetsEachTraceAndTheResultsAreTheSame) {
  for (int rank = 0; rank < 3; ++rank) WriteRank(rank, 3, rank != 1);
  folder_.Write("rank3.json", "");
  KeepsAll keeper;
  const TraceChoice choice{.paths = {folder_.path()}, .threads = 2};
  const auto readout = Read(choice, {.keeper = &keeper});
  ASSERT_TRUE(readout.has_value()) << readout.error().message;
  EXPECT_EQ(Paths(readout->run), Paths(Read(choice)->run));
  ASSERT_THAT(keeper.kept, SizeIs(3));
  for (size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(keeper.begun[rank], 1);
    ASSERT_THAT(keeper.kept[rank], SizeIs(1));
    const KeepsAll::Kept& trace = keeper.kept[rank][0];
    EXPECT_EQ(trace.path, folder_.At("rank" + std::to_string(rank) + ".json"));
    EXPECT_EQ(trace.trace->gpu.size(), 2u) << "it outlives the reading";
    EXPECT_FALSE(trace.has_requests);
  }
  EXPECT_EQ(keeper.unreadable, 1u);

  KeepsAll of_one;
  ASSERT_TRUE(Read({.paths = {folder_.path()}, .ranks = {2}}, {.keeper = &of_one}).has_value());
  EXPECT_THAT(of_one.kept[1], IsEmpty());
  EXPECT_EQ(of_one.ended[1], 1);
  EXPECT_EQ(of_one.failed[1], 0);
  EXPECT_THAT(of_one.kept[2], SizeIs(1));
}

TEST_F(ReadRunTest, AKeeperLearnsWhatCannotBeRead) {
  const auto classifier = Classifier::Create();
  KeepsAll keeper;
  const auto fail = [](const TraceSource&, StreamThreads, const NextSink&,
                       RunProgress&) -> Result<TraceSizes> {
    return Fail(ErrorKind::kUnreadable, "no");
  };
  EXPECT_FALSE(
      ReadRun({.paths = {WriteRank(0, 1)}}, {.keeper = &keeper}, *classifier, progress_, fail));
  ASSERT_THAT(keeper.failed, SizeIs(1));
  EXPECT_EQ(keeper.failed[0], 1);
}

// A format whose files hold the traces of several processes: two ranks, and one without GPU work.
Result<TraceSizes> ReadTwoRanks(const TraceSource& source, StreamThreads, const NextSink& next_sink,
                                RunProgress&) {
  for (int64_t rank = 0; rank < 3; ++rank) {
    EventSink& sink = next_sink("pid=" + std::to_string(100 + rank));
    Vocabulary& words = sink.vocabulary();
    if (rank < 2) sink.header().rank = rank;
    sink.header().world_size = 2;
    Event event;
    event.category = words.InternCategory(rank < 2 ? "kernel" : "python_function");
    event.has_category = event.has_start = true;
    event.kind = words[event.category].kind;
    event.name = words.strings.Intern("k");
    event.track = words.InternTrack(words.InternProcess(words.strings.Intern("0")),
                                    words.strings.Intern("7"));
    event.stream =
        words.InternStream(words.strings.Intern(std::to_string(rank)), words.strings.Intern("7"));
    event.duration = {10 + rank};
    sink.OnEvent(event);
  }
  return TraceSizes{source.stored_bytes, 0};
}

TEST_F(ReadRunTest, AFileMayHoldSeveralTraces) {
  const std::string file = WriteRank(0, 1);
  const auto classifier = Classifier::Create();
  const auto read = [&](const TraceChoice& choice) {
    return *ReadRun(choice, {}, *classifier, progress_, ReadTwoRanks);
  };
  const auto all = read({.paths = {file}});
  EXPECT_THAT(Paths(all.run), ElementsAre(file + "#pid=100", file + "#pid=101", file + "#pid=102"));
  EXPECT_TRUE(all.is_collection);
  EXPECT_EQ(all.run.ranks.ranks_in_all, 2);
  EXPECT_EQ(all.run.ranks.ranks_with_trace, 2u);
  EXPECT_EQ(all.run.traces[1].devices[0].device, "1");
  EXPECT_TRUE(all.run.traces[0].first_of_file);
  EXPECT_FALSE(all.run.traces[1].first_of_file);
  const auto one = read({.paths = {file}, .ranks = {1}});
  EXPECT_THAT(Paths(one.run), ElementsAre(file + "#pid=101"));
  EXPECT_TRUE(one.run.traces[0].first_of_file);
  EXPECT_THAT(one.seen, SizeIs(3));
  EXPECT_THAT(Paths(read({.paths = {file}, .first_worker_only = true}).run),
              ElementsAre(file + "#pid=100"));

  KeepsAll keeper;
  ASSERT_TRUE(
      ReadRun({.paths = {file}}, {.keeper = &keeper}, *classifier, progress_, ReadTwoRanks));
  ASSERT_THAT(keeper.kept[0], SizeIs(3));
  EXPECT_EQ(keeper.kept[0][2].trace->python_frames.size(), 1u);
  const auto summaries = ReadSummaries({.paths = {file}}, progress_, ReadTwoRanks);
  ASSERT_THAT(summaries->run.traces, SizeIs(3));
  EXPECT_EQ(summaries->run.traces[1].path, file + "#pid=101");
  EXPECT_EQ(summaries->run.traces[1].devices[0].sum, DurationNs{11});
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
  const auto readout = ReadSummaries({.paths = {folder_.path()}}, progress_);
  ASSERT_TRUE(readout.has_value());
  ASSERT_THAT(readout->run.traces, SizeIs(2));
  EXPECT_EQ(readout->run.traces[1].events, 4u);
  EXPECT_EQ(readout->run.traces[1].rank, 1);
  EXPECT_EQ(readout->run.traces[1].devices[0].sum, DurationNs{60'000});
}

TEST_F(ReadRunTest, ARunThatIsNotAnalysedLacksTheSameRanks) {
  const std::string file = WriteRank(0, 2);
  const auto ignore = [](const TraceSource&, const std::vector<Trace>&) {};
  EXPECT_EQ(ReadSummaries({.paths = {folder_.path()}}, progress_)->run.ranks.missing_count(), 1);
  EXPECT_EQ(ReadFiles({.paths = {folder_.path()}}, ignore, progress_)->run.ranks.missing_count(),
            1);
  EXPECT_EQ(ReadSummaries({.paths = {file}}, progress_)->run.ranks.missing_count(), 0);
}

}  // namespace
}  // namespace tacho
