#include "load/plan/dataset.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/plan/plan.h"
#include "load/plan/prompt_text.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Dataset Read(std::string_view bytes, const DatasetOptions& options = {}) {
  auto dataset = ReadDataset(bytes, options);
  EXPECT_TRUE(dataset) << dataset.error().message;
  return dataset ? std::move(*dataset) : Dataset{};
}

constexpr std::string_view kShareGpt = R"([
 {"id":"a","conversations":[{"from":"human","value":"What is \"it\"?"},{"from":"gpt","value":"That."},{"from":"human","value":"x"}]},
 {"id":"b","conversations":[{"from":"human","value":"alone"}]},
 17,
 {"id":"c","conversations":[{"from":"human","value":"second"},{"from":"gpt","value":"yes"}]}
])";

TEST(Dataset, ShareGptIsItsFirstTurnAndTheAnswer) {
  const Dataset dataset = Read(kShareGpt);
  EXPECT_EQ(dataset.kind, DatasetKind::kShareGpt);
  ASSERT_EQ(dataset.rows.size(), 2u);
  EXPECT_EQ(dataset.rows[0].text, "What is \"it\"?");
  EXPECT_EQ(dataset.rows[0].answer, "That.");
  EXPECT_EQ(dataset.rows[1].text, "second");
  EXPECT_EQ(dataset.unfit, 1u);
  EXPECT_EQ(dataset.broken, 1u);
  EXPECT_EQ(dataset.first_broken[0].line, 3u);
}

TEST(Dataset, CustomLinesAndTheirBrokenOnes) {
  const std::string_view lines =
      "{\"prompt\":\"one\",\"output_tokens\":5}\n"
      "{\"prompt\":\"two\"\n"
      "\n"
      "nonsense\r\n"
      "{\"prompt\":\"three\"} trailing\n"
      "{\"other\":1}\n"
      "{\"prompt\":\"four\"}";
  const Dataset dataset = Read(lines);
  EXPECT_EQ(dataset.kind, DatasetKind::kCustom);
  ASSERT_EQ(dataset.rows.size(), 2u);
  EXPECT_EQ(dataset.rows[0].output_tokens, 5);
  EXPECT_EQ(dataset.rows[1].text, "four");
  EXPECT_EQ(dataset.broken, 4u);
  std::vector<uint64_t> where;
  for (const BrokenLine& line : dataset.first_broken) where.push_back(line.line);
  EXPECT_THAT(where, ElementsAre(2, 4, 5, 6));
  const auto stopped = ReadDataset(lines, {.stop_at_broken = true});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::kUnreadable);
  EXPECT_THAT(stopped.error().message, HasSubstr("line 2: "));
  EXPECT_THAT(stopped.error().message, HasSubstr("(broken lines in all: 4)"));
}

TEST(Dataset, MooncakesTraceHasTimesAndSharedBlocks) {
  const Dataset dataset = Read(
      "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, "
      "47]}\n"
      "{\"timestamp\": 27000, \"input_length\": 600, \"output_length\": 26, \"hash_ids\": [46, "
      "48]}\n");
  EXPECT_EQ(dataset.kind, DatasetKind::kTrace);
  ASSERT_EQ(dataset.rows.size(), 2u);
  EXPECT_EQ(dataset.rows[0].prompt_tokens, 600);
  EXPECT_EQ(*dataset.rows[0].at_ns, 0);
  EXPECT_EQ(*dataset.rows[1].at_ns, 482'000'000);
  PlanOptions options;
  options.replay_speed = 2;
  options.salt = 1;
  const auto plan = MakePlan(options, dataset);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->requests.size(), 2u);
  EXPECT_EQ(plan->requests[1].at_ns, 241'000'000);
  EXPECT_EQ(plan->requests[1].output_tokens, 52);
  const std::vector<int64_t> ids = {1000, 2345, 4711, 6789, 8888, 9999};
  std::string one, other;
  AppendTokenIds(plan->requests[0], plan->salt, ids, one);
  AppendTokenIds(plan->requests[1], plan->salt, ids, other);
  // The first 512 tokens, of four digits each, are the same; then the prompts differ.
  EXPECT_EQ(one.substr(0, 512 * 5), other.substr(0, 512 * 5));
  EXPECT_NE(one.substr(512 * 5, 100), other.substr(512 * 5, 100));
  EXPECT_EQ(std::count(one.begin(), one.end(), ','), 599);
}

TEST(Dataset, ATraceOfSecondsAndShortBlocksIsReadAsSuch) {
  const Dataset dataset =
      Read(R"({"timestamp":0.0,"input_length":50,"output_length":8,"hash_ids":[1,2,3,4]}
{"timestamp":1.5,"input_length":60,"output_length":8,"hash_ids":[1,2,3,5]}
{"timestamp":3.0,"input_length":70,"output_length":8,"hash_ids":[9,10,11,12,13]})");
  EXPECT_EQ(dataset.rows[1].at_ns, 1'500'000'000);
  EXPECT_EQ(dataset.rows[2].at_ns, 3'000'000'000);
  PlanOptions options;
  options.replay_speed = 1;
  const auto plan = MakePlan(options, dataset);
  const std::vector<int64_t> ids = {1000, 2345, 4711, 6789, 8888, 9999};
  constexpr uint64_t kSalt = 2;  // with other salts two tokens may be equal by chance
  std::string one, other;
  AppendTokenIds(plan->requests[0], kSalt, ids, one);
  AppendTokenIds(plan->requests[1], kSalt, ids, other);
  EXPECT_EQ(one.substr(0, 48 * 5), other.substr(0, 48 * 5));  // tokens have four digits
  EXPECT_NE(one.substr(48 * 5, 2 * 5), other.substr(48 * 5, 2 * 5));
}

TEST(Dataset, TracesAsCsv) {
  const Dataset azure = Read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 18:17:03.9799600,4808,10\r\n"
      "2023-11-16 18:17:04.0319600,3180,8\n"
      "broken\n");
  EXPECT_EQ(azure.kind, DatasetKind::kAzure);
  ASSERT_EQ(azure.rows.size(), 2u);
  EXPECT_EQ(*azure.rows[1].at_ns, 52'000'000);
  EXPECT_EQ(azure.broken, 1u);
  EXPECT_EQ(azure.first_broken[0].line, 4u);
  const Dataset burst = Read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,Conversation log\n");
  EXPECT_EQ(burst.kind, DatasetKind::kBurstGpt);
  ASSERT_EQ(burst.rows.size(), 1u);
  EXPECT_EQ(burst.rows[0].prompt_tokens, 472);
  EXPECT_EQ(burst.unfit, 1u);
}

TEST(Dataset, SaysWhatALineShouldBeAndWhatIsNotRead) {
  const Dataset dataset = Read(
      "{\"prompt\":\"a\",\"output_len\":5,\"id\":1}\n[1]\n{\"prompt\":\"b\",\"output_len\":5}\n"
      "{\"question\":\"b\"}\n{\"prompt\n");
  ASSERT_EQ(dataset.first_broken.size(), 3u);
  const std::string expected =
      "expected is a JSON object with conversations, prompt, messages or input_length";
  EXPECT_EQ(dataset.first_broken[0].why, expected);
  EXPECT_EQ(dataset.first_broken[1].why, expected);
  EXPECT_THAT(dataset.first_broken[2].why, testing::StartsWith("no JSON: "));
  EXPECT_THAT(dataset.ignored_keys, testing::ElementsAre("output_len", "question"));
}

TEST(Dataset, ValuesThatCannotBeReadAreBrokenLines) {
  const Dataset trace = Read(
      "{\"timestamp\":0,\"input_length\":5,\"output_length\":5}\n"
      "{\"timestamp\":\"x\",\"input_length\":5,\"output_length\":5}\n"
      "{\"timestamp\":1,\"input_length\":\"many\",\"output_length\":5}\n"
      "{\"timestamp\":1,\"input_length\":-3,\"output_length\":5}\n"
      "{\"timestamp\":2,\"input_length\":0,\"output_length\":5}\n");
  EXPECT_EQ(trace.rows.size(), 1u);
  ASSERT_EQ(trace.broken, 3u);
  EXPECT_EQ(trace.first_broken[0].line, 2u);
  EXPECT_EQ(trace.first_broken[0].why, "timestamp is not a time");
  EXPECT_EQ(trace.first_broken[2].why, "input_length is not a number of tokens");
  EXPECT_EQ(trace.unfit, 1u);
  const Dataset custom = Read("{\"prompt\":5}\n{\"prompt\":\"a\"}\n");
  EXPECT_EQ(custom.broken, 1u);
  const Dataset azure =
      Read("TIMESTAMP,ContextTokens,GeneratedTokens\nfoo,1,2\n2023-11-16 18:17:03,4808,10\n");
  EXPECT_EQ(azure.rows.size(), 1u);
  EXPECT_EQ(azure.first_broken[0].why, "no time");
}

TEST(Dataset, NumbersOfTokensAreWholeAndSuchAsAModelTakes) {
  const Dataset dataset = Read(R"({"prompt":"a","output_tokens":5}
{"prompt":"b","output_tokens":5.5}
{"prompt":"c","output_tokens":0}
{"prompt":"d"}
{"prompt":"e","output_tokens":900000000000})");
  EXPECT_EQ(dataset.rows.size(), 2u);
  EXPECT_EQ(dataset.broken, 2u);
  EXPECT_EQ(dataset.unfit, 1u);
  EXPECT_EQ(dataset.first_broken[0].line, 2u);
}

TEST(Dataset, TimesInAnotherUnitAreInvalid) {
  constexpr std::string_view kMilliseconds =
      "{\"timestamp\":1700000000000,\"input_length\":5,\"output_length\":5}\n";
  EXPECT_EQ(Read(kMilliseconds).rows.size(), 1u);
  const auto as_seconds = ReadDataset(kMilliseconds, {.seconds_a_unit = 1});
  ASSERT_FALSE(as_seconds);
  EXPECT_THAT(as_seconds.error().message, HasSubstr("1.7e+12 s is not a time (another unit?)"));
  for (const char* time :
       {"9999-01-01 00:00:00", "2023-11-16 99:00:00", "-5-01-01 00:00:00", "1e300", "-9e9"}) {
    const std::string csv =
        fmt::format("TIMESTAMP,ContextTokens,GeneratedTokens\n{},10,10\n", time);
    EXPECT_FALSE(ReadDataset(csv)) << time;
  }
}

TEST(Dataset, AReplayNeedsATimeWithEachRequest) {
  PlanOptions options;
  options.replay_speed = 1;
  const auto plan =
      MakePlan(options, Read("{\"timestamp\":0,\"input_length\":5,\"output_length\":5}\n"
                             "{\"input_length\":5,\"output_length\":5}\n"));
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("1 of 2 have none"));
}

TEST(Dataset, MessagesAreKeptAsTheyAre) {
  const Dataset dataset =
      Read("{\"messages\":[{\"role\":\"system\",\"content\":\"a\\nb\"}],\"output_tokens\":3}\n");
  EXPECT_EQ(dataset.kind, DatasetKind::kMessages);
  EXPECT_EQ(dataset.rows[0].text, "[{\"role\":\"system\",\"content\":\"a\\nb\"}]");
}

TEST(Dataset, InvalidDatasetsAreRefused) {
  for (const std::string_view bytes :
       {"", "  \n", "a,b,c\n1,2,3\n", "{}", "[]", "[", "[{\"conversations\":", "\0\0\0",
        "{\"prompt\":\"\"}", "hello"}) {
    const auto dataset = ReadDataset(bytes);
    ASSERT_FALSE(dataset) << bytes;
    EXPECT_EQ(dataset.error().kind, ErrorKind::kUnreadable);
  }
}

TEST(Dataset, IsShuffledBySeedAndTakenAgainFromItsBeginning) {
  std::string lines;
  for (int i = 0; i < 10; ++i) lines += "{\"prompt\":\"" + std::to_string(i) + "\"}\n";
  PlanOptions options;
  options.requests = 25;
  options.shuffle = false;
  const auto plain = MakePlan(options, Read(lines));
  EXPECT_EQ(plain->requests[0].text, "0");
  EXPECT_EQ(plain->requests[24].text, "4");
  EXPECT_EQ(plain->requests[0].output_tokens, 256);
  options.shuffle = true;
  const auto shuffled = MakePlan(options, Read(lines));
  EXPECT_NE(shuffled->requests[0].text + shuffled->requests[1].text, "01");
  EXPECT_EQ(shuffled->requests[3].text, shuffled->requests[13].text);
  options.oversample = false;
  EXPECT_EQ(MakePlan(options, Read(lines))->requests.size(), 10u);
  options.replay_speed = 1;
  const auto none = MakePlan(options, Read(lines));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("this one has none"));
}

}  // namespace
}  // namespace tacho
