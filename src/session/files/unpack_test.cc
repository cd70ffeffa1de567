#include "session/files/unpack.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/folder_for_test.h"
#include "io/memory_source.h"
#include "io/packed_for_test.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using packed::Archived;
using packed::ArchiveFormat;
using packed::PackedFile;
using packed::SampleText;

class UnpackTest : public ::testing::Test {
 protected:
  Result<std::vector<std::string>> Unpack(const std::string& archive, std::string_view prefix = "",
                                          const UnpackBounds& bounds = {}) {
    return UnpackTraces(std::make_unique<MemorySource>(archive, 1000), prefix,
                        folder_.At("below/run"), bounds, [this](uint64_t bytes) { told_ = bytes; });
  }
  std::vector<std::string> Unpacked(const std::string& archive, std::string_view prefix = "") {
    const auto files = Unpack(archive, prefix);
    if (!files) return {"error: " + files.error().message};
    std::vector<std::string> names;
    for (const std::string& file : *files) names.push_back(fs::path(file).filename().string());
    return names;
  }
  // Every regular file below the test's folder.
  std::vector<std::string> Everything() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (!entry.is_directory() || entry.is_symlink())
        names.push_back(fs::relative(entry.path(), folder_.path()).string());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Contents(const std::string& name) const {
    std::ifstream file(folder_.At("below/run/" + name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  FolderForTest folder_;
  uint64_t told_ = 0;
};

std::string Tar(const std::vector<PackedFile>& files) {
  return Archived(files, ArchiveFormat::kTar);
}

TEST_F(UnpackTest, GivesTheTracesOfAllFolders) {
  const std::string large = SampleText(1'000'000);
  EXPECT_THAT(Unpacked(Tar({{"./b.json", large}, {"./deep/", ""}, {"./deep/a.json.gz", "a"}})),
              ::testing::ElementsAre("a.json.gz", "b.json"));
  EXPECT_TRUE(Contents("b.json") == large);
  EXPECT_EQ(Contents("a.json.gz"), "a");
  EXPECT_EQ(told_, 1'000'001u);
}

TEST_F(UnpackTest, TwoFilesOfOneNameStayTwo) {
  EXPECT_THAT(Unpacked(Tar({{"./a/t.json", "1"}, {"./b/t.json", "22"}, {"./a/t.json", "333"}})),
              ::testing::ElementsAre("t.json", "t.json#2", "t~2.json"));
  EXPECT_EQ(Contents("t.json"), "1");
  EXPECT_EQ(Contents("t~2.json"), "22");
  EXPECT_EQ(Contents("t.json#2"), "333");
}

TEST_F(UnpackTest, NothingLeavesTheFolder) {
  EXPECT_THAT(Unpacked(Tar({{"../../escape.json", "1"},
                            {"/tmp/tacho-absolute.json", "2"},
                            {"a/../../up.json", "3"},
                            {"..", "4"},
                            {".hidden.json", "5"},
                            {"no trace", "6"},
                            {"x\n.json", "7"},
                            {std::string(201, 'x') + ".json", "8"}})),
              ::testing::ElementsAre("escape.json", "tacho-absolute.json", "up.json", "x?.json"));
  EXPECT_THAT(Everything(),
              ::testing::ElementsAre("below/run/escape.json", "below/run/tacho-absolute.json",
                                     "below/run/up.json", "below/run/x?.json"));
  EXPECT_THAT(Unpacked(Tar({{"mine-1.json", "1"}, {"other.json", "2"}}), "mine"),
              ::testing::ElementsAre("mine-1.json"));
}

// The archive is made by hand: a link out of the folder, and a file that would go through it.
TEST_F(UnpackTest, LinksAndDevicesArePassedOver) {
  archive* writer = archive_write_new();
  archive_write_set_format_pax_restricted(writer);
  std::string tar(1 << 20, '\0');
  size_t used = 0;
  ASSERT_EQ(archive_write_open_memory(writer, tar.data(), tar.size(), &used), ARCHIVE_OK);
  const auto add = [&](const char* name, unsigned type, const char* link, std::string_view data) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, type);
    if (link != nullptr && type == AE_IFLNK) archive_entry_set_symlink(entry, link);
    if (link != nullptr && type == AE_IFREG) archive_entry_set_hardlink(entry, link);
    archive_entry_set_size(entry, static_cast<la_int64_t>(data.size()));
    ASSERT_EQ(archive_write_header(writer, entry), ARCHIVE_OK) << archive_error_string(writer);
    archive_write_data(writer, data.data(), data.size());
    archive_entry_free(entry);
  };
  add("out.json", AE_IFLNK, "/etc", "");
  add("out.json/t.json", AE_IFREG, nullptr, "1");
  add("hard.json", AE_IFREG, "/etc/passwd", "");
  add("pipe.json", AE_IFIFO, nullptr, "");
  add("device.json", AE_IFCHR, nullptr, "");
  ASSERT_EQ(archive_write_close(writer), ARCHIVE_OK);
  archive_write_free(writer);
  EXPECT_THAT(Unpacked(tar.substr(0, used)), ::testing::ElementsAre("t.json"));
  EXPECT_THAT(Everything(), ::testing::ElementsAre("below/run/t.json"));
}

TEST_F(UnpackTest, WhatIsNotWholeIsRemoved) {
  const std::string tar = Tar({{"a.json", "whole"}, {"b.json", SampleText(100'000)}});
  for (const size_t size : {size_t{0}, size_t{300}, size_t{50'000}}) {
    const auto files = Unpack(tar.substr(0, size));
    ASSERT_FALSE(files) << size;
    EXPECT_EQ(files.error().kind, ErrorKind::kRemote);
  }
  EXPECT_THAT(Everything(), ::testing::ElementsAre("below/run/a.json"));
  EXPECT_EQ(Contents("a.json"), "whole");
}

TEST_F(UnpackTest, IsBounded) {
  const std::string tar = Tar({{"a.json", SampleText(100'000)}, {"b.json", "b"}});
  const auto bytes = Unpack(tar, "", {.bytes = 99'999});
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().message, ::testing::HasSubstr("more than 99999 bytes came"));
  const auto count = Unpack(tar, "", {.files = 1});
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().message, "more than 1 files arrived");
  EXPECT_THAT(Everything(), ::testing::ElementsAre("below/run/a.json"));
  // A few bytes that unpack to many, and many bytes that are passed over.
  const std::string zip = Archived({{"z.json", std::string(1'000'000, ' ')}}, ArchiveFormat::kZip);
  ASSERT_LT(zip.size(), 20'000u);
  EXPECT_FALSE(Unpack(zip, "", {.bytes = 20'000}));
  std::string folders;
  while (folders.size() < 100'000) folders += Tar({{"folder/", ""}}).substr(0, 512);
  const auto endless = Unpack(folders, "", {.bytes = 20'000});
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().message, ::testing::HasSubstr("more than 20000 bytes came"));
}

}  // namespace
}  // namespace tacho
