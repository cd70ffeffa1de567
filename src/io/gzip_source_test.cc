#include "io/gzip_source.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "io/memory_source.h"
#include "io/packed_for_test.h"
#include "io/source_stream.h"
#include "io/stored_input.h"

namespace tacho {
namespace {

using packed::Deflated;
using packed::Delivered;
using packed::Gzipped;
using packed::ReadAll;
using packed::SampleText;

std::string LittleEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return text;
}

// A gzip member around raw deflate data of zeros.
std::string MemberOf(const std::string& deflate, uint32_t crc, uint64_t size) {
  const std::string header("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  return header + deflate + LittleEndian(crc, 4) + LittleEndian(size, 4);
}

class GzipSourceTest : public ::testing::TestWithParam<InflateLibrary> {
 protected:
  static Delivered Unpack(const std::string& stored, size_t room = 1 << 16,
                          size_t piece = SIZE_MAX) {
    GzipSource source(std::make_unique<MemorySource>(stored, piece), GetParam());
    return ReadAll(source, room);
  }
};

INSTANTIATE_TEST_SUITE_P(, GzipSourceTest, ::testing::ValuesIn(InflateLibraries()),
                         [](const auto& library) {
                           return library.param == InflateLibrary::kIsal ? "Isal" : "Zlib";
                         });

TEST_P(GzipSourceTest, GivesTheBytesForEveryLevelAndSplit) {
  for (const size_t size : {0u, 1u, 100u, 70'000u}) {
    const std::string text = SampleText(size);
    for (const int level : {0, 1, 6, 9}) {
      const std::string stored = Gzipped(text, level);
      for (const size_t room : {1u, 7u, 300u, 1u << 20}) {
        for (const size_t piece : {1u, 3u, 1000u, 1u << 20}) {
          const Delivered all = Unpack(stored, room, piece);
          ASSERT_TRUE(all.bytes == text) << size << " " << level << " " << room << " " << piece;
          ASSERT_EQ(all.defect, StreamDefect::kNone) << all.text;
        }
      }
    }
  }
}

TEST_P(GzipSourceTest, ReadsMembersInARow) {
  const std::string text = SampleText(500);
  std::string stored;
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    stored += Gzipped(i % 7 == 0 ? "" : text.substr(0, static_cast<size_t>(i) * 10));
    expected += i % 7 == 0 ? "" : text.substr(0, static_cast<size_t>(i) * 10);
    if (i % 5 == 0) stored += std::string(static_cast<size_t>(i), '\0');
  }
  for (const size_t piece : {1u, 2u, 5u, 17u, 1000u}) {
    const Delivered all = Unpack(stored, 100, piece);
    ASSERT_EQ(all.bytes, expected);
    ASSERT_EQ(all.defect, StreamDefect::kNone) << all.text;
  }
}

TEST_P(GzipSourceTest, SkipsEveryFieldOfTheHeader) {
  char extra[] = "extra";
  char name[] = "trace.json";
  char comment[] = "a comment";
  gz_header header = {};
  header.extra = reinterpret_cast<Bytef*>(extra);
  header.extra_len = sizeof(extra);
  header.name = reinterpret_cast<Bytef*>(name);
  header.comment = reinterpret_cast<Bytef*>(comment);
  header.hcrc = 1;
  const std::string stored = Deflated("payload", MAX_WBITS + 16, 6, &header);
  EXPECT_EQ(Unpack(stored).bytes, "payload");
  EXPECT_EQ(Unpack(stored, 1, 1).bytes, "payload");
  EXPECT_EQ(Unpack(stored).defect, StreamDefect::kNone);
}

TEST_P(GzipSourceTest, TakesTrailingZerosForPadding) {
  const Delivered all = Unpack(Gzipped("payload") + std::string(100'000, '\0'));
  EXPECT_EQ(all.bytes, "payload");
  EXPECT_EQ(all.defect, StreamDefect::kNone);
}

TEST_P(GzipSourceTest, EndsWhereZerosBegin) {
  const std::string text = SampleText(900'000);
  for (const int level : {1, 9}) {
    const std::string good = Gzipped(text, level);
    for (const size_t at : {size_t{300}, good.size() / 3, good.size() - 100}) {
      const std::string cut = Unpack(good.substr(0, at)).bytes;
      std::string hole = good;
      const size_t size = std::min<size_t>(4096, good.size() - at);
      std::fill_n(hole.begin() + static_cast<std::ptrdiff_t>(at), size, '\0');
      for (const std::string& stored :
           {good.substr(0, at) + std::string(40'000, '\0'), hole,
            good.substr(0, at) + std::string(StoredInput::kLongZeros, '\0') + good.substr(at)}) {
        for (const size_t piece : {1u, 1000u, 1u << 20}) {
          const Delivered all = Unpack(stored, 5000, piece);
          ASSERT_EQ(all.defect, StreamDefect::kTruncated) << all.text;
          EXPECT_NE(all.text.find("zeros stand where"), std::string::npos) << all.text;
          // The zero that ends the good data belongs to the run.
          EXPECT_TRUE(text.starts_with(all.bytes));
          EXPECT_GE(all.bytes.size() + 600, cut.size());
        }
      }
    }
  }
}

TEST_P(GzipSourceTest, FindsZerosAcrossWindows) {
  const std::string noise = Gzipped(SampleText(6'000'000), 1);
  ASSERT_GT(noise.size(), StoredInput::kSize + 200);
  for (size_t at = StoredInput::kSize - 40; at < StoredInput::kSize + 40; at += 3) {
    std::string stored = noise;
    std::fill_n(stored.begin() + static_cast<std::ptrdiff_t>(at), 64, '\0');
    ASSERT_EQ(Unpack(stored).defect, StreamDefect::kTruncated) << at;
  }
}

TEST_P(GzipSourceTest, TakesZerosThatAreData) {
  // Zeros of a preallocated file, stored zeros (as between members of an archive), and an empty
  // member.
  for (const std::string& text :
       {SampleText(5000) + std::string(3 << 20, '\0'), std::string(3 << 20, '\0') + "end",
        SampleText(100) + std::string(600, '\0') + SampleText(100), std::string()}) {
    for (const int level : {0, 1, 6, 9}) {
      const std::string stored = Gzipped(text, level) + std::string(50, '\0');
      for (const size_t room : {100u, 1u << 20}) {
        const Delivered all = Unpack(stored, room, 70'000);
        EXPECT_EQ(all.defect, StreamDefect::kNone) << all.text << level;
        EXPECT_TRUE(all.bytes == text) << level << " " << all.bytes.size();
      }
    }
  }
}

TEST_P(GzipSourceTest, SaysThatTheFirstBlockIsDamaged) {
  // Streams of one text, written into one file a few bytes at a time.
  std::string streams[3], stored;
  for (size_t i = 0; i < 3; ++i) streams[i] = Gzipped(SampleText(3000 + 500 * i));
  for (size_t at = 0; at < streams[0].size(); at += 50)
    for (const std::string& stream : streams) stored += stream.substr(at, 50);
  const Delivered all = Unpack(stored);
  EXPECT_EQ(all.bytes, "");
  EXPECT_EQ(all.defect, StreamDefect::kCorrupt);
  EXPECT_NE(all.text.find("damaged from its first block (invalid"), std::string::npos) << all.text;
}

TEST_P(GzipSourceTest, ReportsTrailingJunk) {
  const std::string member = Gzipped("payload");
  for (const std::string& junk :
       {std::string("junk"), std::string("\0\0x", 3), std::string("\x1f\x8cxxxxxxxxx"),
        std::string("\x1f\x1f\x8b\x08")}) {
    const Delivered all = Unpack(member + junk, 100, 1);
    EXPECT_EQ(all.bytes, "payload");
    EXPECT_EQ(all.defect, StreamDefect::kTrailingJunk);
    const size_t start = member.size() + junk.find_first_not_of('\0');
    EXPECT_TRUE(all.text.starts_with("byte " + std::to_string(start) + ": ")) << all.text;
  }
}

TEST_P(GzipSourceTest, KeepsAllBytesBeforeACut) {
  const std::string text = SampleText(2500);
  for (const int level : {0, 1, 9}) {
    const std::string stored = Gzipped(text, level);
    size_t previous = 0;
    for (size_t cut = 1; cut < stored.size(); ++cut) {
      const Delivered all = Unpack(stored.substr(0, cut), 1 << 16, cut % 3 == 0 ? 1 : SIZE_MAX);
      ASSERT_EQ(all.defect, StreamDefect::kTruncated) << cut << " of " << stored.size();
      ASSERT_TRUE(all.text.starts_with("byte " + std::to_string(cut) + ": ")) << all.text;
      ASSERT_TRUE(text.starts_with(all.bytes)) << cut;
      ASSERT_GE(all.bytes.size(), previous) << cut;
      previous = all.bytes.size();
    }
    EXPECT_EQ(previous, text.size());
  }
}

TEST(GzipLibraries, GiveTheSameOfACutStream) {
  const std::string text = SampleText(9000);
  const std::string stored = Gzipped(text, 9);
  for (size_t cut = 1; cut < stored.size(); ++cut) {
    GzipSource zlib(std::make_unique<MemorySource>(std::string_view(stored).substr(0, cut)),
                    InflateLibrary::kZlib);
    GzipSource first(std::make_unique<MemorySource>(std::string_view(stored).substr(0, cut)));
    ASSERT_EQ(ReadAll(zlib).bytes.size(), ReadAll(first).bytes.size()) << cut;
  }
}

TEST_P(GzipSourceTest, ReportsACutSecondMember) {
  const std::string first = Gzipped("first");
  const std::string second = Gzipped("second");
  for (size_t cut = 1; cut < second.size(); ++cut) {
    const Delivered all = Unpack(first + second.substr(0, cut));
    EXPECT_EQ(all.defect, StreamDefect::kTruncated) << cut;
    EXPECT_TRUE(all.bytes.starts_with("first"));
  }
}

TEST_P(GzipSourceTest, ReportsAWrongChecksumAndLength) {
  const std::string text = SampleText(1000);
  const std::string good = Gzipped(text);
  for (size_t i = 1; i <= 8; ++i) {
    std::string stored = good + Gzipped("never read");
    stored[good.size() - i] = static_cast<char>(stored[good.size() - i] ^ 0x10);
    const Delivered all = Unpack(stored);
    EXPECT_EQ(all.bytes, text);
    EXPECT_EQ(all.defect, StreamDefect::kCorrupt);
    EXPECT_NE(all.text.find(i <= 4 ? "length" : "checksum"), std::string::npos) << all.text;
  }
}

TEST_P(GzipSourceTest, KeepsTheBytesBeforeACorruptPlaceWhateverTheRoom) {
  // Block type 3 does not exist: everything before it is good.
  const std::string text = SampleText(200'000);
  z_stream stream = {};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string stored(300'000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(stored.data());
  stream.avail_out = static_cast<uInt>(stored.size());
  ASSERT_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
  stored.resize(stream.total_out);
  deflateEnd(&stream);
  stored += "\x07";
  stored += std::string(100, 'x');
  for (const size_t room : {1u, 100u, 70'000u, 1u << 20}) {
    const Delivered all = Unpack(stored, room);
    EXPECT_EQ(all.defect, StreamDefect::kCorrupt);
    EXPECT_EQ(all.bytes.size(), text.size()) << room;
    EXPECT_TRUE(all.bytes == text);
  }
}

TEST_P(GzipSourceTest, NeverGivesWrongBytesWithoutADefect) {
  const std::string text = SampleText(1500);
  const std::string good = Gzipped(text);
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x40, 0xff}) {
      std::string stored = good;
      stored[at] = static_cast<char>(stored[at] ^ flip);
      const Delivered all = Unpack(stored);
      if (all.defect == StreamDefect::kNone) {
        EXPECT_EQ(all.bytes, text) << at;  // a header byte without effect
      }
    }
  }
}

// ISA-L counts an invalid copy as output although it wrote nothing.
TEST_P(GzipSourceTest, NeverGivesBytesThatWereNotWritten) {
  const std::string good = Gzipped(SampleText(600), 9);
  for (size_t bit = 80; bit < good.size() * 8; ++bit) {
    std::string stored = good;
    stored[bit / 8] = static_cast<char>(stored[bit / 8] ^ 1 << bit % 8);
    std::string given[2];
    for (const size_t i : {0u, 1u}) {
      GzipSource source(std::make_unique<MemorySource>(stored), GetParam());
      given[i].assign(70'000, i == 0 ? 'x' : 'y');
      given[i].resize(source.Read(given[i].data(), given[i].size()));
    }
    ASSERT_EQ(given[0], given[1]) << bit;
  }
}

TEST_P(GzipSourceTest, UnpacksAGigabyteFromAMegabyteInConstantMemory) {
  constexpr size_t kPiece = 16 << 20;
  constexpr size_t kPieces = 64;
  const std::string zeros(kPiece, '\0');
  std::string piece(1 << 20, '\0');
  z_stream stream = {};
  ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
  stream.avail_in = static_cast<uInt>(zeros.size());
  stream.next_out = reinterpret_cast<Bytef*>(piece.data());
  stream.avail_out = static_cast<uInt>(piece.size());
  ASSERT_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
  piece.resize(stream.total_out);
  deflateEnd(&stream);
  const uLong piece_crc = crc32(0, reinterpret_cast<const Bytef*>(zeros.data()), kPiece);
  std::string deflate;
  uLong crc = 0;
  for (size_t i = 0; i < kPieces; ++i) {
    deflate += piece;
    crc = crc32_combine(crc, piece_crc, kPiece);
  }
  deflate += std::string("\x03\0", 2);  // an empty last block
  const std::string stored = MemberOf(deflate, static_cast<uint32_t>(crc), kPiece * kPieces);
  ASSERT_LT(stored.size(), 2u << 20);

  rusage before = {};
  getrusage(RUSAGE_SELF, &before);
  const auto bomb = StreamOfSource(
      std::make_unique<GzipSource>(std::make_unique<MemorySource>(stored), GetParam()),
      StreamThreads::kAhead, kBlockBytes);
  uint64_t total = 0;
  bool all_zero = true;
  while (true) {
    const Block block = bomb->Next();
    if (block.size == 0) break;
    total += block.size;
    all_zero = all_zero && std::memcmp(block.data, zeros.data(), block.size) == 0;
  }
  rusage after = {};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(bomb->defect(), StreamDefect::kNone) << bomb->defect_text();
  EXPECT_EQ(total, uint64_t{kPiece} * kPieces);
  EXPECT_TRUE(all_zero);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 32 * 1024) << "KB more than before";
}

TEST_P(GzipSourceTest, ReportsAnInvalidHeader) {
  for (const std::string& stored : {std::string("\x1f\x8b\x09xxxxxxxxxxxxxxxxxx"),
                                    std::string("\x1f\x8b\x08\xe0xxxxxxxxxxxxxxxxxx")}) {
    const Delivered all = Unpack(stored);
    EXPECT_EQ(all.bytes, "");
    EXPECT_EQ(all.defect, StreamDefect::kCorrupt);
  }
}

}  // namespace
}  // namespace tacho
