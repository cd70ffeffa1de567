// How an AnswerReader counts tokens, by each way in which servers report them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/answer/streamed_answer_for_test.h"
#include "load/result/request_times.h"

namespace tacho {
namespace {

using testing::ElementsAre;

TEST(AnswerTokens, ATotalAtTheEndIsSpreadOverTheChunks) {
  constexpr std::string_view kChunk =
      R"({"choices":[{"index":0,"text":"ab","finish_reason":null}]})";
  Streamed stream(30);
  for (int i = 0; i < 4; ++i) stream.Event(kChunk);
  const RequestRecord& record = stream.Event(Usage(30)).Event("[DONE]").End();
  EXPECT_EQ(record.status, RequestStatus::kDone);
  EXPECT_EQ(record.output_tokens, 30);
  EXPECT_THAT(record.chunk_tokens, ElementsAre(7, 8, 7, 8));
  std::vector<double> gaps;
  AppendTokenGaps(record, gaps);
  EXPECT_TRUE(gaps.empty());  // when each token came is not known
}

TEST(AnswerTokens, TokensOfAChunkAreTheDifferenceOfTheRunningTotals) {
  Streamed stream;
  const RequestRecord& r = stream.Event(Text("a", 1))
                               .Event(Text("bcde", 15))
                               .Event(Text("f", 16, "\"length\""))
                               .Event(Usage(16))
                               .Event("[DONE]")
                               .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_THAT(r.chunk_tokens, ElementsAre(1, 14, 1));
  EXPECT_THAT(r.chunk_ns, ElementsAre(1 * kNsPerMs, 2 * kNsPerMs, 3 * kNsPerMs));
  EXPECT_EQ(r.output_tokens, 16);
  EXPECT_EQ(r.prompt_tokens, 4);
  EXPECT_EQ(r.last_token_ns, 3 * kNsPerMs);
  EXPECT_EQ(r.last_choice_ns, 3 * kNsPerMs);
  EXPECT_EQ(r.finish_reason, "length");
  std::vector<double> gaps, tokens;
  AppendChunkGaps(r, gaps);
  AppendTokenGaps(r, tokens);
  EXPECT_THAT(gaps, ElementsAre(1e6, 1e6));
  EXPECT_EQ(tokens.size(), 15u);
  EXPECT_NEAR(tokens[0], 1e6 / 14, 1e-6);
  EXPECT_DOUBLE_EQ(*TpotNs(r), 2e6 / 15);
}

TEST(AnswerTokens, TheRoleOfAChatIsNoTokenAndAnEmptyTextIs) {
  // The stream as vLLM 0.32 writes it: first the role, with a total of 0; one token ends inside a
  // character.
  Streamed stream;
  const auto chunk = [](std::string_view delta, int total, std::string_view finish = "null") {
    return fmt::format(
        R"({{"id":"chatcmpl-1","choices":[{{"index":0,"delta":{},"finish_reason":{}}}],"usage":{{"prompt_tokens":4,"completion_tokens":{}}}}})",
        delta, finish, total);
  };
  const RequestRecord& r = stream.Event(chunk(R"({"role":"assistant","content":""})", 0))
                               .Event(chunk(R"({"content":""})", 1))
                               .Event(chunk(R"({"content":"\u00e9"})", 2))
                               .Event(chunk(R"({"content":"."})", 3, "\"length\""))
                               .Event("[DONE]")
                               .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_THAT(r.chunk_tokens, ElementsAre(1, 1, 1));
  EXPECT_EQ(r.first_choice_ns, 1 * kNsPerMs);
  EXPECT_EQ(r.first_token_ns, 2 * kNsPerMs);
}

TEST(AnswerTokens, SglangsRoleChunkMayCountTheTokenThatComesNext) {
  Streamed stream;
  const auto chunk = [](std::string_view delta, int total, std::string_view finish = "null") {
    return fmt::format(
        R"({{"choices":[{{"index":0,"delta":{},"finish_reason":{}}}],"usage":{{"prompt_tokens":4,"completion_tokens":{}}}}})",
        delta, finish, total);
  };
  const RequestRecord& r =
      stream.Event(chunk(R"({"reasoning_content":null,"role":"assistant","content":""})", 1))
          .Event(chunk(R"({"reasoning_content":"hm"})", 1))
          .Event(chunk(R"({"content":"so"})", 3))
          .Event(chunk(R"({})", 3, "\"stop\""))
          .Event("[DONE]")
          .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_THAT(r.chunk_tokens, ElementsAre(1, 2));
  EXPECT_EQ(r.last_token_ns, 3 * kNsPerMs);
  EXPECT_EQ(r.last_choice_ns, 4 * kNsPerMs);
}

TEST(AnswerTokens, CountsTokenIdsWhereThereIsNoUsage) {
  Streamed stream;
  const RequestRecord& r =
      stream.Event(R"({"choices":[{"index":0,"text":"a","token_ids":[5],"finish_reason":null}]})")
          .Event(
              R"({"choices":[{"index":0,"text":"b","token_ids":[6,7,8],"finish_reason":"stop"}]})")
          .Event(Usage(4))
          .Event("[DONE]")
          .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_EQ(r.counted_by, TokenCounts::kTokenIds);
  EXPECT_THAT(r.chunk_tokens, ElementsAre(1, 3));
}

TEST(AnswerTokens, CountsChunksWithoutOtherCountsAndTrustsTheUsageAtTheEnd) {
  Streamed stream;
  const RequestRecord& r =
      stream.Event(R"({"choices":[{"index":0,"text":"a","finish_reason":null}]})")
          .Event(R"({"choices":[{"index":0,"text":"","finish_reason":null}]})")
          .Event(R"({"choices":[{"index":0,"text":"b","finish_reason":"stop"}]})")
          .Event(Usage(9))
          .Event("[DONE]")
          .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_EQ(r.counted_by, TokenCounts::kChunks);
  EXPECT_EQ(r.chunk_ns.size(), 2u);
  EXPECT_EQ(r.output_tokens, 9);
  std::vector<double> tokens;
  AppendTokenGaps(r, tokens);
  EXPECT_TRUE(tokens.empty());  // the tokens of each chunk are unknown
}

TEST(AnswerTokens, TheUsageMayComeWithTheLastChoice) {
  Streamed stream;
  const RequestRecord& r =
      stream.Event(R"({"choices":[{"index":0,"text":"a","finish_reason":null}]})")
          .Event(
              R"({"choices":[{"index":0,"text":"b","finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2}})")
          .Event("[DONE]")
          .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_EQ(r.output_tokens, 2);
}

TEST(AnswerTokens, ReadsSglangsOwnStreamWithItsTotals) {
  Streamed stream;
  const auto chunk = [](std::string_view text, std::string_view ids, int total,
                        std::string_view finish) {
    return fmt::format(
        R"({{"text":"{}","output_ids":{},"meta_info":{{"id":"r1","finish_reason":{},"prompt_tokens":4,"weight_version":"default","completion_tokens":{},"cached_tokens":3,"e2e_latency":0.2}}}})",
        text, ids, finish, total);
  };
  const RequestRecord& r =
      stream.Event(chunk("a", "[1]", 1, "null"))
          .Event(chunk("abc", "[1,2,3]", 3, "null"))
          .Event(chunk("abcd", "[1,2,3,4]", 4, R"({"type":"length","length":4})"))
          .Event("[DONE]")
          .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_THAT(r.chunk_tokens, ElementsAre(1, 2, 1));
  EXPECT_EQ(r.cached_tokens, 3);
  EXPECT_EQ(r.server_id, "r1");
  EXPECT_EQ(r.finish_reason, "length");
}

TEST(AnswerTokens, TheTextOfSglangsOwnStreamIsKeptOnce) {
  const auto text = [](bool incremental) {
    Streamed stream(0, true, true);
    const auto chunk = [](std::string_view words, std::string_view ids, int total) {
      return fmt::format(
          R"({{"text":"{}","output_ids":{},"meta_info":{{"id":"r1","finish_reason":null,"completion_tokens":{}}}}})",
          words, ids, total);
    };
    stream.Event(chunk("a", "[1]", 1));
    stream.Event(incremental ? chunk("ab", "[2,3]", 3) : chunk("aab", "[1,2,3]", 3));
    return stream.Event("[DONE]").End().text;
  };
  EXPECT_EQ(text(false), "aab");
  EXPECT_EQ(text(true), "aab");
}

TEST(AnswerTokens, AWholeAnswerReportsTheTokensOfAllItsChoices) {
  constexpr std::string_view kAnswer =
      R"({"id":"cmpl-1","choices":[{"index":0,"text":"ab","finish_reason":"length"},{"index":1,"text":"cd","finish_reason":"length"}],"usage":{"prompt_tokens":4,"completion_tokens":16}})";
  Streamed whole(16, false, true);
  const RequestRecord& r = whole.Bytes(kAnswer).End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_EQ(r.output_tokens, 16);
  EXPECT_EQ(r.counted_by, TokenCounts::kUsage);
  EXPECT_EQ(r.text, "ab");
}

}  // namespace
}  // namespace tacho
