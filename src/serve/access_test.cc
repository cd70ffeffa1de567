#include "serve/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random_secret.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SecretText, SecretsAreLongAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(*RandomSecret());
  EXPECT_EQ(seen.size(), 100u);
  for (const std::string& secret : seen) EXPECT_EQ(secret.size(), 48u);
}

TEST(SecretText, ComparesWholeTexts) {
  EXPECT_TRUE(SameSecret("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "bbc", "abcabc", "abcd"})
    EXPECT_FALSE(SameSecret("abc", other)) << other;
  EXPECT_FALSE(SameSecret("", "")) << "no secret is no key";
}

class AccessTest : public testing::Test {
 protected:
  static ServerRequest Get(std::string host, std::string path = "/") {
    ServerRequest request;
    request.method = "GET";
    request.path = std::move(path);
    request.headers = {{"Host", std::move(host)}};
    return request;
  }
  ServerRequest WithKey(std::string host) const {
    ServerRequest request = Get(std::move(host));
    request.headers.push_back({"Authorization", "Bearer " + access_->token()});
    return request;
  }
  ServerRequest WithToken(const std::string& token) const {
    ServerRequest request = Get("localhost");
    request.query = "token=" + token;
    return request;
  }
  int StatusOf(const ServerRequest& request) { return access_->Check(request).status; }

  std::unique_ptr<Access> access_ = *Access::Create(8137, {"Node7.example.org"});
};

TEST_F(AccessTest, OnlyOurOwnNamesAreAsked) {
  for (const char* host : {"localhost", "localhost:8137", "LOCALHOST:9", "127.0.0.1:8137",
                           "127.0.0.1", "[::1]:8137", "[::1]", "node7.example.org:8137"})
    EXPECT_EQ(StatusOf(WithKey(host)), 0) << host;
  for (const char* host :
       {"", "evil.example", "evil.example:8137", "localhost.evil.example", "127.0.0.1.nip.io",
        "localhost:8137:80", "localhost:", "localhost:x", "127.0.0.2", "0.0.0.0", "10.0.0.5:8137",
        "::1", "[::1", "localhost.", " localhost", "localhost@evil.example", "2130706433"})
    EXPECT_EQ(StatusOf(WithKey(host)), 403) << host;
  ServerRequest none = WithKey("localhost"), two = none;
  none.headers.erase(none.headers.begin());
  EXPECT_EQ(StatusOf(none), 403);
  two.headers.push_back({"host", "localhost"});
  EXPECT_EQ(StatusOf(two), 403);
}

TEST_F(AccessTest, TheHostComesBeforeTheKey) {
  ServerRequest rebound = WithToken(access_->token());
  rebound.headers[0].value = "evil.example";
  const AccessVerdict verdict = access_->Check(rebound);
  EXPECT_EQ(verdict.status, 403);
  EXPECT_TRUE(verdict.headers.empty());
  EXPECT_THAT(verdict.why, Not(HasSubstr(access_->token())));
}

TEST_F(AccessTest, WithoutAKeyNothing) {
  EXPECT_EQ(StatusOf(Get("localhost")), 401);
  EXPECT_EQ(StatusOf(Get("localhost", "/api/v1/meta")), 401);
  for (const std::string& value :
       {std::string("Bearer"), std::string("Bearer "), "Basic " + access_->token(),
        "Bearer " + access_->token().substr(1), "Bearer " + access_->token() + "0"}) {
    ServerRequest request = Get("localhost");
    request.headers.push_back({"Authorization", value});
    EXPECT_EQ(StatusOf(request), 401) << value;
  }
  EXPECT_EQ(StatusOf(WithToken("")), 401);
  EXPECT_EQ(StatusOf(WithToken(access_->token() + "0")), 401);
  ServerRequest elsewhere = WithToken(access_->token());
  elsewhere.path = "/api/v1/meta";
  EXPECT_EQ(StatusOf(elsewhere), 401) << "a token in an address is for the page alone";
}

// A browser sends cookies to all ports of a host, and so to other users' servers. The cookie is
// therefore limited to a folder that only this server knows.
TEST_F(AccessTest, TheTokenBecomesACookieOfASecretFolder) {
  const AccessVerdict to_folder = access_->Check(WithToken(access_->token()));
  EXPECT_EQ(to_folder.status, 303);
  EXPECT_EQ(FindHeader(to_folder.headers, "Set-Cookie"), "");
  const std::string location(FindHeader(to_folder.headers, "Location"));
  ASSERT_THAT(location, testing::MatchesRegex("\\./[0-9a-f]{48}/\\?token=[0-9a-f]{48}"));
  EXPECT_THAT(location, Not(HasSubstr(access_->token())));
  const size_t question = location.find('?');
  const std::string folder = location.substr(1, question - 1);
  ServerRequest pass = Get("localhost");
  pass.path = folder;
  pass.query = location.substr(question + 1);
  const AccessVerdict verdict = access_->Check(pass);
  EXPECT_EQ(verdict.status, 303);
  EXPECT_EQ(FindHeader(verdict.headers, "Location"), "./");
  EXPECT_EQ(StatusOf(pass), 401) << "a pass works once";
  const std::string cookie(FindHeader(verdict.headers, "Set-Cookie"));
  EXPECT_THAT(cookie, testing::MatchesRegex("tacho-8137=[0-9a-f]{48}; HttpOnly; SameSite=Strict"));
  EXPECT_THAT(cookie, Not(HasSubstr(access_->token())));
  const std::string pair = cookie.substr(0, cookie.find(';'));
  for (const std::string& value : {pair, "a=b; " + pair, pair + "; c=d", "a=b;" + pair}) {
    ServerRequest request = Get("127.0.0.1:8137");
    request.headers.push_back({"Cookie", value});
    EXPECT_EQ(StatusOf(request), 401) << value << ": who got it on another port";
    request.path = folder + "api/v1/meta";
    EXPECT_EQ(StatusOf(request), 0) << value;
    EXPECT_EQ(access_->PathOf(request), "/api/v1/meta");
  }
  for (const std::string& value :
       {"x" + pair, pair.substr(0, 40), pair + "0", "tacho-8138" + pair.substr(pair.find('='))}) {
    ServerRequest request = Get("127.0.0.1:8137");
    request.path = folder;
    request.headers.push_back({"Cookie", value});
    EXPECT_EQ(StatusOf(request), 401) << value;
  }
}

TEST_F(AccessTest, AOneTimeTokenIsUsedUp) {
  const std::string first = *access_->OneTimeToken(), second = *access_->OneTimeToken();
  EXPECT_EQ(StatusOf(WithToken(first)), 401) << "the later one replaces it";
  EXPECT_EQ(StatusOf(WithToken(second)), 303);
  EXPECT_EQ(StatusOf(WithToken(second)), 401);
  EXPECT_EQ(StatusOf(WithToken(access_->token())), 303) << "that of the terminal stays";
  EXPECT_EQ(StatusOf(WithToken(access_->token())), 303);
}

TEST_F(AccessTest, WhatChangesSomethingComesFromOurPage) {
  ServerRequest put = WithKey("localhost:9000");
  put.method = "PUT";
  EXPECT_EQ(StatusOf(put), 403) << "without an Origin";
  put.headers.push_back({"Origin", ""});
  for (const char* origin : {"null", "http://evil.example", "http://localhost",
                             "http://localhost:9001", "http://localhost:9000.evil.example", ""}) {
    put.headers.back().value = origin;
    EXPECT_EQ(StatusOf(put), 403) << origin;
  }
  for (const char* origin : {"http://localhost:9000", "https://LOCALHOST:9000"}) {
    put.headers.back().value = origin;
    EXPECT_EQ(StatusOf(put), 0) << origin;
  }
  for (const char* method : {"POST", "DELETE", "OPTIONS", "TRACE", "get"}) {
    ServerRequest other = WithKey("localhost");
    other.method = method;
    EXPECT_EQ(StatusOf(other), 405) << method;
  }
}

TEST(Access, NamesOfHostsHaveNoPort) {
  for (const char* name : {"", "a:80", "http://a", "a:", "::1"})
    EXPECT_EQ(Access::Create(1, {name}).error().kind, ErrorKind::kUsage) << name;
  EXPECT_TRUE(Access::Create(1, {"gpu-7", "[fe80::1]", "10.0.0.5"}));
}

}  // namespace
}  // namespace tacho
