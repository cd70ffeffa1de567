#include "net/url.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Url, HostAndPort) {
  const auto url = ParseUrl("127.0.0.1:8000");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->Origin(), "http://127.0.0.1:8000");
}

}  // namespace
}  // namespace tacho
