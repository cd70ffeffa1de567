#include "session/files/worker_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kWhole[] = R"({"traceEvents":[]})";

// Workers that write to one folder, in the state after their stop.
class WorkerFilesTest : public ::testing::Test {
 protected:
  RecordedWorker& Add() {
    RecordedWorker& worker = workers_.emplace_back();
    worker.worker.url = fmt::format("http://h:{}", workers_.size());
    worker.folder = folder_.path();
    worker.facts.kind = EngineKind::kVllm;
    worker.start = ControlRequest{};
    worker.expectation.answered_stop = true;
    return worker;
  }
  RecordedWorker& AddKeyed(const std::string& key) {
    RecordedWorker& worker = Add();
    worker.key = key;
    worker.facts.profiler.reads_body = true;
    worker.start->body = R"({"profile_prefix":")" + key + R"("})";
    return worker;
  }
  std::string Write(const std::string& name) const { return folder_.Write(name, kWhole); }

  FolderForTest folder_;
  std::vector<RecordedWorker> workers_;
  RecordOptions options_;
  WorkerFiles files_{workers_, options_};
};

TEST_F(WorkerFilesTest, OneWorkersKeyIsNotAnothers) {
  AddKeyed("t-w1");
  AddKeyed("t-w10");
  const std::string of_w1 = Write("t-w1_rank0.1.pt.trace.json");
  const std::string of_w10 = Write("t-w10_rank0.1.pt.trace.json");
  EXPECT_THAT(files_.TracesOf(workers_[0]), ElementsAre(of_w1));
  EXPECT_THAT(files_.TracesOf(workers_[1]), ElementsAre(of_w10));
}

TEST_F(WorkerFilesTest, OnlyWhatCameAfterTheLookCounts) {
  AddKeyed("t-w0");
  Write("t-w0_rank0.1.pt.trace.json");
  files_.LookIntoFolders();
  const std::string fresh = Write("t-w0_rank0.2.pt.trace.json");
  EXPECT_THAT(files_.TracesOf(workers_[0]), ElementsAre(fresh));
  EXPECT_THAT(files_.NewTracesIn(folder_.path()), ElementsAre(fresh));
  EXPECT_TRUE(files_.WroteAll(workers_[0]));
}

TEST_F(WorkerFilesTest, AReportedIdTellsWhoseAFileIs) {
  Add().facts.instance = ParseInstance("id:aaaaa start:1700000000");
  Add().facts.instance = ParseInstance("id:bbbbb");
  const std::string of_a = Write("aaaaa-rank-0.1.pt.trace.json");
  const std::string of_b = Write("bbbbb-rank-0.1.pt.trace.json");
  EXPECT_THAT(files_.TracesOf(workers_[0]), ElementsAre(of_a));
  EXPECT_THAT(files_.TracesOf(workers_[1]), ElementsAre(of_b));
  EXPECT_FALSE(files_.TakeFilesOfOneProcess(0));
}

TEST_F(WorkerFilesTest, EnginesThatReportNothingGetOneProcessEach) {
  Add();
  Add();
  const std::string of_a = Write("aaaaa-rank-0.1.pt.trace.json");
  const std::string of_b = Write("bbbbb-rank-0.1.pt.trace.json");
  EXPECT_THAT(files_.TakeFilesOfOneProcess(0)->Text(), HasSubstr("those of the process aaaaa"));
  EXPECT_THAT(files_.TracesOf(workers_[0]), ElementsAre(of_a));
  EXPECT_FALSE(files_.TakeFilesOfOneProcess(1));
  EXPECT_THAT(files_.TracesOf(workers_[1]), ElementsAre(of_b));
}

TEST_F(WorkerFilesTest, ByOwnerAKeyTells) {
  AddKeyed("trial-w1");
  files_.LookIntoFolders();
  const std::string own = Write("trial-w1_rank0.1.pt.trace.json");
  const std::string table = Write("trial-w1_profiler_out_0.txt");
  Write("trial-w10_rank0.1.pt.trace.json");
  EXPECT_THAT(files_.DivideByOwner().ours, ::testing::UnorderedElementsAre(own, table));
  EXPECT_THAT(files_.DivideByOwner().unclear, IsEmpty());
}

TEST_F(WorkerFilesTest, ByOwnerAPidTells) {
  Add().expectation.pids = {11, 4711};
  const std::string worker = Write("gpu7.example_4711.1795446.pt.trace.json.gz");
  const std::string front_end = Write("gpu7.example_11.async_llm.1795446.pt.trace.json.gz");
  const std::string other = Write("gpu7.example_711.1795446.pt.trace.json.gz");
  EXPECT_THAT(files_.DivideByOwner().ours, ElementsAre(front_end, worker));
  EXPECT_THAT(files_.DivideByOwner().unclear, ElementsAre(other));
}

TEST_F(WorkerFilesTest, ByOwnerAReportedIdTells) {
  Add().facts.instance = ParseInstance("id:aaaaa start:1700000000");
  files_.LookIntoFolders();
  const std::string own = Write("aaaaa-rank-0.2.pt.trace.json");
  const std::string other = Write("bbbbb-rank-0.2.pt.trace.json");
  EXPECT_THAT(files_.DivideByOwner().ours, ElementsAre(own));
  EXPECT_THAT(files_.DivideByOwner().unclear, ElementsAre(other));
}

TEST_F(WorkerFilesTest, ByOwnerAnIdThatNoEngineReportedMayBeSomebodyElses) {
  Add();
  files_.LookIntoFolders();
  const std::string file = Write("aaaaa-rank-0.2.pt.trace.json");
  EXPECT_THAT(files_.DivideByOwner().ours, IsEmpty());
  EXPECT_THAT(files_.DivideByOwner().unclear, ElementsAre(file));
}

TEST_F(WorkerFilesTest, ByOwnerAFolderThatWasMadeForItTells) {
  RecordedWorker& worker = Add();
  worker.profile.output_dir = worker.folder;
  files_.LookIntoFolders();
  const std::string file = Write("1795446-TP0.trace.json.gz");
  EXPECT_THAT(files_.DivideByOwner().ours, ElementsAre(file));
  EXPECT_THAT(files_.DivideByOwner().unclear, IsEmpty());
  // A folder that the user named may belong to others too.
  options_.profile.output_dir = worker.folder;
  EXPECT_THAT(files_.DivideByOwner().ours, IsEmpty());
  EXPECT_THAT(files_.DivideByOwner().unclear, ElementsAre(file));
}

TEST_F(WorkerFilesTest, ByOwnerAFileThatWasThereIsNeverOurs) {
  AddKeyed("trial-w0");
  const std::string path = Write("trial-w0_rank0.1.pt.trace.json");
  files_.LookIntoFolders();
  folder_.Write("trial-w0_rank0.1.pt.trace.json", R"({"traceEvents":[]}   )");
  EXPECT_THAT(files_.DivideByOwner().ours, IsEmpty());
  EXPECT_THAT(files_.DivideByOwner().unclear, ElementsAre(path));
}

}  // namespace
}  // namespace tacho
