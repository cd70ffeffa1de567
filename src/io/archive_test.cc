#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "io/archive_open.h"
#include "io/archive_reader.h"
#include "io/decode.h"
#include "io/memory_source.h"
#include "io/packed_for_test.h"
#include "io/trace_sources.h"

namespace tacho {
namespace {

using packed::Archived;
using packed::ArchiveFormat;
using packed::Delivered;
using packed::Gzipped;
using packed::PackedFile;
using packed::ReadAll;
using packed::SampleText;
using packed::Zstded;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kTrace = R"({"schemaVersion": 1, "traceEvents": []})";

std::vector<std::string> Displays(const Discovery& found, const FolderForTest& folder) {
  std::vector<std::string> names;
  for (const TraceSource& trace : found.traces) {
    EXPECT_TRUE(trace.Display().starts_with(folder.path() + "/"));
    names.push_back(trace.Display().substr(folder.path().size() + 1));
  }
  return names;
}

std::string Contents(const TraceSource& source, StreamThreads threads) {
  const auto stream = OpenSource(source, threads);
  if (!stream) return "error: " + stream.error().message;
  const Delivered all = ReadAll(**stream);
  return all.defect == StreamDefect::kNone ? all.bytes : "defect: " + all.text;
}

TEST(Archive, OfEveryFormatGivesTheTracesInIt) {
  const std::string large = kTrace + SampleText(3'000'000);
  const std::vector<PackedFile> files = {{"run/", ""},
                                         {"run/rank1.json", large},
                                         {"run/rank0.json.gz", Gzipped(kTrace)},
                                         {"run/rank2.json.zst", Zstded(kTrace)},
                                         {"run/readme.txt", "text"},
                                         {"run/config.json", "{\"a\": 1}"}};
  const std::string tar = Archived(files, ArchiveFormat::kTar);
  const std::string zip = Archived(files, ArchiveFormat::kZip);
  FolderForTest folder;
  const std::string streamed = Gzipped(zip);  // its sizes may stand behind the members
  for (const std::string& bytes : {tar, Gzipped(tar), Zstded(tar), zip, streamed}) {
    const std::string path = folder.Write("traces", bytes);
    for (const std::string& given : {path, folder.path()}) {
      const auto found = FindTraces({given});
      ASSERT_TRUE(found.has_value()) << found.error().message;
      EXPECT_THAT(Displays(*found, folder),
                  ElementsAre("traces:run/rank0.json.gz", "traces:run/rank1.json",
                              "traces:run/rank2.json.zst"));
      EXPECT_THAT(found->skipped, ElementsAre());
      for (const StreamThreads threads : {StreamThreads::kInline, StreamThreads::kAhead}) {
        EXPECT_EQ(Contents(found->traces[0], threads), kTrace);
        EXPECT_TRUE(Contents(found->traces[1], threads) == large);
        EXPECT_EQ(Contents(found->traces[2], threads), kTrace);
      }
      if (bytes != streamed || found->traces[1].stored_bytes != 0) {
        EXPECT_EQ(found->traces[1].stored_bytes, large.size());
      }
    }
  }
}

TEST(Archive, CountsTheStoredBytesOfAMember) {
  FolderForTest folder;
  const std::string stored = Gzipped(kTrace + SampleText(100'000));
  folder.Write("a.tar", Archived({{"t.json.gz", stored}}, ArchiveFormat::kTar));
  const auto found = FindTraces({folder.path()});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->traces[0].stored_bytes, stored.size());
  const auto stream = OpenSource(found->traces[0], StreamThreads::kAhead);
  ASSERT_TRUE(stream.has_value());
  ReadAll(**stream);
  EXPECT_EQ((*stream)->stored_bytes(), stored.size());
}

TEST(Archive, TellsMembersOfOneNameApart) {
  FolderForTest folder;
  const std::string second = R"({"traceEvents": [ ]})";
  folder.Write("a.tar", Archived({{"t.json", kTrace}, {"t.json", second}, {"\x1b[31m", second}},
                                 ArchiveFormat::kTar));
  const auto found = FindTraces({folder.At("a.tar")});
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(Displays(*found, folder),
              ElementsAre("a.tar:?[31m", "a.tar:t.json", "a.tar:t.json#2"));
  EXPECT_EQ(Contents(found->traces[1], StreamThreads::kInline), kTrace);
  EXPECT_EQ(Contents(found->traces[2], StreamThreads::kInline), second);
  EXPECT_EQ(Contents(found->traces[0], StreamThreads::kInline), second);
}

TEST(Archive, KeepsNamesAsTextAndWritesNothing) {
  FolderForTest folder;
  folder.Write("below/a.tar", Archived({{"../../escape.json", kTrace},
                                        {"/tmp/absolute.json", kTrace},
                                        {"\xe2\x82\xac\xff.json", kTrace}},
                                       ArchiveFormat::kTar));
  const auto found = FindTraces({folder.path()});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->traces.size(), 3u);
  for (const TraceSource& trace : found->traces) {
    EXPECT_EQ(Contents(trace, StreamThreads::kInline), kTrace) << trace.member;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.At("escape.json")));
}

TEST(Archive, SkipsNestedEncryptedAndForeignMembersWithAReason) {
  FolderForTest folder;
  const std::string inner = Archived({{"t.json", kTrace}}, ArchiveFormat::kTar);
  folder.Write("a.tar", Archived({{"inner.tar", inner},
                                  {"inner.tar.gz", Gzipped(inner)},
                                  {"r.nsys-rep", "NVIDIA Tegra Profiler Report"},
                                  {"e.json", ""},
                                  {"t.json", kTrace}},
                                 ArchiveFormat::kTar));
  folder.Write("e.zip", Archived({{"t.json", kTrace}}, ArchiveFormat::kEncryptedZip));
  const auto found = FindTraces({folder.path()});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_THAT(Displays(*found, folder), ElementsAre("a.tar:t.json"));
  EXPECT_THAT(found->skipped,
              ElementsAre(HasSubstr("a.tar:inner.tar.gz: is an archive inside of an archive"),
                          HasSubstr("a.tar:inner.tar: is an archive inside of an archive"),
                          HasSubstr("a.tar:r.nsys-rep: is an Nsight Systems report"),
                          HasSubstr("e.zip:t.json: is encrypted")));
  ASSERT_EQ(found->failures.size(), 1u);
  EXPECT_THAT(found->failures[0].message, HasSubstr("a.tar:e.json: is empty"));
  const auto only_encrypted = FindTraces({folder.At("e.zip")});
  ASSERT_FALSE(only_encrypted.has_value());
  EXPECT_THAT(only_encrypted.error().message, HasSubstr("is encrypted"));
}

TEST(Archive, ThatIsCutGivesTheMembersBeforeTheCut) {
  FolderForTest folder;
  const std::string large = kTrace + SampleText(2'000'000);
  const std::string tar =
      Archived({{"a.json", kTrace}, {"b.json", large}, {"c.json", kTrace}}, ArchiveFormat::kTar);
  const std::string packed = Gzipped(tar);
  const std::string path = folder.Write("cut.tar.gz", packed.substr(0, packed.size() / 2));
  const auto found = FindTraces({path});
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_THAT(Displays(*found, folder), ElementsAre("cut.tar.gz:a.json", "cut.tar.gz:b.json"));
  EXPECT_THAT(found->skipped, ElementsAre(HasSubstr("the gzip data ends in the middle")));
  EXPECT_EQ(Contents(found->traces[0], StreamThreads::kInline), kTrace);
  const auto stream = OpenSource(found->traces[1], StreamThreads::kAhead);
  ASSERT_TRUE(stream.has_value());
  const Delivered cut = ReadAll(**stream);
  EXPECT_EQ(cut.defect, StreamDefect::kTruncated) << cut.text;
  EXPECT_TRUE(large.starts_with(cut.bytes));
  EXPECT_GT(cut.bytes.size(), large.size() / 4);

  const std::string plain = folder.Write("cut.tar", tar.substr(0, 1'000'000));
  const auto plain_found = FindTraces({plain});
  ASSERT_TRUE(plain_found.has_value()) << plain_found.error().message;
  ASSERT_EQ(plain_found->traces.size(), 2u);
  EXPECT_THAT(Contents(plain_found->traces[1], StreamThreads::kInline), HasSubstr("damaged"));
}

TEST(Archive, ThatIsDamagedFromTheStartIsAnErrorIfGivenAndSkippedIfFound) {
  FolderForTest folder;
  const std::string path = folder.Write("a.zip", "PK\x03\x04" + std::string(500, '\x77'));
  const auto given = FindTraces({path});
  ASSERT_FALSE(given.has_value());
  EXPECT_EQ(given.error().kind, ErrorKind::kUnreadable);
  EXPECT_TRUE(given.error().message.starts_with(path + ": ")) << given.error().message;
  folder.Write("t.json", kTrace);
  const auto found = FindTraces({folder.path()});
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->skipped, ElementsAre(HasSubstr("a.zip: ")));
}

TEST(Archive, MemberThatIsGoneIsAnError) {
  FolderForTest folder;
  const std::string path =
      folder.Write("a.tar", Archived({{"t.json", kTrace}}, ArchiveFormat::kTar));
  const auto stream = OpenSource({path, "gone.json", 0}, StreamThreads::kInline);
  ASSERT_FALSE(stream.has_value());
  EXPECT_THAT(stream.error().message, HasSubstr("has no member gone.json"));
}

TEST(Archive, IsReadTheSameFromMemoryAndFromASourceInPieces) {
  const std::vector<PackedFile> files = {{"a", SampleText(5000)}, {"b", ""}, {"c", SampleText(70)}};
  for (const ArchiveFormat format : {ArchiveFormat::kTar, ArchiveFormat::kZip}) {
    const std::string bytes = Archived(files, format);
    for (const size_t piece : {1u, 100u, 512u, 1u << 20}) {
      auto reader = piece == 1u << 20
                        ? ArchiveReader::OfMemory(bytes)
                        : ArchiveReader::OfSource(std::make_unique<MemorySource>(bytes, piece));
      ASSERT_TRUE(reader.has_value()) << reader.error().message;
      for (const PackedFile& file : files) {
        const auto member = (*reader)->Next();
        ASSERT_TRUE(member.has_value() && member->has_value());
        EXPECT_EQ((*member)->name, file.name);
        const Delivered all = ReadAll(*SourceOfMember(**reader), 333);
        EXPECT_EQ(all.bytes, file.bytes);
        EXPECT_EQ(all.defect, StreamDefect::kNone) << all.text;
      }
      const auto end = (*reader)->Next();
      EXPECT_TRUE(end.has_value() && !end->has_value());
    }
  }
}

// A few bytes could describe exabytes of zeros.
TEST(Archive, MemberWithAHoleIsNotFilledWithZeros) {
  archive* writer = archive_write_new();
  archive_write_set_format_pax(writer);
  std::string tar(1 << 20, '\0');
  size_t used = 0;
  ASSERT_EQ(archive_write_open_memory(writer, tar.data(), tar.size(), &used), ARCHIVE_OK);
  const std::string data = kTrace + std::string(5'000'000, '\0') + "end";
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "sparse.json");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_size(entry, static_cast<la_int64_t>(data.size()));
  archive_entry_sparse_add_entry(entry, 0, static_cast<la_int64_t>(kTrace.size()));
  archive_entry_sparse_add_entry(entry, static_cast<la_int64_t>(data.size() - 3), 3);
  ASSERT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
  archive_write_data(writer, data.data(), data.size());
  archive_entry_free(entry);
  ASSERT_EQ(archive_write_close(writer), ARCHIVE_OK);
  archive_write_free(writer);

  const auto reader = ArchiveReader::OfMemory(std::string_view(tar).substr(0, used));
  ASSERT_TRUE(reader.has_value());
  ASSERT_TRUE((*reader)->Next().has_value());
  const Delivered all = ReadAll(*SourceOfMember(**reader));
  EXPECT_EQ(all.bytes, kTrace);
  EXPECT_EQ(all.defect, StreamDefect::kCorrupt);
  EXPECT_THAT(all.text, HasSubstr("has a hole"));
}

TEST(Archive, WithTooManyMembersIsCutOffWithAReason) {
  // By hand: 512 bytes of header a member, no data.
  const std::string one = Archived({{"t.json", kTrace}}, ArchiveFormat::kTar);
  std::string tar = one.substr(0, 1024);
  const std::string empty = Archived({{"e", ""}}, ArchiveFormat::kTar).substr(0, 512);
  tar.reserve(tar.size() + kMaxArchiveMembers * 512);
  for (size_t i = 0; i < kMaxArchiveMembers; ++i) tar += empty;
  FolderForTest folder;
  const auto found = FindTraces({folder.Write("many.tar.gz", Gzipped(tar, 1))});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->traces.size(), 1u);
  EXPECT_THAT(found->skipped, ::testing::Contains(HasSubstr("more than 100000 members")));
}

}  // namespace
}  // namespace tacho
