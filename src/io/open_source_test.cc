#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "base/folder_for_test.h"
#include "io/packed_for_test.h"
#include "io/trace_sources.h"

namespace tacho {
namespace {

using packed::Archived;
using packed::ArchiveFormat;
using packed::Gzipped;
using packed::ReadAll;
using ::testing::HasSubstr;

// What a FIFO gives after `bytes` were written to it.
std::string Through(const std::string& bytes) {
  FolderForTest folder;
  const std::string path = folder.At("fifo");
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { folder.Write("fifo", bytes); });
  const auto stream = OpenSource({path, "", 0}, StreamThreads::kAhead);
  const std::string text =
      stream ? ReadAll(**stream).bytes : "error: " + stream.error().message.substr(path.size());
  writer.join();
  return text;
}

TEST(OpenSource, ReadsATraceFromAPipe) {
  EXPECT_EQ(Through("{\"traceEvents\": []}"), "{\"traceEvents\": []}");
  EXPECT_EQ(Through(Gzipped("{\"traceEvents\": []}")), "{\"traceEvents\": []}");
  EXPECT_EQ(Through("anything"), "anything");
}

TEST(OpenSource, RefusesAnArchiveAndOtherProfilersFilesFromAPipe) {
  const std::string tar = Archived({{"t.json", "{}"}}, ArchiveFormat::kTar);
  EXPECT_THAT(Through(Gzipped(tar)), HasSubstr("error: : is an archive"));
  EXPECT_THAT(Through("NVIDIA Tegra Profiler Report"), HasSubstr("is an Nsight Systems report"));
}

TEST(OpenSource, PassesOnWhyAFileIsNotRead) {
  FolderForTest folder;
  const auto stream = OpenSource({folder.At("gone.json"), "", 0}, StreamThreads::kInline);
  ASSERT_FALSE(stream.has_value());
  EXPECT_THAT(stream.error().message, HasSubstr("does not exist"));
  const auto member = OpenSource({folder.At("gone.tar"), "t.json", 0}, StreamThreads::kInline);
  ASSERT_FALSE(member.has_value());
  EXPECT_THAT(member.error().message, HasSubstr("does not exist"));
}

}  // namespace
}  // namespace tacho
