#include "doctor/doctor_looks.h"

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
    ASSERT_TRUE(ExamineLog(path, "vllm", "0.32.0", {}, examination, most));
    ASSERT_EQ(examination.found.size(), 1U);
    EXPECT_THAT(examination.found[0].evidence, testing::HasSubstr("in line 1003: ValueError"))
        << most;
  }
}

TEST(ExamineLog, QuotesNoSecret) {
  const FolderForTest folder;
  for (const char* cause : {"ValueError: no model at --api-key s3cret second",
                            "torch.OutOfMemoryError: CUDA out of memory. HF_TOKEN=s3cret",
                            "OSError: [Errno 28] No space left on device: api_key=['s3cret']"}) {
    Examination examination;
    ASSERT_TRUE(ExamineLog(
        folder.Write("a.log",
                     std::string("Traceback (most recent call last):\n  File\n") + cause + "\n"),
        "vllm", "0.32.0", {}, examination));
    ASSERT_FALSE(examination.found.empty());
    for (const Diagnosis& found : examination.found)
      EXPECT_THAT(found.evidence, testing::Not(testing::HasSubstr("s3cret"))) << cause;
  }
}

TEST(ExamineLog, EndsByItsStop) {
  const FolderForTest folder;
  const std::string path = folder.Write("engine.log", std::string(10'000, '\n'));
  std::stop_source stop;
  stop.request_stop();
  for (const size_t most : {size_t{200}, kMostOfLog}) {
    Examination examination;
    const auto read = ExamineLog(path, "", "", stop.get_token(), examination, most);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::kInterrupted);
    EXPECT_THAT(FoundIn(examination), IsEmpty());
  }
}

std::vector<std::string> SeveritiesIn(const std::string& path) {
  Examination examination;
  EXPECT_TRUE(ExamineLog(path, "", "", {}, examination)) << path;
  std::vector<std::string> found;
  for (const Diagnosis& one : examination.found)
    found.push_back(std::string(NameOf(one.severity)) + " " + one.id);
  return found;
}

TEST(ExamineLog, WhatEndedTheEngineIsBlocking) {
  const auto of = [](const std::string& name) {
    return SeveritiesIn(TACHO_SOURCE_DIR "/tests/data/engine-logs/" + name + ".log");
  };
  EXPECT_THAT(of("sglang-0.5.23-healthy"), IsEmpty());
  EXPECT_THAT(of("vllm-0.32-healthy"), IsEmpty());
  EXPECT_THAT(of("sglang-0.5.23-profiler-v2"), ElementsAre("blocking profiler-v2"));
  EXPECT_THAT(of("sglang-0.5.23-sessions"),
              ElementsAre("info stop-without-session", "notice session-lost", "notice merge-failed",
                          "blocking trace-folder-bad"));
  EXPECT_THAT(
      of("vllm-0.32-trace-folder-bad"),
      ElementsAre("info front-end-thread", "incomplete trace-folder-bad", "notice start-refused"));
  EXPECT_THAT(of("vllm-0.32-unknown-key"), ElementsAre("blocking config-key-unknown"));
  EXPECT_THAT(of("vllm-0.32-variable-not-parsed"),
              ElementsAre("notice variable-not-read", "notice timeout-not-read",
                          "blocking variable-not-parsed"));
}

TEST(ExamineLog, WhatFailedInAnEarlierStartIsANotice) {
  const FolderForTest folder;
  const std::string start =
      "(EngineCore pid=3) INFO 11-25 02:48:19 [core.py:133] Initializing a V1 LLM engine (v0.32.0) "
      "with config\n";
  const std::string full =
      "(EngineCore pid=3) ERROR 11-25 02:48:45 [core.py:640] Traceback (most recent call last):\n"
      "(EngineCore pid=3) ERROR 11-25 02:48:45 [core.py:640] torch.OutOfMemoryError: CUDA out of "
      "memory.\n"
      "(APIServer pid=1) ERROR 11-25 02:48:45 [async_llm.py:1] EngineDeadError: it died\n";
  const std::string ready = "INFO:     Application startup complete.\n";
  EXPECT_THAT(SeveritiesIn(folder.Write("a.log", start + full)),
              ElementsAre("blocking gpu-memory-full"));
  EXPECT_THAT(SeveritiesIn(folder.Write("b.log", start + full + start + ready)),
              ElementsAre("notice gpu-memory-full"));
  EXPECT_THAT(SeveritiesIn(folder.Write("c.log", start + full + start + ready + full)),
              ElementsAre("blocking gpu-memory-full"));
}

TEST(ExamineLog, AModelThatCannotBeHadComesWithItsRemedy) {
  const FolderForTest folder;
  for (const std::string failure :
       {"RuntimeError: Cannot find any model weights with `/m`\n",
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't "
        "find them in the cached files.\nCheck your internet connection or see how to run the "
        "library in offline mode.\n",
        "OSError: We couldn't connect to 'https://hf-mirror.com' to load this file, couldn't find "
        "it\n",
        "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached "
        "snapshot folder for the specified revision on the local disk\n"}) {
    const std::string log =
        "Traceback (most recent call last):\n  File \"<frozen runpy>\", line 198, in "
        "_run_module_as_main\n" +
        failure;
    Examination examination;
    ASSERT_TRUE(ExamineLog(folder.Write("a.log", log), "sglang", "0.5.23", {}, examination));
    ASSERT_EQ(examination.found.size(), 1U) << failure;
    EXPECT_EQ(examination.found[0].severity, FindingSeverity::kBlocking);
    EXPECT_EQ(examination.found[0].id, "engine-died");
    EXPECT_THAT(examination.found[0].remedy, testing::HasSubstr("hf download MODEL"));
    const std::string other = "Traceback (most recent call last):\nKeyError: 'x'\n";
    EXPECT_THAT(SeveritiesIn(folder.Write(
                    "b.log", log + "INFO:     Application startup complete.\n" + other)),
                testing::Not(testing::Contains(testing::HasSubstr("engine-died"))))
        << "it went on after that";
  }
}

TEST(ExamineLog, ACrashWithoutATracebackEndsTheEngineToo) {
  const FolderForTest folder;
  const std::string log =
      "[2026-11-25 02:50:12] Profiling starts. Traces will be saved to: /t (with profile id: 1)\n"
      "!!!!!!! Segfault encountered !!!!!!!\n"
      "[2026-11-25 02:50:13] SIGQUIT received. signum=None. It usually means one child failed.\n";
  EXPECT_THAT(SeveritiesIn(folder.Write("a.log", log)),
              ElementsAre("blocking crash-while-profiled"));
  const std::string served =
      "[2026-11-25 02:50:12] INFO:     127.0.0.1:5 - \"POST /generate HTTP/1.1\" 200 OK\n";
  const std::string other =
      "[2026-11-25 02:50:13] Scheduler hit an exception: Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in b\nKeyError: 'kv_cache'\n";
  EXPECT_THAT(SeveritiesIn(folder.Write("b.log", log.substr(0, log.rfind('[')) + served + other)),
              ElementsAre("blocking crash-while-profiled"))
      << "it does not survive that";
}

}  // namespace
}  // namespace tacho
