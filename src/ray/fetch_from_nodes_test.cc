#include "ray/fetch_from_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"
#include "ray/file_sum.h"

namespace tacho {
namespace {

TEST(FetchFromNodes, PutsEachNodeIntoAFolderOfItsOwn) {
  EXPECT_EQ(*PlaceOfFetched("out", {"node-1", "/tmp/profile/rank0.json"}),
            "out/node-1/tmp/profile/rank0.json");
  for (const NodeFile& file :
       {NodeFile{"..", "/tmp/x"}, NodeFile{"a/b", "/tmp/x"}, NodeFile{"", "/tmp/x"},
        NodeFile{"a", "/tmp/../../x"}, NodeFile{"a", "tmp/x"}, NodeFile{".", "/x"}})
    EXPECT_FALSE(PlaceOfFetched("out", file)) << file.node << ":" << file.path;
}

TEST(FetchFromNodes, KnowsBySizesWhatIsToCome) {
  const FolderForTest folder;
  std::filesystem::create_directories(folder.path() + "/a/tmp");
  const std::vector<NodeFile> files = {
      {"a", "/tmp/x", 100}, {"a", "/tmp/y", 100}, {"a", "/tmp/z", 100}, {"b", "/tmp/x", 100}};
  EXPECT_EQ(BytesToCome(files, folder.path()), 400u);
  std::ofstream(folder.path() + "/a/tmp/x") << std::string(100, 'x');
  std::ofstream(folder.path() + "/a/tmp/y") << std::string(99, 'y');
  std::ofstream(folder.path() + "/a/tmp/z.part") << std::string(30, 'z');
  EXPECT_EQ(BytesToCome(files, folder.path()), 270u);
  std::ofstream(folder.path() + "/a/tmp/z.part") << std::string(300, 'z');
  EXPECT_EQ(BytesToCome(files, folder.path()), 200u);
}

TEST(FileSums, AreReadBack) {
  const FolderForTest folder;
  const std::string path = folder.path() + "/a file";
  std::ofstream(path) << "abc";
  const std::string none = folder.path() + "/none\n- x";
  const auto sums = ParseFileSums(FileSumsText({path, none, folder.path()}), 3);
  ASSERT_TRUE(sums);
  EXPECT_EQ((*sums)[0]->bytes, 3u);
  EXPECT_EQ((*sums)[0]->digest, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=") << "of FIPS 180-4";
  EXPECT_FALSE((*sums)[1]) << "it is not there, and its name breaks no line";
  EXPECT_FALSE((*sums)[2]) << "a folder";
  EXPECT_FALSE(ParseFileSums("3 short\n", 1));
  EXPECT_FALSE(ParseFileSums("", 1));
}

}  // namespace
}  // namespace tacho
