#include "held_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "arrow_stream.h"
#include "reading_progress.h"

namespace tacho {
namespace {

const std::string kRecording = TACHO_SOURCE_DIR "/tests/data/vllm-cpu";

RunRequest RequestOf(const std::string& path) {
  return {.choice = {.paths = {path}, .threads = 2, .session = "latest"},
          .rules = {},
          .model_config = {},
          .gpu = {},
          .tensor_parallel = {},
          .context_length = {}};
}

std::shared_ptr<HeldRun> Read() {
  ReadingProgress progress({});
  auto run = HeldRun::Read(RequestOf(kRecording), progress);
  if (!run) throw std::runtime_error(run.error().message);
  return *run;
}

// Calls `work` on `count` threads at the same time, with the number of the thread.
void OnThreads(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> waiting = count;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Takes a frame as a consumer of Arrow does: its only batch. Returns the rows.
int64_t TakeAll(std::shared_ptr<const Frame> frame) {
  ArrowArrayStream stream{};
  ExportFrame(std::move(frame), &stream);
  ArrowSchema schema{};
  EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
  schema.release(&schema);
  ArrowArray batch{};
  EXPECT_EQ(stream.get_next(&stream, &batch), 0);
  stream.release(&stream);
  const int64_t rows = batch.length;
  std::thread([&] { batch.release(&batch); }).join();  // whichever thread is last
  return rows;
}

TEST(HeldRun, SeveralThreadsUseOneRun) {
  const auto run = Read();
  const std::string analysis = run->AnalysisJson();
  std::atomic<int64_t> kernels = 0, spent = 0;
  OnThreads(6, [&](size_t i) {
    for (const char* name : {"kernels", "gaps", "steps", "operators", "kernels"}) {
      const auto table = run->Table(name, {});
      ASSERT_TRUE(table) << table.error().message;
      const int64_t rows = TakeAll(*table);
      if (std::string_view(name) == "kernels") kernels += rows;
    }
    if (i % 2 == 0) {
      const auto queried = run->Query("SELECT count(*) FROM kernels", {});
      ASSERT_TRUE(queried) << queried.error().message;
      spent += (*queried)->columns[0].integers()[0];
    } else {
      const auto slices = run->Slices({.process = {}, .thread = {}, .kind = "operator"}, {});
      ASSERT_TRUE(slices) << slices.error().message;
      EXPECT_EQ(run->AnalysisJson(), analysis);
    }
  });
  const int64_t rows = TakeAll(*run->Table("kernels", {}));
  EXPECT_GT(rows, 1000);
  EXPECT_EQ(kernels, 12 * rows);
  EXPECT_EQ(spent, 3 * rows);
}

TEST(HeldRun, FramesOutliveTheRunOnOtherThreads) {
  std::vector<std::shared_ptr<const Frame>> frames;
  {
    const auto run = Read();
    for (const char* name : {"kernels", "ranks", "gaps"}) frames.push_back(*run->Table(name, {}));
  }
  OnThreads(6, [&](size_t i) {
    EXPECT_EQ(TakeAll(frames[i % 3]), static_cast<int64_t>(frames[i % 3]->rows));
  });
}

TEST(HeldRun, SeveralRunsAreReadAndWatchedAndStopped) {
  const std::string want = Read()->AnalysisJson();
  OnThreads(4, [&](size_t i) {
    std::stop_source stop;
    ReadingProgress progress(stop.get_token());
    std::atomic<bool> is_over = false;
    std::thread watcher([&] {
      while (!is_over) {
        const auto look = progress.LookAt(1, true);
        if (i % 2 == 1 && look.done_bytes > 0) stop.request_stop();
        std::this_thread::yield();
      }
    });
    const auto run = HeldRun::Read(RequestOf(kRecording), progress);
    is_over = true;
    watcher.join();
    if (i % 2 == 0) {
      ASSERT_TRUE(run) << run.error().message;
      EXPECT_EQ((*run)->AnalysisJson(), want);
      EXPECT_EQ(progress.LookAt(1, true).done_bytes, progress.LookAt(1, true).total_bytes);
    } else if (!run) {  // it may have been faster
      EXPECT_EQ(run.error().kind, ErrorKind::kInterrupted);
    }
  });
}

TEST(HeldRun, AStopEndsTablesAndQueries) {
  const auto run = Read();
  std::stop_source stop;
  stop.request_stop();
  for (const auto& table :
       {run->Table("kernels", stop.get_token()), run->Slices({}, stop.get_token()),
        run->Query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                   "FROM n) SELECT max(i) FROM n",
                   stop.get_token())}) {
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().kind, ErrorKind::kInterrupted);
  }
  EXPECT_TRUE(run->Table("kernels", {})) << "nothing half made is kept";
}

}  // namespace
}  // namespace tacho
