#include "control/engine_instance.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(EngineInstance, ItsTextReadsBack) {
  for (const char* text :
       {"", "id:c4b40", "start:1700000000", "pid:7 100", "id:c4b40 start:1700000000"})
    EXPECT_EQ(ParseInstance(text).Text(), text);
  EXPECT_TRUE(ParseInstance("written by nobody").empty());
}

TEST(EngineInstance, IsAnotherOnlyIfACommonPartDiffers) {
  const EngineInstance both = ParseInstance("id:a start:1");
  EXPECT_FALSE(both.IsAnother(both));
  EXPECT_FALSE(both.IsAnother({}));
  EXPECT_FALSE(both.IsAnother(ParseInstance("id:a")));
  EXPECT_TRUE(both.IsAnother(ParseInstance("id:ab")));
  EXPECT_TRUE(both.IsAnother(ParseInstance("id:a start:2")));
  EXPECT_FALSE(both.IsAnother(ParseInstance("pid:7 100")));
  EXPECT_TRUE(ParseInstance("pid:7 100").IsAnother(ParseInstance("pid:8 100")));
}

}  // namespace
}  // namespace tacho
