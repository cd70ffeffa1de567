#include "doctor/doctor_ray.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kWhole = "NVIDIA Tegra Profiler Report 1.\nU3w[END]";

TEST(RayletOf, ReadsCommandLineAndEnvironmentOfARaylet) {
  const std::vector<std::string> words{
      "/v/lib/ray/core/src/ray/raylet/raylet", "--raylet_socket_name=/s/x/sockets/raylet",
      "--python_worker_command=/v/bin/python3 /v/setup_worker.py --session-dir=/other",
      "--session_dir=/s/x"};
  const auto raylet = RayletOf(words, {"A=1", "PATH=/a:/b", "RAY_process_group_cleanup_enabled=0"});
  ASSERT_TRUE(raylet);
  EXPECT_EQ(raylet->ReportFolder(), "/s/x/logs/nsight");
  EXPECT_EQ(raylet->python, "/v/bin/python3");
  EXPECT_EQ(raylet->path, "/a:/b");
  EXPECT_EQ(raylet->group_cleanup, "0");
  EXPECT_EQ(RayletOf({"raylet", "--session-dir=/s/y"}, {})->session, "/s/y");
  EXPECT_FALSE(RayletOf({}, {}));
  EXPECT_FALSE(RayletOf({"/usr/bin/python3", "--session_dir=/s/x"}, {})) << "another program";
  EXPECT_FALSE(RayletOf({"raylet"}, {})) << "it names no session";
}

TEST(KillsGroups, ByDefaultFromRay257OnElseByTheVariable) {
  const auto kills = [](const std::string& version, std::optional<std::string> variable) {
    return KillsGroups({.version = version, .group_cleanup = std::move(variable)});
  };
  for (const char* const version : {"2.57.0", "2.60.0", "3.0.0", ""})
    EXPECT_TRUE(kills(version, std::nullopt)) << version;
  for (const char* const version : {"2.44.1", "2.56.1"})
    EXPECT_FALSE(kills(version, std::nullopt)) << version;
  EXPECT_FALSE(kills("2.49.2", "1")) << "it does not know the variable";
  for (const char* const version : {"2.50.0", "2.56.0", "2.60.0"}) {
    for (const char* const on : {"1", "true", "TRUE"}) EXPECT_TRUE(kills(version, on)) << on;
    for (const char* const off : {"0", "false", "no", ""}) EXPECT_FALSE(kills(version, off)) << off;
  }
}

TEST(ReportsIn, TellsWholeReportsFromDamagedOnes) {
  const FolderForTest folder;
  EXPECT_FALSE(ReportsIn(folder.At("nowhere")));
  EXPECT_EQ(ReportsIn(folder.path())->whole, 0U);
  folder.Write("a.nsys-rep", kWhole);
  folder.Write("b.nsys-rep", "");
  folder.Write("c.nsys-rep", kWhole.substr(0, 34));
  folder.Write("d.nsys-rep", "a log [END]");
  folder.Write("a.qdstrm", "x");
  const std::string raw = folder.Write("e.qdstrm", "x");
  folder.Write("empty.qdstrm", "x");
  folder.Write("empty.nsys-rep", "");
  folder.Write("notes.txt", "");
  fs::create_directory(folder.At("f.nsys-rep"));
  ASSERT_EQ(mkfifo(folder.At("g.nsys-rep").c_str(), 0600), 0);
  const auto reports = ReportsIn(folder.path());
  ASSERT_TRUE(reports);
  EXPECT_EQ(reports->whole, 1U);
  EXPECT_THAT(reports->damaged, ElementsAre("b.nsys-rep is empty", "c.nsys-rep has no end",
                                            "d.nsys-rep is no report"));
  EXPECT_THAT(reports->raw, ElementsAre(raw));
  EXPECT_TRUE(reports->all);
}

// A node of Ray 2.60 whose PATH has nsys and Ray's own Python, and whose session has no report yet.
class ExamineRayletTest : public testing::Test {
 protected:
  ExamineRayletTest() {
    Install("bin/nsys");
    Install("bin/python");
    fs::create_directories(folder_.At("session/logs/nsight"));
    raylet_ = {.pid = 7,
               .session = folder_.At("session"),
               .version = "2.60.0",
               .python = Install("bin/python3"),
               .path = folder_.At("bin")};
  }
  std::string Install(const std::string& name, std::string_view bytes =
                                                   "\x7f"
                                                   "ELF") const {
    std::string path = folder_.Write(name, bytes);
    fs::permissions(path, fs::perms(0755));
    return path;
  }
  void Report(const std::string& name, std::string_view bytes) const {
    folder_.Write("session/logs/nsight/" + name, bytes);
  }
  // "ID: EVIDENCE | REMEDY" of each finding.
  std::vector<std::string> Found(const std::vector<NsysRun>& runs = {},
                                 const std::string& nsys = "") {
    examination_ = {};
    ExamineRaylet(raylet_, runs, nsys, examination_);
    std::vector<std::string> found;
    for (const Diagnosis& one : examination_.found)
      found.push_back(one.id + ": " + one.evidence + " | " + one.remedy);
    return found;
  }

  FolderForTest folder_;
  Raylet raylet_;
  Examination examination_;
};

TEST_F(ExamineRayletTest, SaysThatRayKillsTheGroup) {
  EXPECT_THAT(Found(),
              ElementsAre(AllOf(HasSubstr("ray-kills-nsys: Ray 2.60.0 kills"),
                                HasSubstr("is not set, which means 1 from Ray 2.57 on"),
                                HasSubstr("| RAY_process_group_cleanup_enabled=0 ray start ..."))));
  EXPECT_THAT(Found({{9, true, true}}),
              ElementsAre(HasSubstr("nsys, process 9, is in that group")));
  EXPECT_THAT(Found({{9, true, false}}), IsEmpty()) << "its nsys is in another group";
  EXPECT_THAT(Found({{9, false, false}}), ElementsAre(HasSubstr("An nsys in that group")));
  raylet_.group_cleanup = "0";
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_EQ(examination_.looked.size(), 2U);
  EXPECT_EQ(examination_.looked[0].at, "raylet, process 7: Ray 2.60.0");
}

TEST_F(ExamineRayletTest, NamesDamagedReports) {
  raylet_.group_cleanup = "0";
  Report("a.nsys-rep", kWhole);
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_THAT(examination_.looked[1].at, HasSubstr("/logs/nsight: 1 whole report of nsys"));
  for (const char* const name : {"b.nsys-rep", "c.nsys-rep", "d.nsys-rep", "e.nsys-rep"})
    Report(name, "");
  Report("f.qdstrm", "x");
  EXPECT_THAT(Found(), ElementsAre(AllOf(HasSubstr("ray-report-lost: 4 of 5 reports"),
                                         HasSubstr("b.nsys-rep is empty"),
                                         HasSubstr("d.nsys-rep is empty and 1 more"),
                                         Not(HasSubstr("cleanup_enabled"))),
                                   HasSubstr("nsys-not-imported")));
  EXPECT_THAT(Found({{9, true, false}}), IsEmpty()) << "it may still write them";
  EXPECT_THAT(examination_.looked[1].at,
              HasSubstr(", 4 not whole or not yet; nsys still records or writes (process 9)"));
  raylet_.group_cleanup.reset();
  EXPECT_THAT(Found()[1], AllOf(HasSubstr("ray-report-lost"), HasSubstr("cleanup_enabled=0")));
}

TEST_F(ExamineRayletTest, LooksForNsysWhereRayDoes) {
  raylet_.path = "/nowhere:relative";
  EXPECT_THAT(Found(),
              ElementsAre(AllOf(HasSubstr("ray-no-nsys"), HasSubstr("| install Nsight Systems"))));
  EXPECT_THAT(Found({}, "/opt/nvidia/bin/nsys"),
              ElementsAre(HasSubstr("| PATH=/opt/nvidia/bin:$PATH ray start")));
}

TEST_F(ExamineRayletTest, LooksForThePythonThatRayWrites) {
  raylet_.group_cleanup = "0";
  fs::remove(folder_.At("bin/python"));
  EXPECT_THAT(Found(), ElementsAre(AllOf(HasSubstr("ray-no-python: "), HasSubstr("no python is on"),
                                         HasSubstr("| ln -s " + raylet_.python),
                                         Not(HasSubstr("ray start ...")))));
  Install("bin/python");
  // That of another environment comes first.
  const std::string other = Install("other/bin/python");
  raylet_.path = folder_.At("other/bin") + ":" + raylet_.path;
  EXPECT_THAT(
      Found(),
      ElementsAre(AllOf(HasSubstr("on its PATH is " + other + ", not Ray's own " + raylet_.python),
                        HasSubstr("| PATH=" + folder_.At("bin") + ":$PATH ray start"))));
  // A link to the same program is the same Python, but not the link of a virtual environment.
  fs::remove(other);
  fs::create_symlink(raylet_.python, other);
  EXPECT_THAT(Found(), IsEmpty());
  folder_.Write("other/pyvenv.cfg", "");
  EXPECT_THAT(Found(), ElementsAre(HasSubstr("ray-no-python")));
  fs::remove(other);
  Install("other/bin/python", "#!/bin/sh\n");
  EXPECT_THAT(Found(), IsEmpty()) << "a script may start any Python";
}

TEST_F(ExamineRayletTest, SaysWhatItCannotLookAt) {
  raylet_.cannot = "it is another user's";
  EXPECT_THAT(Found(), IsEmpty());
  ASSERT_EQ(examination_.looked.size(), 1U);
  EXPECT_EQ(examination_.looked[0].cannot, raylet_.cannot);
  raylet_.cannot.clear();
  fs::remove_all(raylet_.session);
  Found();
  EXPECT_THAT(examination_.looked[1].cannot, HasSubstr("it is not there"));
}

}  // namespace
}  // namespace tacho
