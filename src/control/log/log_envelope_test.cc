#include "control/log/log_envelope.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "control/log/log_line.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Object = nlohmann::json;

const std::string kRecord = "(EngineCore pid=5) ERROR 11-24 16:02:39 [core.py:1]   File \"a.py\"";

TEST(LinesInEnvelope, AreThoseOfEveryCollector) {
  for (const auto& [key, more] : std::initializer_list<std::pair<const char*, Object>>{
           {"log", {{"stream", "stderr"}, {"time", "2026-08-19T18:34:30.09Z"}}},
           {"message", {{"level", "ERROR"}}},
           {"msg", {{"ts", 1.5}, {"labels", {{"app", "vllm"}}}}},
           {"text", {{"timestamp", "2026-08-19"}}},
           {"line", Object::object()},
           {"textPayload", {{"severity", "ERROR"}}},
           {"MESSAGE", {{"_HOSTNAME", "gpu1"}, {"SYSLOG_IDENTIFIER", "vllm"}}}}) {
    Object object = more;
    object[key] = kRecord + "\n";
    EXPECT_THAT(LinesInEnvelope(object.dump()), ElementsAre(kRecord)) << key;
    EXPECT_THAT(LinesInEnvelope(object.dump(1).substr(0, 2) + object.dump().substr(1) + "\r"),
                ElementsAre(kRecord))
        << key << ": blanks change nothing";
    // One envelope in another, as fluent-bit forwards docker's.
    for (const char* const outer : {"log", "message"})
      EXPECT_THAT(LinesInEnvelope(Object{{outer, object.dump() + "\n"}}.dump()),
                  ElementsAre(kRecord))
          << key << " in " << outer;
  }
  EXPECT_THAT(LinesInEnvelope(Object{{"jsonPayload", {{"message", kRecord}}}}.dump()),
              ElementsAre(kRecord));
}

TEST(LinesInEnvelope, FollowATimeOrAName) {
  const std::string json = Object{{"message", kRecord}}.dump();
  for (const char* const before : {"2026-08-19T18:34:30.09Z ", "2026-08-19T18:34:30.09Z stderr F ",
                                   "vllm-1  | ", "[pod/vllm-0/server] ", "0: ", "vllm-0 server ",
                                   "Aug 19 18:34:30 host1 vllm[8707]: ", "\x1b[36mw1  |\x1b[0m ",
                                   "vllm-1  | 2026-08-19T18:34:30.09Z "}) {
    const auto lines = LinesInEnvelope(before + json);
    ASSERT_EQ(lines.size(), 1) << before;
    const LogLine line = LogLineReader().Read(lines[0]);
    EXPECT_EQ(line.head, "ERROR 11-24 16:02:39 [core.py:1]") << before;
    EXPECT_EQ(line.process.substr(line.process.size() - 16), "EngineCore pid=5") << before;
    EXPECT_EQ(line.text, "  File \"a.py\"") << before;
  }
}

TEST(LinesInEnvelope, AreAllOfAMessage) {
  EXPECT_THAT(LinesInEnvelope(R"({"log":"Traceback:\n  File \"a\"\n\nValueError: x\n"})"),
              ElementsAre("Traceback:", "  File \"a\"", "", "ValueError: x"));
  EXPECT_THAT(LinesInEnvelope(R"({"message":"it failed","exc_info":"Traceback:\nValueError: x"})"),
              ElementsAre("it failed", "Traceback:", "ValueError: x"));
  EXPECT_THAT(LinesInEnvelope(R"({"log":"\n"})"), ElementsAre(""));
  EXPECT_THAT(LinesInEnvelope(R"({"MESSAGE":[27,91,51,109,104,105]})"), ElementsAre("\x1b[3mhi"));
}

TEST(LinesInEnvelope, HaveTheNameOfTheirPod) {
  for (const char* const json :
       {R"({"log":"x","kubernetes":{"pod_name":"vllm-0"}})",
        R"({"line":"x","labels":{"pod":"vllm-0"},"timestamp":"2026-08-19"})",
        R"({"message":"{\"msg\":\"x\"}","pod":"vllm-0"})"})
    EXPECT_THAT(LinesInEnvelope(json), ElementsAre("vllm-0 | x")) << json;
  EXPECT_THAT(LinesInEnvelope(R"({"log":"x","pod":"a b|"})"), ElementsAre("x"));
}

TEST(LinesInEnvelope, AreNoneInOtherObjects) {
  for (const char* const line :
       {"", "{", "}", "{}", "hello {\"message\": \"x\"}", "{'log': 'x'}", "{\"a\": \"x\"}",
        "{\"log\": 5}", "{\"log\": \"x\"", "{\"log\": \"x\"} {",
        "INFO 11-24 16:02:39 [a.py:1] sent {\"message\": \"x\"}",
        // What a model wrote, and what it was asked.
        R"({"text":"ValueError: x","meta_info":{"id":"1"}})",
        R"({"id":"1","choices":[],"message":"Traceback"})", R"({"prompt":"a","text":"b"})",
        R"({"log":[300]})", R"({"log":[]})"})
    EXPECT_THAT(LinesInEnvelope(line), IsEmpty()) << line;
  EXPECT_THAT(LinesInEnvelope("{\"log\":\"" + std::string(2 << 20, 'x') + "\"}"), IsEmpty());
  EXPECT_THAT(LinesInEnvelope("{\"a\":" + std::string(100'000, '[') + "}"), IsEmpty());
}

}  // namespace
}  // namespace tacho
