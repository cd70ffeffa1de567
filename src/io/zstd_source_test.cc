#include "io/zstd_source.h"

#include <gtest/gtest.h>

#include "io/memory_source.h"
#include "io/packed_for_test.h"

namespace tacho {
namespace {

using packed::Delivered;
using packed::ReadAll;
using packed::SampleText;
using packed::Zstded;

Delivered Unpack(const std::string& stored, size_t room = 1 << 16, size_t piece = SIZE_MAX) {
  ZstdSource source(std::make_unique<MemorySource>(stored, piece));
  return ReadAll(source, room);
}

TEST(ZstdSource, GivesTheBytesForEverySplit) {
  for (const size_t size : {0u, 1u, 100u, 300'000u}) {
    const std::string text = SampleText(size);
    const std::string stored = Zstded(text);
    for (const size_t room : {1u, 300u, 1u << 20}) {
      for (const size_t piece : {1u, 3u, 1000u, 1u << 20}) {
        const Delivered all = Unpack(stored, room, piece);
        ASSERT_TRUE(all.bytes == text) << size << " " << room << " " << piece;
        ASSERT_EQ(all.defect, StreamDefect::kNone) << all.text;
      }
    }
  }
}

TEST(ZstdSource, ReadsFramesInARowAndSkipsSkippableOnes) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string stored = skippable + Zstded("one") + Zstded("") + skippable + Zstded("two") +
                             std::string(100, '\0') + Zstded("three") + std::string(9, '\0');
  for (const size_t piece : {1u, 2u, 7u, 1000u}) {
    const Delivered all = Unpack(stored, 100, piece);
    EXPECT_EQ(all.bytes, "onetwothree");
    EXPECT_EQ(all.defect, StreamDefect::kNone) << all.text;
  }
}

TEST(ZstdSource, KeepsAllBytesBeforeACut) {
  const std::string text = SampleText(400'000);
  const std::string stored = Zstded(text) + Zstded("second");
  const size_t first = Zstded(text).size();
  for (size_t cut = 1; cut < stored.size(); cut += cut < 50 || cut + 50 > first ? 1 : 97) {
    const Delivered all = Unpack(stored.substr(0, cut));
    ASSERT_EQ(all.defect, cut == first ? StreamDefect::kNone : StreamDefect::kTruncated)
        << cut << all.text;
    ASSERT_TRUE(all.bytes.size() > text.size() || text.starts_with(all.bytes)) << cut;
  }
  EXPECT_GE(Unpack(stored.substr(0, first / 2)).bytes.size(), text.size() / 4);
}

TEST(ZstdSource, ReportsTrailingJunk) {
  const std::string frame = Zstded("payload");
  const Delivered all = Unpack(frame + std::string("\0junk", 5));
  EXPECT_EQ(all.bytes, "payload");
  EXPECT_EQ(all.defect, StreamDefect::kTrailingJunk);
  EXPECT_TRUE(all.text.starts_with("byte " + std::to_string(frame.size() + 1) + ": ")) << all.text;
}

TEST(ZstdSource, ReportsCorruptDataAndAnOversizedWindow) {
  std::string corrupt = Zstded(SampleText(300'000));
  for (size_t at = 10'000; at < 10'050; ++at) corrupt[at] = static_cast<char>(~corrupt[at]);
  EXPECT_EQ(Unpack(corrupt).defect, StreamDefect::kCorrupt);

  // Frame header with a window descriptor of 2 GB.
  const Delivered wide = Unpack(std::string("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9));
  EXPECT_EQ(wide.defect, StreamDefect::kCorrupt);
  EXPECT_NE(wide.text.find("--long"), std::string::npos) << wide.text;
}

}  // namespace
}  // namespace tacho
