#include "net/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Read {
  std::vector<std::string> events;
  bool whole = true;
  bool inside = false;
};

Read ReadSplit(std::string_view text, size_t piece, size_t most = 1000) {
  SseReader reader(most);
  Read read;
  const auto keep = [&](std::string_view data) { read.events.emplace_back(data); };
  for (size_t at = 0; at < text.size(); at += piece) {
    read.whole = reader.Feed(text.substr(at, piece), keep);
  }
  read.inside = reader.InsideEvent();
  return read;
}

// The events; they must not depend on how the bytes were cut.
std::vector<std::string> Events(std::string_view text) {
  const Read whole = ReadSplit(text, text.size() + 1);
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    const Read split = ReadSplit(text, piece);
    EXPECT_EQ(split.events, whole.events) << "in pieces of " << piece;
    EXPECT_EQ(split.inside, whole.inside) << "in pieces of " << piece;
    EXPECT_EQ(split.whole, whole.whole) << "in pieces of " << piece;
  }
  return whole.events;
}

TEST(Sse, LineEnds) {
  EXPECT_THAT(Events("data: a\n\ndata: b\n\n"), ElementsAre("a", "b"));
  EXPECT_THAT(Events("data: a\r\n\r\ndata: b\r\n\r\n"), ElementsAre("a", "b"));
  EXPECT_THAT(Events("data: a\r\rdata: b\r\r"), ElementsAre("a", "b"));
  EXPECT_THAT(Events("data: a\r\n\ndata: b\n\r\ndata: c\r\n\r"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Events("data: a\n\rdata: b\r\n\n"), ElementsAre("a", "b"));
}

TEST(Sse, LinesOfOneEventAreJoined) {
  EXPECT_THAT(Events("data: a\ndata: b\ndata:\ndata: c\n\n"), ElementsAre("a\nb\n\nc"));
  EXPECT_THAT(Events("data\ndata\n\n"), ElementsAre("\n"));
}

TEST(Sse, FieldsAsTheStandardHasThem) {
  EXPECT_THAT(Events("data:a\n\ndata:  a\n\ndata:\ta\n\n"), ElementsAre("a", " a", "\ta"));
  EXPECT_THAT(Events("data\n\n"), ElementsAre(""));
  EXPECT_THAT(Events("data:\n\n"), ElementsAre(""));
  EXPECT_THAT(Events("Data: a\n\n data: a\n\ndatax: a\n\ndat: a\n\n"), IsEmpty());
  EXPECT_THAT(Events(": ping\n\nevent: x\nid: 1\nretry: 5\n\n"), IsEmpty());
  EXPECT_THAT(Events("event: x\ndata: a\n: ping\nid: 1\n\n"), ElementsAre("a"));
  EXPECT_THAT(Events("data: a: b\n\n"), ElementsAre("a: b"));
}

TEST(Sse, ByteOrderMark) {
  EXPECT_THAT(Events("\xef\xbb\xbf"
                     "data: a\n\n"),
              ElementsAre("a"));
  EXPECT_THAT(Events("data: a\n\n\xef\xbb\xbf"
                     "data: b\n\n"),
              ElementsAre("a"));
}

TEST(Sse, AnUnfinishedEventIsNotDelivered) {
  EXPECT_THAT(Events("data: a\n"), IsEmpty());
  EXPECT_TRUE(ReadSplit("data: a\n", 100).inside);
  EXPECT_TRUE(ReadSplit("data: a", 100).inside);
  EXPECT_TRUE(ReadSplit("data: a\n\nda", 100).inside);
  EXPECT_FALSE(ReadSplit("data: a\n\n", 100).inside);
  EXPECT_FALSE(ReadSplit("", 100).inside);
  EXPECT_FALSE(ReadSplit("\xef\xbb\xbf", 100).inside);
  EXPECT_FALSE(ReadSplit("\n\n: ping\n", 100).inside);
}

TEST(Sse, TooLongAnEventEndsIt) {
  const std::string fits = "data: " + std::string(1000, 'x') + "\n\n";
  EXPECT_EQ(Events("data: a\n\n" + fits).size(), 2u);
  const std::string line = "data: a\n\ndata: " + std::string(1001, 'x') + "\n\ndata: b\n\n";
  EXPECT_THAT(Events(line), ElementsAre("a"));
  EXPECT_FALSE(ReadSplit(line, line.size()).whole);
  std::string lines = "data: a\n\n";
  for (int i = 0; i < 51; ++i) lines += "data: " + std::string(19, 'x') + "\n";
  EXPECT_THAT(Events(lines + "\ndata: b\n\n"), ElementsAre("a"));
  EXPECT_FALSE(ReadSplit(lines, lines.size()).whole);
}

TEST(Sse, EventInOnePieceIsNotCopied) {
  const std::string text = "data: abc\n\n";
  SseReader reader;
  const char* given = nullptr;
  reader.Feed(text, [&](std::string_view data) { given = data.data(); });
  EXPECT_EQ(given, text.data() + 6);
}

TEST(Sse, EndsOfCrAloneCostOnePass) {
  // A hundred thousand short lines without an LF: quadratic work would take minutes.
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "\r\r:";
  size_t events = 0;
  SseReader reader;
  reader.Feed(text, [&](std::string_view) { ++events; });
  EXPECT_EQ(events, 0u);
}

}  // namespace
}  // namespace tacho
