#include "cli/doctor_looks.h"

#include <gmock/gmock.h>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> FoundIn(const Examination& examination) {
  std::vector<std::string> found;
  for (const Diagnosis& one : examination.found) found.push_back(one.id + " " + one.subject);
  return found;
}

TEST(ExamineImporter, NamesAnNsysWithoutIt) {
  const FolderForTest folder;
  const NsysProgram nsys{folder.Write("bin/nsys", ""), "2022.4.2.1", {2022, 4, 2, 1}};
  Examination without;
  ExamineImporter(nsys, without);
  EXPECT_THAT(FoundIn(without), ElementsAre("importer-missing " + nsys.path));

  fs::permissions(folder.Write("host-linux-x64/QdstrmImporter", ""), fs::perms(0755));
  Examination with;
  ExamineImporter(nsys, with);
  EXPECT_THAT(FoundIn(with), IsEmpty());
}

TEST(ExamineGpus, NamesThoseWhoseHardwareNsysTraces) {
  const auto found = [](const std::string& model) {
    const FolderForTest driver;
    driver.Write("version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.1\n");
    driver.Write("gpus/0000:01:00.0/information", "Model: \t\t " + model + "\nIRQ: 1\n");
    Examination examination;
    ExamineGpus(driver.path(), examination);
    EXPECT_EQ(examination.looked.back().at, "GPU " + model);
    return FoundIn(examination);
  };
  for (const char* const model : {"NVIDIA GB200", "NVIDIA GB300", "NVIDIA VR200"})
    EXPECT_THAT(found(model), ElementsAre(std::string("hardware-tracing ") + model));
  for (const char* const model : {"NVIDIA H200", "NVIDIA B200", "Tesla V100"})
    EXPECT_THAT(found(model), IsEmpty()) << model;
  Examination none;
  ExamineGpus("/nowhere", none);
  EXPECT_THAT(FoundIn(none), IsEmpty());
}

TEST(ExamineLog, NamesLinesOfTheWholeLog) {
  const FolderForTest folder;
  std::string log;
  for (int i = 0; i < 1000; ++i) log += "INFO a line\n";
  log += "Traceback (most recent call last):\n  File\nValueError: the cause\n";
  const std::string path = folder.Write("engine.log", log);
  for (const size_t most : {size_t{200}, log.size()}) {
    Examination examination;
    ASSERT_TRUE(ExamineLog(path, "vllm", "0.32.0", examination, most));
    ASSERT_EQ(examination.found.size(), 1U);
    EXPECT_THAT(examination.found[0].evidence, testing::HasSubstr("in line 1003: ValueError"))
        << most;
  }
}

}  // namespace
}  // namespace tacho
