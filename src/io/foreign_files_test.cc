#include "io/foreign_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "io/content_kind.h"

namespace tacho {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

constexpr const char* kPointer =
    "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 253291400\n";

TEST(LfsPointer, IsNamedWithTheSizeOfTheFile) {
  EXPECT_EQ(KindOf(kPointer), ContentKind::kLfsPointer);
  EXPECT_EQ(RemedyFor(ContentKind::kLfsPointer, kPointer),
            "is a Git LFS pointer: the trace itself (253,291,400 bytes) is not here: git lfs pull");
  const std::string windows =
      "version https://git-lfs.github.com/spec/v1\r\noid sha256:0000\r\nsize 999\r\n";
  EXPECT_THAT(RemedyFor(KindOf(windows), windows), HasSubstr("(999 bytes)"));
  // A file that only begins like one.
  EXPECT_EQ(KindOf("version https://git-lfs.github.com/spec/v1\nno such line\n"),
            ContentKind::kText);
  EXPECT_EQ(KindOf(kPointer + std::string(2000, 'x')), ContentKind::kText);
  const std::string cut = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize ";
  EXPECT_THAT(RemedyFor(KindOf(cut), cut), HasSubstr("the trace itself is not here"));
}

TEST(ForeignFiles, ProfilesOfOtherToolsAreNamed) {
  const struct {
    std::string start;
    const char* words;
  } profiles[] = {
      {"\x0a\xd3\x86\x03\x08\x01\x12\x0d/device:GPU:0\x1a\x01\0"s, "XPlane"},
      {"\x0a\x12\x12\x09/host:CPU\x1a\x05\x0a\x03\0\0\0"s, "XPlane"},
      {"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x08segments\x94"s, "CUDA memory"},
      {"\x80\x05\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x0d"
       "device_traces\x94"s,
       "CUDA memory"},
      {"\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\xc0\x1a\x0d"
       "brain.Event:2"s,
       "TensorBoard"},
      {"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"s, "pprof"},
      {"PERFILE2\x68\0\0\0\0\0\0\0"s, "perf"},
  };
  for (const auto& [start, words] : profiles) {
    ASSERT_EQ(KindOf(start), ContentKind::kForeign) << words;
    EXPECT_THAT(RemedyFor(ContentKind::kForeign, start), HasSubstr(words));
    EXPECT_THAT(RemedyFor(ContentKind::kForeign, start), HasSubstr(", which is not read: "));
  }
}

TEST(ForeignFiles, DatabasesAreNamedByTheirTables) {
  const auto database = [](const std::string& table) {
    return "SQLite format 3\0....CREATE TABLE "s + table + "(id INTEGER)";
  };
  for (const char* table : {"rocpd_kernel_dispatch_1a2b", "CANN_API", "COMPUTE_TASK_INFO"})
    EXPECT_EQ(KindOf(database(table)), ContentKind::kForeign) << table;
  EXPECT_THAT(ForeignDatabase("rocpd_string, rocpd_op"), HasSubstr("rocprofv3"));
  EXPECT_THAT(ForeignDatabase("CUPTI_ACTIVITY_KIND_KERNEL, StringTable"), HasSubstr("nvprof"));
  EXPECT_EQ(ForeignDatabase("cookies"), "");
  EXPECT_EQ(KindOf(database("cookies")), ContentKind::kSqlite);
  EXPECT_EQ(KindOf(database("StringIds")), ContentKind::kNsysSqlite);
}

TEST(ForeignFiles, TablesAndOtherFilesAreNamedToo) {
  for (const std::string& start :
       {"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n1,2\n"s,
        "\"Name\",\"Calls\",\"TotalDurationNs\"\n"s, "Time (%),Total Time (ns),Instances\n"s,
        "\x80\x04\x95\x05\0\0\0\0\0\0\0]\x94."s, "PAR1\x15\0\x15"s, "\x93NUMPY\x01\0v\0"s,
        "\x89HDF\r\n\x1a\n\0"s}) {
    ASSERT_EQ(KindOf(start), ContentKind::kForeignFile) << start;
    EXPECT_THAT(RemedyFor(ContentKind::kForeignFile, start), HasSubstr("is a"));
  }
  // Only the first line has the names of columns.
  EXPECT_EQ(KindOf("a log\nStart_Timestamp\n"), ContentKind::kText);
  EXPECT_EQ(KindOf("\nsaved to /device:0\n"), ContentKind::kText);
}

}  // namespace
}  // namespace tacho
