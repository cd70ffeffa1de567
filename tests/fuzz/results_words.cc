// What json_mutator.cc puts into the results of results_fuzz: names that results know, and numbers
// at the bounds of JsonReader.
#include "fuzz/json_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    // Times are below 2^61, counts up to 2^53.
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "63",
    "64",
    "255",
    "256",
    "65536",
    "1000000000",
    "2147483647",
    "2147483648",
    "4294967296",
    "9007199254740992",
    "9007199254740993",
    "2305843009213693952",
    "-2305843009213693952",
    "2305843009213693953",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0.5",
    "1e308",
    "-1e-308",
    "1.0",
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "[1, 2]",
    "\"\"",
    "\"x\"",
    "\"0\"",
    "\"/tmp/t.json\"",
    "\"a\\u0000\\u202e\\n\\ud83d\\ude00\"",
    "\"<script>\"",
    "\"\\u001b[31m\"",
    "\"worker\"",
    "\"frontend\"",
    "\"merged\"",
    "\"vllm\"",
    "\"sglang\"",
    "\"cpu\"",
    "\"unknown\"",
    "\"host-late\"",
    "\"in-launch-call\"",
    "\"compute\"",
    "\"communication\"",
    "\"copy\"",
    "\"memset\"",
    "\"comm.collective\"",
    "\"gemm.dense\"",
    "\"prefill\"",
    "\"decode\"",
    "\"mixed\"",
    "\"truncated-json\"",
    "\"no-gpu-events\"",
    "\"orphan-gpu-events\"",
    "\"failed\": [\"x: why\"],",
    "\"unproven\": [\"w1: why\"],",
    "\"skipped\": [\"x: why\"],",
    "\"rank\": 1,",
    "\"world_size\": 8,",
    "\"identity\": {\"name\": \"TP1\"},",
    "\"scope\": {\"device\": \"0\"},",
    "\"ranks\": {\"missing_count\": 1},",
    R"("together": [{"paths": ["/tmp/t.json"], "devices": [], "idle": {}}],)",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
};
constexpr std::string_view kSeed =
    R"({"schema": 1, "tacho": {"version": "1"}, "traces": [], "skipped": []})";

}  // namespace

const FuzzedJson& JsonOfTarget() {
  static constexpr FuzzedJson kResults{
      .choice_bytes = 0, .words = kWords, .seed = kSeed, .strict = true, .small = 20000};
  return kResults;
}
