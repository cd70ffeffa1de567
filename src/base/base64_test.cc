#include "base/base64.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Base64, Pads) {
  EXPECT_EQ(Base64(std::string_view("")), "");
  EXPECT_EQ(Base64(std::string_view("f")), "Zg==");
  EXPECT_EQ(Base64(std::string_view("fo")), "Zm8=");
  EXPECT_EQ(Base64(std::string_view("foo")), "Zm9v");
  EXPECT_EQ(Base64(std::string_view("\xff\xfe\xfd\0", 4)), "//79AA==");
}

TEST(Base64, ReadsWhatItWrites) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(FromBase64(Base64(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text : {"Z", "Zg=", "Zg", "Zh==", "Z===", "Zm9v=", "Zm 9v", "Zg==Zg==", "Zm-_"})
    EXPECT_FALSE(FromBase64(text)) << text;
}

}  // namespace
}  // namespace tacho
