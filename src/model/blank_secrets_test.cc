#include "model/blank_secrets.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

TEST(BlankSecretsOf, TextsOfTheWholeTraceAtTheirLengths) {
  TraceBuilder b;
  b.header().fields = {{"env", R"({"HF_TOKEN": "abcdefgh", "HOME": "/root"})"},
                       {"API_KEY", R"("abcdefgh")"},
                       {"num_tokens", R"("12345678")"}};
  b.header().producer_log = {"WARNING: Bearer abcdefgh"};
  b.NameProcess("1", "vllm --api-key s3cret");
  b.Kernel("gemm",
           {.start = 0, .duration = 5, .args = {{"password", R"("gemm")"}, {"grid", "[1, 2, 3]"}}});
  b.Host("cpu_op", "aten::mm",
         {.start = 0, .duration = 5, .args = {{"note", R"({"api_key": "abcd"})"}}});
  Trace trace = std::move(b).Finish();
  EXPECT_EQ(BlankSecretsOf(trace), 6u);
  EXPECT_EQ(trace.header.fields[0].second, R"({"HF_TOKEN": "********", "HOME": "/root"})");
  EXPECT_EQ(trace.header.fields[1].second, R"("********")");
  EXPECT_EQ(trace.header.fields[2].second, R"("12345678")");
  EXPECT_EQ(trace.header.producer_log[0], "WARNING: Bearer ********");
  EXPECT_EQ(trace.Text(trace.words.processes()[0].name), "vllm --api-key ******");
  // The kernel of the same name as the password keeps it.
  EXPECT_EQ(trace.Text(trace.gpu.name[0]), "gemm");
  EXPECT_EQ(*ArgText(trace, GpuArgs(trace, 0), "password"), R"("****")");
  EXPECT_EQ(ArgsText(trace, GpuArgs(trace, 0)), R"({"password": "****", "grid": [1, 2, 3]})");
  EXPECT_EQ(*ArgText(trace, HostOpArgs(trace, 0), "note"), R"({"api_key": "****"})");
  EXPECT_EQ(BlankSecretsOf(trace), 0u);
}

// Texts that only begin as JSON does, and JSON whose texts have escapes.
TEST(BlankSecretsOf, NamesWithBracketsAndTextsWithEscapes) {
  TraceBuilder b;
  b.header().fields = {{"note", R"("password:\nabcdefgh1 rest")"},
                       {"distributedInfo", R"({"rank": 3, "store": "TOKEN_PASSWORD=\nabcd1234"})"}};
  b.Host("cpu_op", "[TP0] server_args: api_key='s3cret'", {.start = 0, .duration = 5});
  b.Host("cpu_op", "{step} --api-key s3cret",
         {.start = 9, .duration = 5, .args = {{"msg", R"("HF_TOKEN=ab\tcdef")"}}});
  Trace trace = std::move(b).Finish();
  const auto fields = trace.header.fields;
  EXPECT_EQ(BlankSecretsOf(trace), 2u);
  EXPECT_EQ(trace.header.fields, fields);
  EXPECT_EQ(trace.Text(trace.host_ops.name[0]), "[TP0] server_args: api_key='******'");
  EXPECT_EQ(trace.Text(trace.host_ops.name[1]), "{step} --api-key ******");
  EXPECT_EQ(*ArgText(trace, HostOpArgs(trace, 1), "msg"), R"("HF_TOKEN=ab\tcdef")");
}

// A value that differs from event to event is kept apart from the text of the arguments.
TEST(BlankSecretsOf, ArgumentsThatVary) {
  TraceBuilder b;
  Vocabulary& words = b.vocabulary();
  ArgsShape shape;
  shape.text = R"({"n": )";
  shape.AddSlot(words.strings.Intern("n"), SlotHome::kInteger);
  shape.text += R"(, "api_key": )";
  shape.AddSlot(words.strings.Intern("api_key"), SlotHome::kText);
  shape.text += R"(, "x": )";
  shape.AddSlot(words.strings.Intern("x"), SlotHome::kText);
  shape.text += "}";
  const ArgsShapeId id = words.AddArgsShape(shape);
  for (int i = 0; i < 3; ++i) {
    const auto text = [&](const char* value) {
      return static_cast<int64_t>(words.strings.Intern(value + std::to_string(i) + "\""));
    };
    const int64_t values[] = {int64_t{1} << (20 * i), text("\"abcd"), text("\"plain")};
    Event event;
    event.category = words.InternCategory("cpu_op");
    event.has_category = event.has_start = true;
    event.kind = SliceKind::kHostOp;
    event.name = words.strings.Intern("op");
    event.track = words.InternTrack(words.InternProcess(words.strings.Intern("1")),
                                    words.strings.Intern("1"));
    event.args = id;
    event.arg_values = values;
    b.OnEvent(event);
  }
  Trace trace = std::move(b).Finish();
  EXPECT_EQ(BlankSecretsOf(trace), 3u);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(*ArgText(trace, HostOpArgs(trace, row), "api_key"), R"("*****")");
    EXPECT_EQ(*ArgText(trace, HostOpArgs(trace, row), "x"), "\"plain" + std::to_string(row) + "\"");
  }
}

}  // namespace
}  // namespace tacho
