// What json_mutator.cc puts into the run.json and plan.json of recording_fuzz.
#include "fuzz/json_mutator.h"

namespace {

constexpr std::string_view kWords[] = {
    "0",
    "-1",
    "1",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e308",
    "1e999",
    "0.5",
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"a\\u0000\\u202e\\ud83d\"",
    "[1795263589000000000, 1795263590000000000]",
    "[5, 4]",
    R"("in_flight": {"uncertainty_ns": 5, "shared": true, "unix_ns": [[1, 2], [3, 4]]},)",
    R"("workers": [{"name": "w0", "engine": "vllm", "model": "m"}],)",
    R"("proof": {"proven": 1, "ranks": 1},)",
    R"("baseline": {"duration_ns": 5, "requests_done": 7, "requests_failed": 1},)",
    R"("ttft": {"requests": 7, "p50_ns": 1000, "p99_ns": 2000},)",
    R"("cost_of_profiling": {"share": 0.05, "error": 0.02},)",
    R"("missing": ["x"],)",
    "\"arrivals\": \"users\",",
    "\"cut_to_model\": 3,",
    "\"duration_ns\": 5,",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
};
constexpr std::string_view kSeed =
    R"({"proof": {"proven": 1, "ranks": 1}, "workers": [{"name": "w0", "in_flight": {"uncertainty_ns": 5, "unix_ns": [[1, 2]]}}]})";

}  // namespace

const FuzzedJson& JsonOfTarget() {
  static constexpr FuzzedJson kRecording{
      .choice_bytes = 0, .words = kWords, .seed = kSeed, .strict = false, .small = 4000};
  return kRecording;
}
