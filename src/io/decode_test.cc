#include "io/decode.h"

#include <gtest/gtest.h>

#include "io/memory_source.h"
#include "io/packed_for_test.h"
#include "io/peeked_source.h"

namespace tacho {
namespace {

using packed::Delivered;
using packed::Gzipped;
using packed::ReadAll;
using packed::SampleText;
using packed::Zstded;

TEST(PackingOf, IsKnownByMagicNumbersOnly) {
  EXPECT_EQ(PackingOf("\x1f\x8b\x08\x00"), Packing::kGzip);
  EXPECT_EQ(PackingOf("\x1f\x8b\x07\x00"), Packing::kPlain);
  EXPECT_EQ(PackingOf("\x28\xb5\x2f\xfd"), Packing::kZstd);
  EXPECT_EQ(PackingOf("\x53\x2a\x4d\x18"), Packing::kZstd);  // a skippable frame
  EXPECT_EQ(PackingOf("{\"a\""), Packing::kPlain);
  EXPECT_EQ(PackingOf(""), Packing::kPlain);
  EXPECT_EQ(PackingOf("("), Packing::kPlain);
}

TEST(PackingOf, TakesAFileCutInsideItsMagicNumberForPacked) {
  EXPECT_EQ(PackingOf("\x1f"), Packing::kGzip);
  EXPECT_EQ(PackingOf("\x1f\x8b"), Packing::kGzip);
  EXPECT_EQ(PackingOf("\x28\xb5"), Packing::kZstd);
}

TEST(DecodeStream, GivesTheSameBytesHoweverTheStoredOnesAreSplit) {
  const std::string text = SampleText(3000);
  for (const std::string& stored : {text, Gzipped(text), Zstded(text)}) {
    for (size_t piece = 1; piece < 40; ++piece) {
      for (const StreamThreads threads : {StreamThreads::kInline, StreamThreads::kAhead}) {
        const auto stream = DecodeStream(std::make_unique<MemorySource>(stored, piece), threads);
        const Delivered all = ReadAll(*stream);
        ASSERT_EQ(all.bytes, text) << "pieces of " << piece;
        ASSERT_EQ(all.defect, StreamDefect::kNone) << all.text;
        ASSERT_EQ(stream->stored_bytes(), stored.size());
      }
    }
  }
}

TEST(PeekedSource, GivesTheBytesThatWereLookedAtAgain) {
  for (size_t room = 1; room < 8; ++room) {
    PeekedSource source(std::make_unique<MemorySource>("0123456789", 2));
    EXPECT_EQ(source.Peek(3), "012");
    EXPECT_EQ(source.Peek(5), "01234");
    EXPECT_EQ(source.Peek(2), "01");
    EXPECT_EQ(ReadAll(source, room).bytes, "0123456789");
  }
  PeekedSource brief(std::make_unique<MemorySource>("01"));
  EXPECT_EQ(brief.Peek(100), "01");
  EXPECT_EQ(ReadAll(brief).bytes, "01");
}

}  // namespace
}  // namespace tacho
