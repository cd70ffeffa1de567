#include "simulate/trace/trace_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/folder_for_test.h"

namespace tacho::simulate {
namespace {

namespace fs = std::filesystem;

class TraceFileTest : public ::testing::Test {
 protected:
  TraceFileTest() {
    file_.path = folder_.At("in/x.json");
    file_.temp_folder = folder_.path();
  }

  FileOutcome Write() {
    return WriteTraceFile(
        file_,
        [](ByteSink& sink) {
          for (int i = 0; i < 100; ++i) {
            if (!sink.Write(std::string(10'000, static_cast<char>('a' + i % 26)))) return false;
          }
          return true;
        },
        stop_.get_token());
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) names.insert(entry.path().filename().string());
    }
    return names;
  }

  FolderForTest folder_;
  TraceFile file_;
  std::stop_source stop_;
};

using Set = std::set<std::string>;

TEST_F(TraceFileTest, PlainFileIsRenamedWhenWhole) {
  EXPECT_EQ(Write().end, FileEnd::kWritten);
  EXPECT_EQ(Names(), Set{"x.json"});
  EXPECT_EQ(fs::file_size(file_.path), 1'000'000U);
}

TEST_F(TraceFileTest, GzipLeavesNoTemporaryFile) {
  file_.gzip = true;
  EXPECT_EQ(Write().end, FileEnd::kWritten);
  EXPECT_EQ(Names(), Set{"x.json"});
  std::ifstream in(file_.path, std::ios::binary);
  EXPECT_EQ(in.get(), 0x1f);
  EXPECT_EQ(in.get(), 0x8b);
}

TEST_F(TraceFileTest, DeathLeavesWhatWasWritten) {
  file_.die = true;
  EXPECT_EQ(Write().end, FileEnd::kDied);
  EXPECT_EQ(Names(), Set{"x.json.tmp"});
  EXPECT_EQ(fs::file_size(file_.path + ".tmp"), 550'000U);
}

TEST_F(TraceFileTest, FullDiskIsAFailureWithItsReason) {
  file_.disk_full = true;
  const FileOutcome outcome = Write();
  EXPECT_EQ(outcome.end, FileEnd::kFailed);
  EXPECT_NE(outcome.problem.find("No space left"), std::string::npos);
}

TEST_F(TraceFileTest, TruncatedFileHasItsName) {
  for (const bool gzip : {false, true}) {
    file_.gzip = gzip;
    file_.truncate = true;
    EXPECT_EQ(Write().end, FileEnd::kWritten);
    EXPECT_EQ(Names(), Set{"x.json"});
    EXPECT_LT(fs::file_size(file_.path), 700'000U);
    EXPECT_GT(fs::file_size(file_.path), 100U);
  }
}

TEST_F(TraceFileTest, FolderThatCannotBeMade) {
  file_.path = "/proc/no/such/x.json";
  EXPECT_EQ(Write().end, FileEnd::kFailed);
}

TEST_F(TraceFileTest, SlowWritingCanBeCutShort) {
  file_.slow_ns = 60'000'000'000;
  std::jthread impatient([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop_.request_stop();
  });
  EXPECT_EQ(Write().end, FileEnd::kWritten);
}

}  // namespace
}  // namespace tacho::simulate
