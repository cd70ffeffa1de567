#include "load/answer/answer_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"
#include "load/result/request_times.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A stream that is fed one event per millisecond, from 1 ms on.
class Streamed {
 public:
  explicit Streamed(int64_t planned = 0, bool streams = true, bool keep_text = false) {
    record_.sent_ns = kNsPerMs / 2;
    record_.planned_output_tokens = planned;
    reader_ = std::make_unique<AnswerReader>(parser_, record_, streams, keep_text, planned);
    reader_->OnHead(200, kNsPerMs);
  }
  Streamed& Event(std::string_view data) {
    at_ns_ += kNsPerMs;
    reader_->OnBody(fmt::format("data: {}\n\n", data), at_ns_);
    return *this;
  }
  Streamed& Bytes(std::string_view bytes) {
    at_ns_ += kNsPerMs;
    reader_->OnBody(bytes, at_ns_);
    return *this;
  }
  const RequestRecord& End(std::string_view broken = "") {
    reader_->OnEnd(broken);
    return record_;
  }
  AnswerReader& reader() { return *reader_; }

 private:
  ChunkParser parser_;
  RequestRecord record_;
  std::unique_ptr<AnswerReader> reader_;
  int64_t at_ns_ = 0;
};

std::string Text(std::string_view text, int total, std::string_view finish = "null") {
  return fmt::format(
      R"({{"id":"cmpl-1","choices":[{{"index":0,"text":"{}","logprobs":null,"finish_reason":{}}}],"usage":{{"prompt_tokens":4,"total_tokens":{},"completion_tokens":{}}}}})",
      text, finish, total + 4, total);
}
std::string Usage(int total) {
  return fmt::format(
      R"({{"id":"cmpl-1","choices":[],"usage":{{"prompt_tokens":4,"total_tokens":{},"completion_tokens":{}}}}})",
      total + 4, total);
}

TEST(AnswerReader, ATotalAtTheEndIsSpreadOverTheChunks) {
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

TEST(AnswerReader, WrongCountsAreNoSuccess) {
  for (const std::string_view count :
       {"-3", "\"many\"", "1e18", "4000000000", "9223372036854775807"}) {
    Streamed stream(2);
    const RequestRecord& record =
        stream.Event(Text("a", 1))
            .Event(fmt::format(R"({{"choices":[],"usage":{{"completion_tokens":{}}}}})", count))
            .Event("[DONE]")
            .End();
    EXPECT_EQ(record.status, RequestStatus::kPartial) << count;
    EXPECT_THAT(record.error, HasSubstr("wrong usage")) << count;
    EXPECT_EQ(record.output_tokens, 1) << count;
  }
}

TEST(AnswerReader, FarTooManyTokensAreNoSuccessEvenWhenTheyComeWithTheEnd) {
  Streamed stream(2);
  const RequestRecord& record =
      stream.Event(Text("a", 60'000'000, "\"length\"")).Event("[DONE]").End();
  EXPECT_EQ(record.status, RequestStatus::kPartial);
  EXPECT_THAT(record.error, HasSubstr("60000000 tokens came where 2 were asked for"));
}

TEST(AnswerReader, APageInsteadOfAStreamIsShown) {
  Streamed stream(2);
  EXPECT_THAT(stream.Bytes("<html>\n<title>Welcome</title>").End().error,
              HasSubstr("no stream of events: <html>"));
}

TEST(AnswerReader, TokensOfAChunkAreTheDifferenceOfTheRunningTotals) {
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

TEST(AnswerReader, TheRoleOfAChatIsNoTokenAndAnEmptyTextIs) {
  // As vLLM 0.32 writes it: the role with a total of 0; a token that ends inside a character.
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

TEST(AnswerReader, SglangsRoleChunkMayCountTheTokenThatComesNext) {
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

TEST(AnswerReader, CountsTokenIdsWhereThereIsNoUsage) {
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

TEST(AnswerReader, CountsChunksWithoutOtherCountsAndTrustsTheUsageAtTheEnd) {
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

TEST(AnswerReader, TheUsageMayComeWithTheLastChoice) {
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

TEST(AnswerReader, ReadsSglangsOwnStreamWithItsTotals) {
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

TEST(AnswerReader, TheTextOfSglangsOwnStreamIsKeptOnce) {
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

TEST(AnswerReader, AWholeAnswerReportsTheTokensOfAllItsChoices) {
  constexpr std::string_view kAnswer =
      R"({"id":"cmpl-1","choices":[{"index":0,"text":"ab","finish_reason":"length"},{"index":1,"text":"cd","finish_reason":"length"}],"usage":{"prompt_tokens":4,"completion_tokens":16}})";
  Streamed whole(16, false, true);
  const RequestRecord& r = whole.Bytes(kAnswer).End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_EQ(r.output_tokens, 16);
  EXPECT_EQ(r.counted_by, TokenCounts::kUsage);
  EXPECT_EQ(r.text, "ab");
}

TEST(AnswerReader, AnErrorInsideAStreamIsAFailure) {
  Streamed vllm;
  const RequestRecord& r =
      vllm.Event(
              R"({"error": {"message": "Token id 99999 is out of vocabulary", "type": "BadRequestError", "param": null, "code": 400}})")
          .Event("[DONE]")
          .End();
  EXPECT_EQ(r.status, RequestStatus::kFailed);
  EXPECT_EQ(r.error,
            "error inside the answer: Token id 99999 is out of vocabulary (BadRequestError 400)");
  Streamed late;
  const RequestRecord& after_tokens =
      late.Event(Text("a", 1)).Event(R"({"error":{"message":"gone"}})").Event("[DONE]").End();
  EXPECT_EQ(after_tokens.status, RequestStatus::kFailed);
  EXPECT_EQ(after_tokens.output_tokens, 1);
}

TEST(AnswerReader, AStreamWithoutItsEndIsPartial) {
  Streamed stream;
  const RequestRecord& r = stream.Event(Text("a", 1)).Event(Text("b", 2)).End();
  EXPECT_EQ(r.status, RequestStatus::kPartial);
  EXPECT_THAT(r.error, HasSubstr("without a finish_reason or [DONE]"));
  EXPECT_EQ(r.output_tokens, 2);
  Streamed broken;
  const RequestRecord& reset = broken.Event(Text("a", 1)).End("connection broken");
  EXPECT_EQ(reset.status, RequestStatus::kPartial);
  EXPECT_EQ(reset.error, "connection broken");
  Streamed nothing;
  EXPECT_EQ(nothing.End().status, RequestStatus::kFailed);
}

TEST(AnswerReader, WrongUsageIsNotBelieved) {
  Streamed more;
  const RequestRecord& r = more.Event(Text("a", 1))
                               .Event(Text("b", 2, "\"length\""))
                               .Event(Usage(50))
                               .Event("[DONE]")
                               .End();
  EXPECT_EQ(r.status, RequestStatus::kPartial);
  EXPECT_EQ(r.error, "wrong usage: it says 50 output tokens, 2 came");
  Streamed falls;
  const RequestRecord& back =
      falls.Event(Text("a", 5)).Event(Text("b", 3, "\"length\"")).Event("[DONE]").End();
  EXPECT_EQ(back.status, RequestStatus::kPartial);
  EXPECT_EQ(back.error, "wrong usage: the running total fell from 5 to 3 tokens");
}

TEST(AnswerReader, EveryCutOfTheBytesGivesTheSame) {
  const std::string text = ": ping\r\n\r\ndata: " + Text("a\\u00e4", 1) +
                           "\r\n\r\ndata:" + Text("\xc3\xa4", 3, "\"length\"") +
                           "\n\ndata: " + Usage(3) + "\n\ndata: [DONE]\n\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Streamed stream;
    const RequestRecord& r = stream.Bytes(text.substr(0, cut)).Bytes(text.substr(cut)).End();
    EXPECT_EQ(r.status, RequestStatus::kDone) << cut << r.error;
    EXPECT_THAT(r.chunk_tokens, ElementsAre(1, 2)) << cut;
  }
}

TEST(AnswerReader, ATokenCutInsideACharacterIsStillRead) {
  Streamed stream;
  const RequestRecord& r =
      stream.Event(Text("\xc3", 1)).Event(Text("b", 2, "\"stop\"")).Event("[DONE]").End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_EQ(r.output_tokens, 2);
}

TEST(AnswerReader, InvalidJsonIsAFailure) {
  Streamed stream;
  const RequestRecord& r = stream.Event("{broken").Event("[DONE]").End();
  EXPECT_EQ(r.status, RequestStatus::kFailed);
  EXPECT_EQ(r.error, "event 1 is no JSON: {broken");
}

TEST(AnswerReader, ReportsTheReasonOfARefusal) {
  const auto refused = [](int status, std::string_view body) {
    ChunkParser parser;
    RequestRecord record;
    AnswerReader reader(parser, record, true, false, 0);
    reader.OnHead(status, kNsPerMs);
    reader.OnBody(body, kNsPerMs);
    reader.OnEnd("");
    EXPECT_EQ(record.status, RequestStatus::kFailed);
    return record.error;
  };
  EXPECT_EQ(
      refused(404, R"({"error":{"message":"no such model","type":"NotFoundError","code":404}})"),
      "HTTP 404: no such model (NotFoundError 404)");
  EXPECT_EQ(refused(400, R"({"object":"error","message":"too long","code":400})"),
            "HTTP 400: too long");
  EXPECT_EQ(refused(404, R"({"detail":"Not Found"})"), "HTTP 404: Not Found");
  EXPECT_EQ(refused(502, "<html>bad gateway</html>"), "HTTP 502: <html>bad gateway</html>");
  EXPECT_EQ(refused(429, ""), "HTTP 429");
}

TEST(AnswerReader, AnAnswerInOnePieceHasNoTimeToFirstToken) {
  Streamed whole(16, false, true);
  const RequestRecord& r =
      whole
          .Bytes(
              R"({"id":"cmpl-1","choices":[{"index":0,"text":"all of it","finish_reason":"length"}],"usage":{"prompt_tokens":4,)")
          .Bytes(R"("completion_tokens":16,"prompt_tokens_details":{"cached_tokens":2}}})")
          .End();
  EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
  EXPECT_EQ(r.output_tokens, 16);
  EXPECT_EQ(r.cached_tokens, 2);
  EXPECT_EQ(r.text, "all of it");
  EXPECT_FALSE(TtftNs(r));
  EXPECT_EQ(EndToEndNs(r), 2 * kNsPerMs - kNsPerMs / 2);
}

TEST(AnswerReader, NoticesAStreamThatHasNoEnd) {
  Streamed stream(10);
  for (int i = 1; i <= 84; ++i) stream.Event(Text("a", i));
  EXPECT_EQ(stream.reader().WhyGivenUp(), "");
  stream.Event(Text("a", 85));
  EXPECT_EQ(stream.reader().WhyGivenUp(), "85 tokens came where 10 were asked for");
  Streamed unasked;
  unasked.Event(Text("a", AnswerReader::kMostTokens));
  EXPECT_EQ(unasked.reader().WhyGivenUp(), "");
  unasked.Event(Text("a", AnswerReader::kMostTokens + 1));
  EXPECT_EQ(unasked.reader().WhyGivenUp(), "4194305 tokens came");
  EXPECT_EQ(unasked.Event("[DONE]").End().status, RequestStatus::kPartial);
}

TEST(AnswerReader, KeepsNoMoreThanItsBounds) {
  const std::string mebibyte(1 << 20, 'x');
  Streamed event(10);
  event.Bytes("data: ");
  for (int i = 0; i < 17; ++i) event.Bytes(mebibyte);
  EXPECT_EQ(event.reader().WhyGivenUp(), "an event longer than 16 MiB");
  EXPECT_EQ(event.End("given up").error, "an event longer than 16 MiB");

  Streamed whole(10, false);
  for (int i = 0; i < 65; ++i) whole.Bytes(mebibyte);
  EXPECT_EQ(whole.reader().WhyGivenUp(), "an answer longer than 64 MiB");
  const RequestRecord& failed = whole.End("given up");
  EXPECT_EQ(failed.status, RequestStatus::kFailed);
  EXPECT_EQ(failed.error, "an answer longer than 64 MiB");

  Streamed kept(1000, true, true);
  for (int i = 1; i <= 65; ++i) kept.Event(Text(mebibyte, i));
  EXPECT_EQ(kept.reader().WhyGivenUp(), "a text longer than 64 MiB");
  EXPECT_LE(kept.End("given up").text.size(), AnswerReader::kMostKept);
}

TEST(AnswerReader, ShortensNamesThatAServerGives) {
  const std::string name(100'000, 'n');
  Streamed stream(1);
  const RequestRecord& record =
      stream
          .Event(fmt::format(
              R"({{"id":"{}","choices":[{{"index":0,"text":"a","finish_reason":"{}"}}]}})", name,
              name))
          .Event("[DONE]")
          .End();
  EXPECT_EQ(record.server_id, name.substr(0, 300) + "...");
  EXPECT_EQ(record.finish_reason, name.substr(0, 300) + "...");
}

TEST(AnswerReader, KeysAreHiddenBeforeTheCut) {
  const std::string key = "sk-0123456789abcdef";
  const auto hide = [&](std::string text) {
    for (size_t at = 0; (at = text.find(key)) != std::string::npos;)
      text.replace(at, key.size(), "*");
    return text;
  };
  const std::string words = std::string(290, '.') + key + std::string(290, '.');
  ChunkParser parser;
  RequestRecord refused, streamed;
  AnswerReader reader(parser, refused, true, false, 0, hide);
  reader.OnHead(401, 1);
  reader.OnBody(words, 2);
  reader.OnEnd("");
  EXPECT_EQ(refused.error, "HTTP 401: " + hide(words).substr(0, 300) + "...");
  AnswerReader other(parser, streamed, true, false, 0, hide);
  other.OnHead(200, 1);
  other.OnBody(
      fmt::format(
          "data: {{\"id\":\"{0}\",\"choices\":[{{\"index\":0,\"finish_reason\":\"{0}\"}}]}}\n\n",
          words),
      2);
  other.OnBody("data: " + words + "\n\n", 3);
  other.OnEnd("");
  for (const std::string& kept : {streamed.server_id, streamed.finish_reason, streamed.error})
    EXPECT_THAT(kept, testing::AllOf(HasSubstr("*"), testing::Not(HasSubstr("sk-")))) << kept;
}

// The kernel kept only the time of the last chunk: those of the chunks before it are unsure.
TEST(AnswerReader, ChunksOfOneTimeAreUnsureOnlyWhenTheClientWasLate) {
  const auto read = [](int64_t late_until_ns, std::vector<int64_t> times_ms) {
    ChunkParser parser;
    RequestRecord record;
    AnswerReader reader(parser, record, true, false, 0);
    reader.OnHead(200, kNsPerMs);
    reader.OnFoundLate(late_until_ns);
    int total = 0;
    for (const int64_t at : times_ms) {
      reader.OnBody(fmt::format("data: {{\"choices\":[{{\"index\":0,\"text\":\"x\"}}],\"usage\":{{"
                                "\"prompt_tokens\":1,\"completion_tokens\":{}}}}}\n\n",
                                ++total),
                    at * kNsPerMs);
    }
    reader.OnBody("data: [DONE]\n\n", times_ms.back() * kNsPerMs);
    reader.OnEnd("");
    EXPECT_EQ(record.status, RequestStatus::kDone) << record.error;
    return record;
  };
  // The client is in time, so the server sent them together.
  EXPECT_EQ(read(0, {5, 5, 5}).unsure_chunks, 0u);
  const RequestRecord first = read(9 * kNsPerMs, {5, 5, 9, 12});
  EXPECT_EQ(first.unsure_chunks, 1u);
  EXPECT_TRUE(first.first_unsure);
  EXPECT_FALSE(TtftNs(first));
  EXPECT_FALSE(TpotNs(first));
  EXPECT_EQ(EndToEndNs(first).has_value(), first.sent_ns != 0);
  const RequestRecord later = read(9 * kNsPerMs, {3, 4, 9, 9, 9, 12, 12});
  EXPECT_EQ(later.unsure_chunks, 2u);
  EXPECT_FALSE(later.first_unsure);
  std::vector<double> gaps;
  AppendChunkGaps(later, gaps);
  EXPECT_TRUE(gaps.empty());
}

}  // namespace
}  // namespace tacho
