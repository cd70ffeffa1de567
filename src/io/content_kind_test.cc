#include "io/content_kind.h"

#include <gtest/gtest.h>

#include <string>

#include "io/packed_for_test.h"
#include "io/perfetto_magic.h"
#include "io/trace_json.h"

namespace tacho {
namespace {

using namespace std::string_literals;

TEST(KindOf, KnowsATraceByItsTopLevelKeys) {
  for (const char* text : {
           R"({"schemaVersion": 1, "traceEvents": []})",
           "\xef\xbb\xbf \n{ \"traceEvents\" : [",
           R"({"zz": {"a": [1, {"x": [1,2,3]}], "s": "}\"]"}, "displayTimeUnit": "ms")",
           R"({"baseTimeNanoseconds": 1, "other": 2})",
           R"({"deviceProperties": [)",
           R"({"schemaVersion": 1, "traceName": "x"})",
           "{\n  \"schemaVersion\": 1,\n  \"dist",
           "{\"schemaVersion\":1",
       }) {
    EXPECT_EQ(KindOf(text), ContentKind::kChromeJson) << text;
  }
}

TEST(KindOf, KnowsATraceByItsEvents) {
  EXPECT_EQ(KindOf(R"([{"name": "k", "ph": "X", "ts": 1}])"), ContentKind::kChromeJson);
  EXPECT_EQ(KindOf("[\n {\n \"ph\" : \"X\", \"na"), ContentKind::kChromeJson);
  EXPECT_EQ(KindOf(R"({"args": [{"cat": "x", "ph": "X", "ts": 1.5})"), ContentKind::kChromeJson);
  // Sorted keys: the events come late.
  EXPECT_EQ(KindOf(R"({"aaa": {"deep": [{}]}, "metadata": {}, "traceEvents": [)"),
            ContentKind::kChromeJson);
}

TEST(KindOf, LeavesOtherJsonAlone) {
  for (const char* text : {
           "{}",
           "[]",
           "{",
           "[",
           "[1, 2]",
           R"(["ph", "ts"])",
           R"({"a": "traceEvents"})",
           R"({"schemaVersion": 2, "mediaType": "application/vnd.docker"})",
           R"({"schemaVersion": 1, "name": "image", "fsLayers": []})",
           R"({"schemaVersion": 10)",
           R"({"nested": {"deviceProperties": 1}})",
           R"({"kernels": 562, "events": 2443, "ph": 3})",
           R"([{"ts": 1}])",
       }) {
    EXPECT_EQ(KindOf(text), ContentKind::kOtherJson) << text;
  }
}

TEST(KindOf, KnowsResultsAlsoWhenTheyAreCutOff) {
  const std::string start = "{\n \"schema\": 1,\n \"tacho\": {\"version\": \"0.1.0\"},\n ";
  const std::string known = "{\n \"schema\"";
  for (const std::string next : {"\"verdict\": {", "\"traces\": []"}) {
    const std::string whole = start + next;
    for (size_t size = known.size() + 1; size <= whole.size(); ++size)
      EXPECT_EQ(KindOf(whole.substr(0, size)), ContentKind::kResults) << whole.substr(0, size);
  }
  for (const std::string& other :
       {known, start + "\"summary\": true", start + "\"s", start + "}", "{\"schema\": 1}"s,
        "{\"schema\": {\"a\": 1"s, "{\"schema\": \"x\", \"b\""s})
    EXPECT_NE(KindOf(other), ContentKind::kResults) << other;
}

TEST(KindOf, JudgesByTheFirst64KilobytesOnly) {
  const std::string padding(kSniffBytes, ' ');
  EXPECT_EQ(KindOf("{\"a\":" + padding + "1, \"traceEvents\": []}"), ContentKind::kOtherJson);
}

TEST(KindOf, KnowsTextFromBytes) {
  EXPECT_EQ(KindOf(""), ContentKind::kEmpty);
  EXPECT_EQ(KindOf("-----  ---- \nName   Self CPU\n"), ContentKind::kText);
  EXPECT_EQ(KindOf("[INFO] started\n"), ContentKind::kText);
  EXPECT_EQ(KindOf("{not json}"), ContentKind::kText);
  EXPECT_EQ(KindOf("\n\n\n"), ContentKind::kText);
  EXPECT_EQ(KindOf("\x7f"
                   "ELF\x02\x01\x01\0"s),
            ContentKind::kOther);
}

TEST(KindOf, KnowsOtherProfilersFiles) {
  EXPECT_EQ(KindOf("SQLite format 3\0....CREATE TABLE StringIds(id INTEGER"s),
            ContentKind::kNsysSqlite);
  EXPECT_EQ(KindOf("SQLite format 3\0....CREATE TABLE cookies(id INTEGER"s), ContentKind::kSqlite);
  EXPECT_EQ(KindOf("NVIDIA Tegra Profiler Report 2025@5"), ContentKind::kNsysReport);
  EXPECT_EQ(KindOf("NVR\0\x10\0\0\0"s), ContentKind::kNcuReport);
  // packet { timestamp: 1, trusted_packet_sequence_id: 2 } twice
  const std::string packet = "\x0a\x04\x40\x01\x50\x02";
  EXPECT_EQ(KindOf(packet + packet), ContentKind::kPerfetto);
  EXPECT_EQ(KindOf("{\n \"rocprofiler-sdk-tool\": [{\"metadata\": {}}]}"),
            ContentKind::kRocprofJson);
  for (const ContentKind kind :
       {ContentKind::kNcuReport, ContentKind::kPerfetto, ContentKind::kRocprofJson}) {
    EXPECT_NE(RemedyFor(kind).find("torch.profiler"), std::string::npos);
  }
  EXPECT_NE(RemedyFor(ContentKind::kNsysReport).find("nsys export"), std::string::npos);
}

TEST(KindOf, KnowsPackedFiles) {
  const std::string tar = packed::Archived({{"a.json", "{}"}}, packed::ArchiveFormat::kTar);
  const std::string zip = packed::Archived({{"a.json", "{}"}}, packed::ArchiveFormat::kZip);
  EXPECT_EQ(KindOf(tar), ContentKind::kTar);
  EXPECT_EQ(KindOf(zip), ContentKind::kZip);
  EXPECT_EQ(KindOf(tar.substr(0, 500)), ContentKind::kOther);
  EXPECT_EQ(KindOf("\xfd"
                   "7zXZ\0\0"s),
            ContentKind::kForeignPack);
  EXPECT_EQ(KindOf("BZh91AY&SY"), ContentKind::kForeignPack);
  EXPECT_EQ(KindOf(packed::Gzipped("gzip inside of gzip")), ContentKind::kForeignPack);
}

TEST(LooksLikePerfetto, NeedsAWellFormedFirstPacket) {
  const std::string packet = "\x0a\x04\x40\x01\x50\x02";
  EXPECT_TRUE(LooksLikePerfetto(packet));
  EXPECT_TRUE(LooksLikePerfetto("\x0a\x20" + packet.substr(2)));  // cut, but with a time stamp
  // track_descriptor { uuid: 1, name: "a" }, as torch's exporter begins
  const std::string track = "\x0a\x08\xe2\x03\x05\x08\x01\x12\x01\x61"s;
  EXPECT_TRUE(LooksLikePerfetto(track + packet));
  EXPECT_FALSE(LooksLikePerfetto(packet + "x"));
  EXPECT_FALSE(LooksLikePerfetto("\n"));
  EXPECT_FALSE(LooksLikePerfetto("\n\n\n\n"));
  EXPECT_FALSE(LooksLikePerfetto("\nsome text behind an empty line"));
  EXPECT_FALSE(LooksLikePerfetto("\x0a\x04\x08\x01\x12\x00"s));  // an XPlane of JAX
}

// Every prefix of any file can be judged.
TEST(KindOf, TakesEveryPrefix) {
  const std::string trace =
      "\xef\xbb\xbf [ {\"ph\" : \"X\\\"\", \"ts\": 1}, {\"schemaVersion\": 1} ] {\"";
  for (size_t size = 0; size <= trace.size(); ++size) KindOf(trace.substr(0, size));
  const std::string object = "{\"schemaVersion\":1,\"a\\\"\":{\"b\":[\"\\\\\"]},\"traceEvents\":[";
  for (size_t size = 0; size <= object.size(); ++size) KindOf(object.substr(0, size));
}

}  // namespace
}  // namespace tacho
