#include "net/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Sse, OneEvent) {
  SseReader reader;
  std::vector<std::string> got;
  reader.Feed("data: a\n\n", [&](std::string_view data) { got.emplace_back(data); });
  EXPECT_THAT(got, testing::ElementsAre("a"));
}

}  // namespace
}  // namespace tacho
