#include "load/drive/request_body.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

int64_t Asked(std::string_view sampling, std::string_view extra_body, int64_t planned = 10) {
  DriveTarget target;
  target.sampling = sampling;
  target.extra_body = extra_body;
  return AskedBy(target).Of(planned);
}

TEST(AskedTokens, AreThoseOfThePlanUnlessGivenFieldsReplaceThem) {
  EXPECT_EQ(Asked("", ""), 10);
  EXPECT_EQ(Asked(R"({"temperature":0.5})", R"({"min_tokens":3})"), 10);
  EXPECT_EQ(Asked("", R"({"max_tokens":1000})"), 1000);
  EXPECT_EQ(Asked("", R"({"max_completion_tokens":20})"), 20);
  EXPECT_EQ(Asked(R"({"max_tokens":30})", ""), 30);
  EXPECT_EQ(Asked("", R"({"sampling_params":{"max_new_tokens":7,"n":3}})"), 21);
  EXPECT_EQ(Asked("", R"({"n":4})"), 40);
}

TEST(AskedTokens, AreNotKnownWhereTheFieldIsNoNumber) {
  EXPECT_EQ(Asked("", R"({"max_tokens":null})"), 0);
  EXPECT_EQ(Asked("", R"({"n":"4","max_tokens":-3})"), 0);
  const int64_t most = Asked("", R"({"n":9223372036854775807,"max_tokens":9223372036854775807})");
  EXPECT_GT(most, 0);
  EXPECT_LT(most, INT64_MAX / 4);
}

}  // namespace
}  // namespace tacho
