#include "control/log/log_line.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(LogLine, TakesVllmsApart) {
  const LogLine line =
      ReadLogLine("(VllmWorker-0 pid=123) ERROR 11-24 16:02:39 [mp.py:953]   File \"a.py\"\r");
  EXPECT_EQ(line.process, "VllmWorker-0 pid=123");
  EXPECT_EQ(line.writer, line.process);
  EXPECT_EQ(line.engine, "");
  EXPECT_EQ(line.time, "16:02:39");
  EXPECT_EQ(line.head, "ERROR 11-24 16:02:39 [mp.py:953]");
  EXPECT_TRUE(line.is_error);
  EXPECT_FALSE(line.is_notice);
  EXPECT_EQ(line.text, "  File \"a.py\"");
  EXPECT_EQ(ReadLogLine("INFO 10-01 10:00:00 llm_engine.py:237] Initializing").text,
            "Initializing");
  EXPECT_TRUE(ReadLogLine("WARNING 10-01 10:00:00 [a.py:2] x").is_notice);
}

TEST(LogLine, TakesSglangsApart) {
  const LogLine line = ReadLogLine("[2026-11-24 16:03:22 TP1] Profiling starts.");
  EXPECT_EQ(line.process, "TP1");
  EXPECT_EQ(line.writer, "") << "the lines of its tracebacks name no rank";
  EXPECT_EQ(line.time, "16:03:22");
  EXPECT_EQ(line.text, "Profiling starts.");
  EXPECT_EQ(
      ReadLogLine(" 45%|####5     | 9/20 [00:01<00:01,  9.0it/s][2026-11-24 16:03:22] x").text,
      "x");
}

// Findings, screens and files quote its text.
TEST(LogLine, HasNoSecret) {
  EXPECT_EQ(ReadLogLine("(APIServer pid=7) INFO 11-27 18:00:00 [utils.py:1] non-default args: "
                        "{'api_key': ['s3cret', 'second'], 'port': 8000}")
                .text,
            "non-default args: {'api_key': ['******', '******'], 'port': 8000}");
  EXPECT_EQ(ReadLogLine("[2026-11-24 16:02:39 TP0] server_args=ServerArgs(api_key='s3cret')").text,
            "server_args=ServerArgs(api_key='******')");
  EXPECT_EQ(ReadLogLine("ValueError: no model at https://me:s3cret@h/m").text,
            "ValueError: no model at https://me:******@h/m");
}

TEST(LogLine, NamesAProcessByItsNameRankOrNumber) {
  for (const char* const process :
       {"pid=5", "EngineCore pid=5", "Worker_TP0 pid=5", "VllmWorker rank=1 pid=5",
        "VllmWorker PP0_TP1 pid=5", "RayWorkerProc pid=5, ip=10.0.0.1",
        "ServeReplica:app:LLMServer pid=5"})
    EXPECT_EQ(ReadLogLine("(" + std::string(process) + ") hello").process, process);
  for (const char* const text :
       {"(the pid=x) a", "(in the pid=5) a", "(a, b pid=5) c", "(pid=) a", "(pid=5"})
    EXPECT_EQ(ReadLogLine(text).process, "") << text;
}

TEST(LogLine, LeavesOutWhatACollectorPutBefore) {
  const std::string record = "(EngineCore pid=5) ERROR 11-24 16:02:39 [core.py:1]   File";
  for (const std::string before :
       {"2025-09-02T08:04:02.880386946-07:00 ", "2025-09-02T08:04:02Z ",
        "2025-09-02T08:04:02.88Z stderr F ",
        "Aug 19 18:34:30 gpu1 vllm: ", "Aug 19 18:34:30 gpu1 vllm[8707]: ",
        "Aug  9 18:34:30 gpu1 vllm[8707]: ", "2026-11-24T16:02:39+0000 gpu1 vllm[1]: ",
        "2026-11-24T16:02:39.5+00:00 gpu1 vllm: ", "vllm-1  | 2025-09-02T08:04:02.88Z "}) {
    const LogLine line = ReadLogLine(before + record);
    EXPECT_EQ(line.head, "ERROR 11-24 16:02:39 [core.py:1]") << before;
    EXPECT_EQ(line.text, "  File") << before;
    EXPECT_EQ(ReadLogLine(before + "  File").text,
              before.starts_with("vllm") ? before + "  File" : "  File")
        << "a name is not known before a record had it";
  }
  LogLineReader lines;
  EXPECT_EQ(
      lines.Read("2025-09-02T08:04:02.1Z (SGLangEngine pid=7) [2026-11-24 16:03:22] x").engine,
      "SGLangEngine pid=7");
  EXPECT_EQ(lines.Read("2025-09-02T08:04:02.2Z (SGLangEngine pid=7)   File").engine,
            "SGLangEngine pid=7");
  EXPECT_EQ(ReadLogLine("[rank0]:   File \"a.py\"").text, "  File \"a.py\"");
  EXPECT_EQ(ReadLogLine("[rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] x").process,
            "rank0");
  for (const char* const text : {"Aug 19 is a day of the year", "2025-09-02 is one",
                                 "Aug 19 18:34:30", "Aug 19 18:34:30 ValueError: no model: x"})
    EXPECT_EQ(ReadLogLine(text).text, text);
}

TEST(LogLineReader, KnowsANameInLinesWithoutATimeToo) {
  for (const std::string name :
       {"w1  | ", "\x1b[36mw1  |\x1b[0m ", "[w1] ", "w1: ", "(SGLangEngine pid=7) "}) {
    LogLineReader lines;
    const LogLine first = lines.Read(name + "[2026-11-24 16:03:22 TP1] Profiling starts.");
    EXPECT_EQ(first.engine, name[0] == '(' ? "SGLangEngine pid=7" : "w1") << name;
    EXPECT_EQ(first.process, first.engine + " TP1");
    const LogLine frame = lines.Read(name + "  File \"a.py\"");
    EXPECT_EQ(frame.writer, first.writer);
    EXPECT_EQ(frame.text, "  File \"a.py\"");
  }
  LogLineReader lines;
  const std::string head = "ERROR 11-24 16:02:39 [core.py:1] x";
  const LogLine actor =
      lines.Read("(vLLMHttpServer pid=7, ip=10.0.0.1) (EngineCore pid=8) " + head);
  EXPECT_EQ(actor.engine, "vLLMHttpServer pid=7, ip=10.0.0.1");
  EXPECT_EQ(actor.writer, "vLLMHttpServer pid=7, ip=10.0.0.1 EngineCore pid=8");
  const LogLine worker = lines.Read("(EngineCore pid=8) (RayWorkerProc pid=9) " + head);
  EXPECT_EQ(worker.engine, "") << "a process is no engine";
  EXPECT_EQ(worker.process, "RayWorkerProc pid=9");
}

TEST(LogLineReader, KnowsThePodsOfStern) {
  for (const std::string name :
       {"vllm-7d9f8c6b5d-x2x4z vllm", "vllm-0 engine", "lws-0-1 sglang-worker"})
    for (const std::string& prefix : {name + " ", name + " › ", "\x1b[36m" + name + "\x1b[0m "}) {
      LogLineReader lines;
      const LogLine first =
          lines.Read(prefix + "(EngineCore pid=5) ERROR 11-24 16:02:39 [a.py:1] x");
      EXPECT_EQ(first.engine, name) << prefix;
      EXPECT_EQ(first.text, "x");
      EXPECT_EQ(lines.Read(prefix + "  File \"a.py\"").text, "  File \"a.py\"");
    }
  for (const char* const other : {"pre-fill done ", "vllm engine ", "vllm-0 (a) ", "-0 "})
    EXPECT_EQ(ReadLogLine(std::string(other) + "[2026-11-24 16:03:22] x").engine, "") << other;
}

TEST(LogLineReader, KnowsWhateverStandsBeforeRecords) {
  for (const auto& [one, other] : {std::pair{"[1,0]<stderr>:", "[1,12]<stderr>:"},
                                   std::pair{"Aug 19 18:34:30 ", "Aug 19 18:34:31 "},
                                   std::pair{"2026-08-19 18:34:30.099 ", "2026-08-19 18:34:30.1 "},
                                   std::pair{"2026-08-19T18:34:30.09Z {pod=\"vllm-0\"} ",
                                             "2026-08-19T18:34:31Z {pod=\"vllm-0\"} "},
                                   std::pair{"<134>1 2026-08-19T18:34:30Z gpu1 vllm 1 - - ",
                                             "<134>1 2026-08-19T18:35:30Z gpu1 vllm 1 - - "},
                                   std::pair{"2026-08-19T18:34:30Z vllm/server/abc ",
                                             "2026-08-19T18:34:39Z vllm/server/abc "}}) {
    LogLineReader lines;
    const std::string first = one, next = other;
    EXPECT_EQ(lines.Read(first + "[2026-11-24 16:03:22 TP1] a").process, "TP1") << one;
    EXPECT_EQ(lines.Read(next + "  File \"a.py\"").text, "  File \"a.py\"") << one;
    const LogLine line = lines.Read(next + "(EngineCore pid=5) ERROR 11-24 16:02:39 [a.py:1] x");
    EXPECT_EQ(line.process, "EngineCore pid=5") << one;
    EXPECT_EQ(line.engine, "") << one;
    EXPECT_EQ(lines.Read(next + "(EngineCore pid=5)   File").text, "  File") << one;
  }
  // A process in the middle of a line is no record.
  const std::string ray = "ray.exceptions.RayTaskError(KeyError): ray::f() (pid=7, ip=10.0.0.1)";
  EXPECT_EQ(ReadLogLine(ray).text, ray);
  LogLineReader bar;
  bar.Read(" 45%|####5     | 9/20 [00:01<00:01,  9.0it/s][2026-11-24 16:03:22] x");
  EXPECT_EQ(bar.Read(" 46%|####5     | 9/20 [00:01<00:01,  9.0it/s]y").text,
            " 46%|####5     | 9/20 [00:01<00:01,  9.0it/s]y");
}

TEST(LogLineReader, KnowsRanksOfTorchrunBeforeRecords) {
  LogLineReader lines;
  lines.Read("[default0]:[2026-11-24 16:03:22 TP1] a");
  EXPECT_EQ(lines.Read("[default0]:  File").writer, "default0");
  EXPECT_EQ(lines.Read("[default1]:  File").writer, "default1");
  EXPECT_EQ(lines.Read("other").writer, "");
  EXPECT_EQ(ReadLogLine("[default0]:(EngineCore pid=5) x").process, "default0 EngineCore pid=5");
}

TEST(LogLineReader, RemembersABoundedNumberOfNames) {
  LogLineReader lines;
  for (int i = 0; i < 200; ++i) lines.Read("w" + std::to_string(i) + " | [2026-11-24 16:03:22] x");
  EXPECT_EQ(lines.Read("w63 |   a").engine, "w63");
  EXPECT_EQ(lines.Read("w64 |   a").engine, "");
}

}  // namespace
}  // namespace tacho
