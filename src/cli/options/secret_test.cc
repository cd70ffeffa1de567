#include "cli/options/secret.h"

#include <gmock/gmock.h>

#include "cli/load/load_foreign.h"
#include "cli/record/record_options.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string LoadCommandOf(const std::vector<std::string>& arguments) {
  LoadFlags flags;
  const auto parsed = ParseLoadFlags(arguments, flags);
  return parsed ? flags.command : parsed.error().message;
}

TEST(WrittenCommand, EverySpellingOfASecretIsLeftOut) {
  const std::vector<std::string> spellings[] = {
      {"--api-key", "sesame"},
      {"--api-key=sesame"},
      {"--api_key", "sesame"},
      {"--api_key=sesame"},
      {"--header", "Authorization=Bearer sesame"},
      {"--header=AUTHORIZATION: bearer sesame"},
      {"--header", "X-API-Key=sesame", "Cookie: a=sesame; b=sesame"},
      {"--header", "Accept=text/plain", "--header", "$(id)=sesame"},
      {"--header", "`id`=sesame"},
      {"--extra-body", R"({"user":"sesame","a":["sesame",{"b":"\"sesame"}]})"},
      {"--extra-body", R"({"user" : "sesame\\", "c":"sesame"})"},
      {"--extra_body", "\"sesame"},
      {"--base-url", "http://me:sesame@h:1,http://you:sesame@h:2"},
      {"--host", "me:sesame@h"},
      {"--endpoint", "/v1/completions?key=sesame"},
      {"http://me:sesame@h:1/x"},
      {"http://h:1/x?key=sesame"},
  };
  for (const auto& spelling : spellings) {
    std::vector<std::string> arguments = {"http://h:8000", "--requests", "3"};
    arguments.insert(arguments.end(), spelling.begin(), spelling.end());
    const std::string command = LoadCommandOf(arguments);
    EXPECT_THAT(command, testing::StartsWith("tacho load http://h:8000")) << spelling.front();
    EXPECT_THAT(command, Not(HasSubstr("sesame"))) << spelling.front();
    // "$(id)" and "`id`" stay plain words for a shell.
    for (const char* run : {"\"$(", "\"`"}) EXPECT_THAT(command, Not(HasSubstr(run)));
  }
}

// A command with "$PYTHONPATH" in it would not repeat a recording in a shell that does not set it.
TEST(WrittenCommand, KeepsAnEnvironmentThatIsNotSecret) {
  RecordArguments own;
  const std::string token = "hf_" + std::string(34, 'a');
  ASSERT_TRUE(
      ParseArguments(RecordSpec(own),
                     {"--launch", "vllm", "--env", "PYTHONPATH=/a b:/c", "--env", "HF_TOKEN=sesame",
                      "--env", "A=" + token, "--env", "http_proxy=http://me:sesame@h:1", "--env",
                      "SGLANG_NUM_RESERVED_DECODE_TOKENS=512", "--env", "$(id)_TOKEN=sesame"}));
  EXPECT_THAT(own.command, HasSubstr("--env 'PYTHONPATH=/a b:/c'"));
  EXPECT_THAT(own.command, HasSubstr("--env \"HF_TOKEN=$HF_TOKEN\""));
  EXPECT_THAT(own.command, HasSubstr("--env \"A=$A\""));
  EXPECT_THAT(own.command, HasSubstr("--env \"http_proxy=$http_proxy\""));
  EXPECT_THAT(own.command, HasSubstr("--env SGLANG_NUM_RESERVED_DECODE_TOKENS=512"));
  EXPECT_THAT(own.command, Not(HasSubstr("$(id)")));
  EXPECT_THAT(own.command, Not(HasSubstr("sesame")));
}

TEST(WrittenCommand, IsTheCommandAsItWasUnderstood) {
  EXPECT_EQ(
      LoadCommandOf({"--num_prompts=7", "http://h:1", "--custom-output-len", "-1", "--save-result",
                     "--goodput", "ttft:5", "tpot:6", "--api-key", "k", "--header", "X-Api-Key=k",
                     "accept=a b", "--extra-body", R"({"n": 2, "user":"k"})", "--label", "it's"}),
      "tacho load http://h:1 --save-result --header \"X-Api-Key=$X_API_KEY\" --header "
      "'accept=a b' --extra-body '{\"n\": 2, \"user\":\"***\"}' --api-key \"$TACHO_API_KEY\" "
      "--num-prompts 7 --goodput ttft:5 --goodput tpot:6 --label 'it'\\''s' "
      "--custom-output-len=-1");
  RecordArguments own;
  ASSERT_TRUE(
      ParseArguments(RecordSpec(own), {"-n", "5", "--api-key-file", "k", "--", "-f", "u@h"}));
  EXPECT_EQ(own.command, "tacho record --requests 5 --api-key-file k -- -f '***@h'");
}

}  // namespace
}  // namespace tacho
