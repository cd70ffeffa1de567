#include "serve/watched_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(WatchedFiles, EachChangeIsReportedOnce) {
  const FolderForTest folder;
  const std::string grows = folder.Write("grows", "a"), goes = folder.Write("goes", "b"),
                    stays = folder.Write("stays", "c");
  WatchedFiles files({grows, goes, stays, folder.At("never")});
  EXPECT_THAT(files.Changes(), IsEmpty());
  folder.Write("grows", "longer");
  std::filesystem::remove(goes);
  EXPECT_THAT(files.Changes(), ElementsAre(Pair(goes, "was removed"), Pair(grows, "has changed")));
  EXPECT_THAT(files.Changes(), IsEmpty());
}

}  // namespace
}  // namespace tacho
