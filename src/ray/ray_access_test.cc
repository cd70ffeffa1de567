#include "ray/ray_access.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"

namespace tacho {
namespace {

// An environment without Ray's variables and with a home of its own.
class RayAccess : public testing::Test {
 protected:
  RayAccess() {
    for (const char* const name :
         {"RAY_ADDRESS", "RAY_API_SERVER_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"})
      unsetenv(name);
    home_before_ = getenv("HOME") == nullptr ? "" : getenv("HOME");
    setenv("HOME", home_->path().c_str(), 1);
  }
  ~RayAccess() override { setenv("HOME", home_before_.c_str(), 1); }

  static std::string Address(const std::string& given) {
    const auto url = RayAddress(given);
    return url ? url->Origin() + url->path : url.error().message;
  }

  const Result<TemporaryFolder> home_ = TemporaryFolder::Make();
  std::string home_before_;
};

TEST_F(RayAccess, Addresses) {
  EXPECT_EQ(Address("head"), "http://head:8265");
  EXPECT_EQ(Address("head:8000"), "http://head:8000");
  EXPECT_EQ(Address("http://10.0.0.1"), "http://10.0.0.1:8265");
  EXPECT_EQ(Address("http://10.0.0.1:80"), "http://10.0.0.1:80");
  EXPECT_EQ(Address("https://ray.example/cluster"), "https://ray.example:443/cluster");
  EXPECT_EQ(Address("http://[::1]"), "http://[::1]:8265");
  EXPECT_EQ(Address("http://[::1]:9000"), "http://[::1]:9000");
  EXPECT_EQ(Address("head:6379"), "http://head:8265");
  EXPECT_THAT(Address("ray://head:10001"), testing::HasSubstr("give that of the dashboard"));
}

TEST_F(RayAccess, AutoIsAsRaysTools) {
  EXPECT_EQ(Address("auto"), "http://127.0.0.1:8265");
  setenv("RAY_ADDRESS", "a:6379", 1);
  EXPECT_EQ(Address("auto"), "http://a:8265");
  setenv("RAY_ADDRESS", "a:6380", 1);
  EXPECT_EQ(Address("auto"), "http://a:6380") << "that on port 8265 may be another cluster's";
  setenv("RAY_ADDRESS", "[::1]", 1);
  EXPECT_EQ(Address("auto"), "http://[::1]:8265");
  setenv("RAY_ADDRESS", "http://a:8000", 1);
  EXPECT_EQ(Address("auto"), "http://a:8000");
  setenv("RAY_API_SERVER_ADDRESS", "http://b:8265", 1);
  EXPECT_EQ(Address("auto"), "http://b:8265");
  EXPECT_EQ(Address("c"), "http://c:8265");
  setenv("RAY_API_SERVER_ADDRESS", "ray://b:1", 1);
  EXPECT_THAT(Address("auto"), testing::StartsWith("RAY_API_SERVER_ADDRESS: "));
}

TEST_F(RayAccess, DriversHaveAnAddressOfTheirOwn) {
  EXPECT_EQ(DriversAddress("head:6379"), "head:6379");
  EXPECT_EQ(DriversAddress("auto"), "auto");
  for (const char* const other : {"head", "head:8265", "http://head:8265", "http://head:6379"})
    EXPECT_EQ(DriversAddress(other), std::nullopt) << other;
  setenv("RAY_ADDRESS", "a:6379", 1);
  EXPECT_EQ(DriversAddress("auto"), "a:6379");
  setenv("RAY_ADDRESS", "a:6380", 1);
  EXPECT_EQ(DriversAddress("auto"), "a:6380");
  setenv("RAY_API_SERVER_ADDRESS", "http://b:8265", 1);
  EXPECT_EQ(DriversAddress("auto"), std::nullopt);
}

TEST_F(RayAccess, TheTokenOfRaysTools) {
  EXPECT_EQ(RayToken().value_or("?"), "");
  std::filesystem::create_directory(home_->At(".ray"));
  std::ofstream(home_->At(".ray/auth_token")) << "of-home\n";
  EXPECT_EQ(RayToken().value_or("?"), "of-home");
  std::ofstream(home_->At("other")) << " of-file \n";
  setenv("RAY_AUTH_TOKEN_PATH", home_->At("other").c_str(), 1);
  EXPECT_EQ(RayToken().value_or("?"), "of-file");
  setenv("RAY_AUTH_TOKEN", "of-variable", 1);
  EXPECT_EQ(RayToken().value_or("?"), "of-variable");
  unsetenv("RAY_AUTH_TOKEN");
  setenv("RAY_AUTH_TOKEN_PATH", home_->At("none").c_str(), 1);
  const auto none = RayToken();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(none.error().message, testing::StartsWith("RAY_AUTH_TOKEN_PATH: "));
}

}  // namespace
}  // namespace tacho
