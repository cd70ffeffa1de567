#include "load/answer/answer_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/answer/streamed_answer_for_test.h"
#include "load/result/request_times.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
    EXPECT_THAT(record.error, HasSubstr("invalid usage")) << count;
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
              HasSubstr("not a stream of events: <html>"));
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
  EXPECT_EQ(r.error, "event 1 is not JSON: {broken");
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

// The kernel keeps only the time of the last chunk, so the times of the chunks before it are
// unsure.
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
