#include "cli/view/view_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/view/view_browser.h"

namespace tacho {
namespace {

using testing::HasSubstr;

Result<ViewPlan> PlanOfView(const std::vector<std::string>& arguments) {
  ViewOptions options;
  TACHO_ASSIGN_OR_RETURN(const bool help, ParseArguments(ViewSpec(options), arguments));
  EXPECT_FALSE(help);
  return PlanView(options);
}

TEST(ViewOptions, Defaults) {
  const auto plan = PlanOfView({"run/"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->choice.session, "latest");
  EXPECT_EQ(plan->server.host, "127.0.0.1");
  EXPECT_EQ(plan->server.port, std::nullopt);
  EXPECT_EQ(plan->start.kind, ServedStart::Kind::kNowhere);
  EXPECT_FALSE(plan->idle_exit);
  EXPECT_EQ(PlanOfView({"a.json", "b.json"})->choice.session, "");
}

TEST(ViewOptions, WhereToBegin) {
  EXPECT_EQ(PlanOfView({"a", "--gap", "3"})->start.number, 3u);
  EXPECT_EQ(PlanOfView({"a", "--step", "17"})->start.kind, ServedStart::Kind::kStep);
  EXPECT_EQ(PlanOfView({"a", "--find", "gemm"})->start.name, "gemm");
  EXPECT_EQ(PlanOfView({"a", "--at", "1.234s"})->start.time, DurationNs{1'234'000'000});
  EXPECT_EQ(PlanOfView({"a", "--idle-exit", "2h"})->idle_exit, DurationNs{7200 * kNsPerSecond});
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{},
                                             {"a", "--gap", "0"},
                                             {"a", "--gap", "1", "--step", "1"},
                                             {"a", "--find", ""},
                                             {"a", "--find", "x", "--gap", "1"},
                                             {"a", "--at", "soon"},
                                             {"a", "--at", "9223372036854775807ns"},
                                             {"a", "--port", "65536"},
                                             {"a", "--rank", "x"},
                                             {"a", "--idle-exit", "soon"}}) {
    const auto plan = PlanOfView(bad);
    ASSERT_FALSE(plan) << testing::PrintToString(bad);
    EXPECT_EQ(plan.error().kind, ErrorKind::kUsage);
  }
}

TEST(ViewOptions, TracesOfACluster) {
  const auto plan = PlanOfView({"/a", "--ray", "head", "--rank", "0", "--fetch-to", "x"});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->choice.session, "latest");
  EXPECT_THAT(PlanOfView({"a", "--ray", "head"}).error().message, HasSubstr("a is relative"));
  for (const char* alone : {"--fetch-to", "--ray-program"})
    EXPECT_THAT(PlanOfView({"/a", alone, "x"}).error().message, HasSubstr("needs --ray"));
}

TEST(ViewOptions, LoopbackHosts) {
  for (const char* host : {"127.0.0.1", "localhost", "::1", "[::1]", "127.1.2.3"})
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.5", "gpu-7"})
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
}

TEST(ViewBrowser, OpensWhereTheUserIs) {
  EXPECT_EQ(OpenerFor({":0", ""}), "xdg-open");
  EXPECT_EQ(OpenerFor({"", "", true}), "open");
  EXPECT_EQ(OpenerFor({"", ""}), std::nullopt);
  EXPECT_EQ(OpenerFor({":0", "10.0.0.1 50000 10.0.0.2 22"}), std::nullopt) << "X forwarding";
  EXPECT_EQ(OpenerFor({"", "10.0.0.1 50000 10.0.0.2 22", true}), std::nullopt);
  EXPECT_EQ(TunnelCommand("gpu-7", 8137), "ssh -N -L 8137:127.0.0.1:8137 gpu-7");
  EXPECT_THAT(TunnelCommand("a b", 1), HasSubstr("'a b'"));
}

}  // namespace
}  // namespace tacho
