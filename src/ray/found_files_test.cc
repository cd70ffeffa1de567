#include "ray/found_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/random.h"
#include "base/temporary_folder.h"
#include "ray/node_program.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

FoundFile File(const std::string& path, uint64_t device, uint64_t inode) {
  return {path, device, inode, 1000, 5};
}

NodeFiles Node(const std::string& boot, std::vector<FoundFile> files) {
  return {boot, {{"/t", std::move(files), ""}}, {}};
}

TEST(DivideFiles, EachDiskOfItsOwn) {
  // Two hosts whose disks have the same names.
  EXPECT_THAT(DivideFiles({Node("a", {File("/t/0", 1, 10)}), Node("b", {File("/t/0", 1, 11)})}),
              ElementsAre(ElementsAre("/t"), ElementsAre("/t")));
}

TEST(DivideFiles, ASharedDiskIsReadOnce) {
  // Another host gives the disk another number.
  EXPECT_THAT(DivideFiles({Node("a", {File("/t/0", 1, 10)}), Node("b", {File("/t/0", 2, 10)})}),
              ElementsAre(ElementsAre("/t"), IsEmpty()));
  // Two containers on one host see it at different places.
  EXPECT_THAT(DivideFiles({Node("a", {File("/t/0", 1, 10)}), Node("a", {File("/u/0", 1, 10)})}),
              ElementsAre(ElementsAre("/t"), IsEmpty()));
}

TEST(DivideFiles, NotByANodeWithoutMemory) {
  NodeFiles small = Node("a", {File("/t/0", 1, 10)}), large = Node("b", {File("/t/0", 2, 10)});
  small.memory = {8ull << 30, 100ull << 20};
  large.memory = {64ull << 30, 32ull << 30};
  EXPECT_THAT(DivideFiles({small, large}), ElementsAre(IsEmpty(), ElementsAre("/t")));
  EXPECT_THAT(DivideFiles({small}), ElementsAre(ElementsAre("/t")));
}

TEST(DivideFiles, ANodeGetsWhatOthersLack) {
  EXPECT_THAT(DivideFiles({Node("a", {File("/t/0", 1, 10)}),
                           Node("b", {File("/t/0", 2, 10), File("/t/1", 7, 70)})}),
              ElementsAre(ElementsAre("/t"), ElementsAre("/t/1")));
}

TEST(DivideFiles, WithoutABootIdHostsAreDistinct) {
  EXPECT_THAT(DivideFiles({Node("", {File("/t/0", 1, 10)}), Node("", {File("/u/0", 1, 10)})}),
              ElementsAre(ElementsAre("/t"), ElementsAre("/t")));
}

TEST(DivideFiles, EveryFileOnceWhateverNodesSee) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    // Files on one shared disk; each node sees some of them.
    std::vector<NodeFiles> nodes;
    std::set<std::string> seen;
    for (uint64_t n = 0; n < 4; ++n) {
      std::vector<FoundFile> files;
      for (uint64_t f = 0; f < 6; ++f) {
        if (random.Below(2) == 0) continue;
        files.push_back(File("/t/" + std::to_string(f), n, f));
        seen.insert(files.back().path);
      }
      nodes.push_back(Node(std::to_string(n), std::move(files)));
    }
    std::multiset<std::string> given;
    const auto parts = DivideFiles(nodes);
    for (size_t n = 0; n < parts.size(); ++n) {
      for (const std::string& path : parts[n]) {
        if (path != "/t") given.insert(path);
        if (path == "/t")
          for (const FoundFile& file : nodes[n].paths[0].files) given.insert(file.path);
      }
    }
    EXPECT_EQ(given, std::multiset<std::string>(seen.begin(), seen.end()));
  }
}

TEST(FindFiles, WhatAHostHas) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  const std::string odd = folder->At("odd\xff\n.json");
  std::ofstream(odd) << R"({"traceEvents": [{"ph": "X", "name": "k", "ts": 1, "dur": 1}]})";
  std::filesystem::create_directory(folder->At("empty"));
  std::ofstream(folder->At("words.txt")) << "words";
  std::filesystem::create_directory(folder->At("damaged"));
  std::ofstream(folder->At("damaged/rank0.pt.trace.json.gz"));
  const auto files =
      ParseFiles(FilesJson(FindFiles({folder->path(), folder->At("empty"), folder->At("none"),
                                      folder->At("words.txt"), folder->At("damaged")})));
  ASSERT_TRUE(files);
  EXPECT_EQ(files->boot.size(), 36u);
  EXPECT_GT(files->memory.total, 0u);
  ASSERT_EQ(files->paths.size(), 5u);
  ASSERT_EQ(files->paths[0].files.size(), 1u);
  EXPECT_EQ(files->paths[0].files[0].path, odd);
  EXPECT_EQ(files->paths[0].files[0].bytes, std::filesystem::file_size(odd));
  EXPECT_GT(files->paths[0].files[0].changed_ns, 0);
  EXPECT_TRUE(files->paths[1].bare && !files->paths[1].absent);
  EXPECT_THAT(files->paths[1].damaged, IsEmpty());  // a head without traces
  EXPECT_TRUE(files->paths[2].absent && !files->paths[2].bare);
  EXPECT_FALSE(files->paths[3].absent || files->paths[3].bare);
  EXPECT_EQ(files->paths[3].files.size(), 1u);  // its reader says what is wrong with it
  EXPECT_TRUE(files->paths[4].bare);
  ASSERT_EQ(files->paths[4].damaged.size(), 1u);
  EXPECT_EQ(files->paths[4].damaged[0].path, folder->At("damaged/rank0.pt.trace.json.gz"));
  EXPECT_THAT(files->paths[4].problem, testing::HasSubstr("is empty (0 bytes)"));
}

TEST(FindFiles, ACutListIsRefused) {
  const std::string json = FilesJson(Node("a", {File("/t/0", 1, 10)}));
  for (size_t size = 0; size + 2 < json.size(); ++size)
    EXPECT_FALSE(ParseFiles(json.substr(0, size))) << size;
}

TEST(ResultsSum, ComesBack) {
  const auto sum = ParseSum(SumText(SumOf(4, "results")));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->status, 4);
  EXPECT_EQ(sum->bytes, 7u);
  EXPECT_EQ(sum->digest, SumOf(0, "results").digest);
  EXPECT_FALSE(ParseSum("4 7 abc\n"));
  EXPECT_FALSE(ParseSum(""));
}

}  // namespace
}  // namespace tacho
