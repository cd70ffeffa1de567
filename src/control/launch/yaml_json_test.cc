#include "control/launch/yaml_json.h"

#include <gtest/gtest.h>

#include <string>

namespace tacho {
namespace {

TEST(JsonOfYaml, TheScalarsThatKubectlWrites) {
  EXPECT_EQ(
      JsonOfYaml("a: 1\nb: true\nc: \"8000\"\nd: '1'\ne: x y\nf:\ng: [1, -2, 007]\n1: null\n"),
      R"([{"a":1,"b":true,"c":"8000","d":"1","e":"x y","f":null,"g":[1,-2,"007"],"1":null}])");
  EXPECT_EQ(JsonOfYaml("- a: |\n    two\n    lines\n  b: {}\n- []\n"),
            R"([[{"a":"two\nlines\n","b":{}},[]]])");
  EXPECT_EQ(JsonOfYaml("a: 1\n---\nb: 2\n"), R"([{"a":1},{"b":2}])");
  EXPECT_EQ(JsonOfYaml(""), "[]");
}

TEST(JsonOfYaml, RefusesWhatJsonCannotExpress) {
  EXPECT_FALSE(JsonOfYaml("a: b: c"));
  EXPECT_FALSE(JsonOfYaml("a: &x [1]\nb: *x\n"));
  EXPECT_FALSE(JsonOfYaml("? [a]\n: b\n"));
  EXPECT_FALSE(JsonOfYaml("a: \xff\xfe\n"));
  EXPECT_FALSE(JsonOfYaml("[1, 2"));
  EXPECT_TRUE(JsonOfYaml(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(JsonOfYaml(std::string(66, '[') + std::string(66, ']')));
}

}  // namespace
}  // namespace tacho
