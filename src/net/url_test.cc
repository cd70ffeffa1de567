#include "net/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::HasSubstr;

std::string Shown(std::string_view text) {
  const auto url = ParseUrl(text);
  if (!url) return url.error().message;
  return url->scheme + " " + url->host + " " + std::to_string(url->port) + " " + url->path;
}

TEST(Url, Parts) {
  EXPECT_EQ(Shown("http://10.0.0.5:8000"), "http 10.0.0.5 8000 ");
  EXPECT_EQ(Shown("https://engine.example/v1/"), "https engine.example 443 /v1/");
  EXPECT_EQ(Shown("HTTP://Host/Path?q=1"), "http host 80 /Path?q=1");
  EXPECT_EQ(Shown("http://h?q=/"), "http h 80 /?q=/");
  EXPECT_EQ(Shown("http://[::1]:8000/x"), "http [::1] 8000 /x");
  EXPECT_EQ(Shown("https://[FE80::1]"), "https [fe80::1] 443 ");
}

TEST(Url, SchemeMayBeLeftOut) {
  EXPECT_EQ(Shown("127.0.0.1:8000"), "http 127.0.0.1 8000 ");
  EXPECT_EQ(Shown("localhost"), "http localhost 80 ");
  EXPECT_EQ(Shown("localhost:30000/v1"), "http localhost 30000 /v1");
  EXPECT_EQ(Shown("[::1]:80"), "http [::1] 80 ");
}

TEST(Url, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(ParseUrl("").error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Shown("ftp://h"),
            "\"ftp://h\" is not an address of a server: only http and https are spoken; it should "
            "look like http://HOST:PORT");
  EXPECT_THAT(Shown("http://"), HasSubstr("the host is missing"));
  EXPECT_THAT(Shown(":8000"), HasSubstr("the host is missing"));
  EXPECT_THAT(Shown("http://h:0"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(Shown("http://h:65536"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(Shown("http://h:"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(Shown("http://h:80x"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(Shown("http://h:-1"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(Shown("http://h:1:2"), HasSubstr("too many ':'"));
  EXPECT_THAT(Shown("::1"), HasSubstr("the host is missing"));
  EXPECT_THAT(Shown("fe80::1"), HasSubstr("needs brackets"));
  EXPECT_THAT(Shown("http://user:secret@h"), HasSubstr("before '@'"));
  EXPECT_THAT(Shown("http://[::1"), HasSubstr("']' is missing"));
  EXPECT_THAT(Shown("http://[x]"), HasSubstr("no IPv6 address"));
  EXPECT_THAT(Shown("http://[::1]x"), HasSubstr("only a port"));
  EXPECT_THAT(Shown("http://a b"), HasSubstr("a space"));
  EXPECT_THAT(Shown("http://a\nb"), HasSubstr("\"http://a?b\""));
  EXPECT_THAT(Shown("http://h/#x"), HasSubstr("'#'"));
  EXPECT_THAT(Shown("http://h*st"), HasSubstr("a host has letters"));
}

TEST(Url, With) {
  EXPECT_EQ(ParseUrl("h:8000")->With("/health"), "http://h:8000/health");
  EXPECT_EQ(ParseUrl("h:8000/")->With("health"), "http://h:8000/health");
  EXPECT_EQ(ParseUrl("h:8000/pre/fix/")->With("/v1/models?x=1"),
            "http://h:8000/pre/fix/v1/models?x=1");
  EXPECT_EQ(ParseUrl("h:8000/p?q=1")->With("a"), "http://h:8000/p/a");
}

TEST(Url, Loopback) {
  for (const char* text :
       {"localhost", "LOCALHOST:80", "127.0.0.1", "127.8.9.1:1", "[::1]", "[::ffff:127.0.0.1]"}) {
    EXPECT_TRUE(ParseUrl(text)->IsLoopback()) << text;
  }
  for (const char* text : {"10.0.0.1", "127.0.0.1.example", "128.0.0.1", "localhost.example",
                           "[::2]", "127.0.0", "127.0.0.256"}) {
    EXPECT_FALSE(ParseUrl(text)->IsLoopback()) << text;
  }
}

TEST(Url, ShownWithoutItsSecrets) {
  const std::pair<const char*, const char*> cases[] = {
      {"http://h:8000/v1", "http://h:8000/v1"},
      {"http://h:8000@1", "http://h:8000@1"},
      {"[::1]:8000@12", "[::1]:8000@12"},
      {"http://user:sesame@h:8000/v1", "http://***@h:8000/v1"},
      {"user:sesame@h", "***@h"},
      {"http://user:ses/a?m@e@h:1/x", "http://***@h:1/x"},
      {"http://user:sesame@1", "http://***@1"},
      {"https://h/v1?key=sesame&x=1", "https://h/v1?***"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(ShownUrl(text), shown);
  EXPECT_EQ(ParseUrl("http://user:sesame@h").error().message.find("sesame"), std::string::npos);
  EXPECT_EQ(ParseUrl("http://user:ses ame@h").error().message.find("ame"), std::string::npos);
}

TEST(Url, Percent) {
  EXPECT_EQ(PercentEncode("a b/c?ä~"), "a%20b%2Fc%3F%C3%A4~");
  EXPECT_EQ(PercentDecode("a%20b%2fc+%C3%A4"), "a b/c+ä");
  EXPECT_EQ(PercentDecode("100%"), "100%");
  EXPECT_EQ(PercentDecode("%4"), "%4");
  EXPECT_EQ(PercentDecode("%zz%41"), "%zzA");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
}

}  // namespace
}  // namespace tacho
