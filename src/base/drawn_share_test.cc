#include "base/drawn_share.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(LastShareIn, IsTheLastOne) {
  EXPECT_EQ(LastShareIn("\rExporting 426 events: [==10%    ]\rExporting 426 events: [==11%   ]"),
            0.11);
  for (const char* none : {"no share", "%", "1234567890123%", "101%"})
    EXPECT_EQ(LastShareIn(none), std::nullopt) << none;
}

}  // namespace
}  // namespace tacho
