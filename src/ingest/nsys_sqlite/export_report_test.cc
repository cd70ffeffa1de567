#include "ingest/nsys_sqlite/export_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/folder_for_test.h"
#include "ingest/nsys_sqlite/nsys_program.h"

namespace tacho {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Newer than any nsys that the machine may have.
constexpr const char* kNewest = "9999.2.1.7";

// A folder with programs that call themselves nsys, before all others in PATH.
class NsysExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const before = getenv("PATH");
    path_before_ = before == nullptr ? "" : before;
    setenv("PATH", (folder_.At("new") + ":" + folder_.At("old") + ":" + path_before_).c_str(), 1);
    setenv("TMPDIR", folder_.At("tmp").c_str(), 1);
    std::filesystem::create_directory(folder_.At("tmp"));
  }
  void TearDown() override {
    setenv("PATH", path_before_.c_str(), 1);
    unsetenv("TMPDIR");
  }

  // `exports`: shell code that makes the file "$OUT" from the report "$IN".
  void Program(const std::string& name, const std::string& version, const std::string& exports) {
    const std::string path = folder_.Write(
        name, "#!/bin/sh\n[ \"$1\" = --version ] && { echo NVIDIA Nsight Systems version " +
                  version + "-df9881f; exit; }\nOUT=$5 IN=$6\n" + exports + "\n");
    std::filesystem::permissions(path, std::filesystem::perms(0755));
  }
  std::string Report(const std::string& name = "run.nsys-rep") {
    return folder_.Write(name, "NVIDIA Tegra Profiler Report 2025@5@1@121-255136380782v0.\n");
  }
  [[nodiscard]] std::vector<std::string> Left() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.At("tmp")))
      left.push_back(entry.path().string());
    return left;
  }

  FolderForTest folder_;

 private:
  std::string path_before_;
};

std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(NsysExportTest, TheNewestExportsIntoAFolderThatIsRemoved) {
  Program("new/nsys", "9999.1", "exit 1");
  Program("old/nsys", kNewest,
          "printf '\\rExporting 3 events: [==  50%%  ]'; cat \"$IN\" > \"$OUT\"; printf ' 100%%]'");
  std::string by;
  double share = 0;
  const std::string odd = "a b'; touch x; $(touch y).nsys-rep";
  {
    const auto made = ExportNsysReport(
        Report(odd), {.on_begin = [&](const std::string& program) { by = program; },
                      .on_share = [&](double now) { share = now; }});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_THAT(ContentOf(made->path), HasSubstr("Tegra"));
    EXPECT_THAT(Left(), ElementsAre(made->folder.path()));
  }
  EXPECT_EQ(by, std::string("nsys ") + kNewest);
  EXPECT_EQ(share, 1.0);
  EXPECT_THAT(Left(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists("x") || std::filesystem::exists("y"));
}

TEST_F(NsysExportTest, AFailureIsToldInTheWordsOfNsysWithTheCommandForAnotherMachine) {
  Program("new/nsys", kNewest, "echo 'Exportation error: Version number is invalid' >&2; exit 1");
  const auto made = ExportNsysReport(Report(), {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kUnreadable);
  EXPECT_THAT(made.error().message,
              AllOf(HasSubstr("Exportation error: Version number is invalid"),
                    HasSubstr("2025.5.1 or later"),
                    HasSubstr("nsys export --type sqlite -o run.sqlite run.nsys-rep")));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(NsysExportTest, SuccessWithoutAFileIsAFailure) {
  Program("new/nsys", kNewest, "exit 0");
  const auto made = ExportNsysReport(Report(), {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("made no export"));
}

TEST_F(NsysExportTest, AStopEndsTheProgramAndRemovesTheFolder) {
  Program("new/nsys", kNewest, "echo $$ > " + folder_.At("pid") + "; echo 1%; exec sleep 300");
  std::stop_source stop;
  const auto made = ExportNsysReport(
      Report(), {.stop = stop.get_token(), .on_share = [&](double) { stop.request_stop(); }});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kInterrupted);
  EXPECT_THAT(Left(), IsEmpty());
  const std::string pid = ContentOf(folder_.At("pid"));
  ASSERT_FALSE(pid.empty());
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid.substr(0, pid.find('\n'))));
}

TEST_F(NsysExportTest, ARecordingIsImportedFirst) {
  Program("new/nsys", kNewest, "cat \"$IN\" > \"$OUT\"");
  std::filesystem::permissions(
      folder_.Write("new/QdstrmImporter", "#!/bin/sh\n(echo imported; cat \"$2\") > \"$4\"\n"),
      std::filesystem::perms(0755));
  const auto made = ExportNsysReport(folder_.Write("x.qdstrm", "raw"), {.is_stream = true});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(ContentOf(made->path), "imported\nraw");
}

TEST_F(NsysExportTest, WithoutNsysTheErrorSaysWhatToRunElsewhere) {
  setenv("PATH", folder_.At("none").c_str(), 1);
  if (FindNsys()) GTEST_SKIP() << "an nsys is installed outside of PATH";
  const auto made = ExportNsysReport(Report(), {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              AllOf(HasSubstr("no nsys was found here"), HasSubstr("2025.5.1 or later"),
                    HasSubstr("nsys export --type sqlite -o run.sqlite run.nsys-rep")));
}

TEST(NsysWords, Versions) {
  EXPECT_THAT(NsysVersionIn("NVIDIA Nsight Systems version 2022.4.2.1-df9881f\n"),
              ElementsAre(2022, 4, 2, 1));
  EXPECT_THAT(NsysVersionIn("NVIDIA Nsight Systems version 2025.5.1.121-255136380782v0"),
              ElementsAre(2025, 5, 1, 121));
  EXPECT_THAT(NsysVersionIn("NVIDIA Nsight Systems version x"), IsEmpty());
  EXPECT_THAT(NsysVersionIn(""), IsEmpty());
  EXPECT_EQ(NsysRecorderOf("NVIDIA Tegra Profiler Report 2025@5@1@121-2551v0.\n"), "2025.5.1");
  EXPECT_EQ(NsysRecorderOf("NVIDIA Tegra Profiler Report 1.\n"), "");
  EXPECT_EQ(NsysRecorderOf("NVIDIA Tegra Profiler Report 2025"), "");
}

}  // namespace
}  // namespace tacho
