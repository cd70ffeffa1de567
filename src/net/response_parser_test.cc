#include "net/response_parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tacho {
namespace {

using State = ResponseParser::State;

// An answer in one line: "200 a=1 [body]".
struct Told final : ResponseTaker {
  bool TakeHead(const ResponseHead& head) override {
    text += std::to_string(head.status);
    for (const HttpHeader& header : head.headers) text += " " + header.name + "=" + header.value;
    text += " ";
    return !refuse_head;
  }
  bool TakeBody(std::string_view bytes) override {
    EXPECT_FALSE(bytes.empty());
    body += bytes;
    return body.size() < most_body;
  }
  std::string text, body;
  bool refuse_head = false;
  size_t most_body = SIZE_MAX;
};

struct Outcome {
  std::string told;
  State state;
  size_t taken;
  bool keeps_alive;
  bool operator==(const Outcome&) const = default;
};

// `cut` is where the bytes are cut in two, `piece` the size of all pieces after that.
Outcome Parse(const std::string& bytes, size_t cut, size_t piece, bool ends = false,
              bool to_head = false) {
  ResponseParser parser(to_head);
  Told told;
  size_t taken = 0;
  for (size_t at = 0, size = cut; at < bytes.size(); at += size, size = piece) {
    // A copy of its own size: reading past it is seen by ASan.
    const std::string part = bytes.substr(at, size);
    taken += parser.Feed(part, told);
    if (parser.state() != State::kGoing) break;
  }
  if (ends) parser.EndOfConnection();
  // An invalid answer may be detected before its end.
  if (parser.state() != State::kWhole) taken = 0;
  return {told.text + "[" + told.body + "]", parser.state(), taken,
          parser.state() == State::kWhole && parser.keeps_alive()};
}

// The outcome does not depend on how the bytes are cut.
Outcome ParseAllWays(const std::string& bytes, bool ends = false, bool to_head = false) {
  const Outcome whole = Parse(bytes, bytes.size(), bytes.size(), ends, to_head);
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    EXPECT_EQ(Parse(bytes, cut, bytes.size(), ends, to_head).told, whole.told) << "cut at " << cut;
    EXPECT_EQ(Parse(bytes, cut, bytes.size(), ends, to_head).taken, whole.taken) << cut;
  }
  EXPECT_EQ(Parse(bytes, 1, 1, ends, to_head), whole) << "byte by byte";
  return whole;
}

TEST(ResponseParser, BodyWithALength) {
  const auto outcome = ParseAllWays("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 ");
  EXPECT_EQ(outcome, (Outcome{"200 Content-Length=5 [hello]", State::kWhole, 43, true}));
}

TEST(ResponseParser, BodyInChunks) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "5\r\nhello\r\n00A; name=\"v\"\r\n, world...\r\n1 \r\n!\r\n0\r\nX-Late: 1\r\n\r\n";
  const auto outcome = ParseAllWays(bytes + "more");
  EXPECT_EQ(outcome.told, "200 Transfer-Encoding=Chunked [hello, world...!]");
  EXPECT_EQ(outcome.state, State::kWhole);
  EXPECT_EQ(outcome.taken, bytes.size());
  EXPECT_TRUE(outcome.keeps_alive);
}

TEST(ResponseParser, ChunksCountMoreThanALength) {
  const auto outcome = ParseAllWays(
      "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nok\r\n0\r\n\r\n");
  EXPECT_EQ(outcome.state, State::kWhole);
  EXPECT_THAT(outcome.told, testing::EndsWith("[ok]"));
}

TEST(ResponseParser, BodyUpToTheEnd) {
  const std::string bytes = "HTTP/1.0 200 OK\n\nhello";
  EXPECT_EQ(ParseAllWays(bytes).state, State::kGoing);
  const auto outcome = ParseAllWays(bytes, true);
  EXPECT_EQ(outcome, (Outcome{"200 [hello]", State::kWhole, bytes.size(), false}));
  EXPECT_EQ(ParseAllWays("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", true).state,
            State::kGoing);
}

TEST(ResponseParser, AnswersWithoutABody) {
  EXPECT_EQ(ParseAllWays("HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n").state, State::kWhole);
  EXPECT_EQ(ParseAllWays("HTTP/1.1 304 No\r\n\r\n").state, State::kWhole);
  EXPECT_EQ(ParseAllWays("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").state, State::kWhole);
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
  EXPECT_EQ(ParseAllWays(head).state, State::kGoing);
  EXPECT_EQ(ParseAllWays(head, false, true).state, State::kWhole);
}

TEST(ResponseParser, InterimAnswersArePassedOver) {
  const auto outcome = ParseAllWays(
      "HTTP/1.1 100 Continue\r\nA: 1\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n"
      "HTTP/1.1 404\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_EQ(outcome.told, "404 Content-Length=2 [no]");
  EXPECT_EQ(outcome.state, State::kWhole);
}

TEST(ResponseParser, WhatKeepsAConnection) {
  const auto keeps = [](const std::string& version, const std::string& header) {
    return ParseAllWays("HTTP/" + version + " 200 OK\r\n" + header + "Content-Length: 1\r\n\r\nx")
        .keeps_alive;
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: Close\r\n"));
  EXPECT_FALSE(keeps("1.1", "connection: x, close\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: keep-alive\r\n"));
}

TEST(ResponseParser, IsNotHttp) {
  for (const char* bytes :
       {"SSH-2.0-OpenSSH_9.2\r\n", "\x15\x03\x01", "HTTP/2 200\r\n", "HTTP/1.1 20\r\n",
        "HTTP/1.1 2000 OK\r\n", "HTTP/1.1  200 OK\r\n", "HTTP/1.x 200 OK\r\n",
        "HTTP/1.1 099 OK\r\n", "\r\nHTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"}) {
    const auto outcome = ParseAllWays(bytes);
    EXPECT_EQ(outcome.state, State::kNotHttp) << bytes;
    EXPECT_EQ(outcome.told, "[]") << bytes;
  }
  EXPECT_EQ(ParseAllWays("HTTP/1.").state, State::kGoing);
}

TEST(ResponseParser, BrokenChunks) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"xyz\r\n", "-5\r\n", "\r\n", " 5\r\n", "5x\r\n", "2\r\nokay\r\n",
                           "10000000000000000\r\n", "fffffffffffffffffffff\r\n"}) {
    EXPECT_EQ(ParseAllWays(head + body).state, State::kBrokenChunks) << body;
  }
}

TEST(ResponseParser, HeadsAndTrailersHaveAnEnd) {
  const std::string filler = "X: " + std::string(1000, 'x') + "\r\n";
  const auto state = [&](std::string bytes, size_t piece) {
    while (bytes.size() <= ResponseParser::kMostHeadBytes + 2000) bytes += filler;
    return Parse(bytes, piece, piece).state;
  };
  for (const size_t piece : {size_t{1}, size_t{999}, size_t{1} << 20}) {
    EXPECT_EQ(state("HTTP/1.1 200 OK\r\n", piece), State::kEndlessHead);
    EXPECT_EQ(state("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", piece),
              State::kEndlessHead);
    EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nX: " + std::string(300'000, 'x'), piece, piece).state,
              State::kEndlessHead);
  }
}

TEST(ResponseParser, HeadsOfChunksHaveAnEnd) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string most(ResponseParser::kMostChunkHeadBytes, '0');
  for (const size_t piece : {size_t{1}, size_t{999}, size_t{1} << 20}) {
    for (const std::string& endless : {most + "0", "2;" + most + most}) {
      const auto told = Parse(head + endless, piece, piece);
      EXPECT_EQ(told.state, State::kBrokenChunks);
    }
    std::string many = head;
    for (int i = 0; i < 1000; ++i) many += "1;" + std::string(100, 'x') + "\r\na\r\n";
    EXPECT_EQ(Parse(many + "0\r\n\r\n", piece, piece).state, State::kWhole);
  }
}

TEST(ResponseParser, TheTakerMayHaveEnough) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n";
  Told told;
  told.most_body = 2;
  ResponseParser parser(false);
  parser.Feed(bytes, told);
  EXPECT_EQ(parser.state(), State::kRefused);
  EXPECT_EQ(told.body, "ab");
  Told none;
  none.refuse_head = true;
  ResponseParser other(false);
  other.Feed(bytes, none);
  EXPECT_EQ(other.state(), State::kRefused);
  EXPECT_EQ(none.body, "");
}

// A read of SureBytes never reaches into the next chunk.
TEST(ResponseParser, ChunksCanBeReadOneByOne) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const size_t size : {1u, 9u, 15u, 16u, 300u, 70'000u}) {
    const std::string chunk = fmt::format("{:x}\r\n{}\r\n", size, std::string(size, 'x'));
    ResponseParser parser(false);
    Told told;
    EXPECT_GT(parser.SureBytes(), 0u);
    parser.Feed(head, told);
    for (int i = 0; i < 3; ++i) {
      for (size_t at = 0; at < chunk.size();) {
        const size_t sure = parser.SureBytes();
        ASSERT_GT(sure, 0u);
        ASSERT_LE(at + sure, chunk.size()) << size;
        parser.Feed(std::string_view(chunk).substr(at, sure), told);
        at += sure;
      }
      EXPECT_EQ(told.body.size(), size * static_cast<size_t>(i + 1));
    }
    parser.Feed("0\r\n\r\n", told);
    EXPECT_EQ(parser.state(), State::kWhole);
  }
}

}  // namespace
}  // namespace tacho
