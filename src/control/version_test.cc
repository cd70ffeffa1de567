#include "control/version.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Version, ComparesByNumbers) {
  auto v = [](std::string_view text) { return ParseVersion(text).value(); };
  EXPECT_LT(v("0.9.2"), v("0.10.0"));
  EXPECT_EQ(v("0.32"), v("0.32.0"));
  EXPECT_EQ(v("v0.32.0+cpu"), v("0.32.0"));
  EXPECT_GT(v("0.5.4.post1"), v("0.5.4"));
  EXPECT_LT(v("0.5.4.post1"), v("0.5.5"));
  EXPECT_EQ(v("0.21.0rc2").parts, (std::vector<int>{0, 21}));
  EXPECT_FALSE(ParseVersion("unknown"));
  EXPECT_FALSE(ParseVersion(""));
}

TEST(IsVersion, IsOneOfPackages) {
  for (const char* version :
       {"0.32", "0.32.0", "v0.11.0rc1", "0.8.5.post1", "0.33.0.dev7+cu129.g1a"})
    EXPECT_TRUE(IsVersion(version)) << version;
  for (const std::string& text :
       {std::string("abc"), std::string("0.3x2"), std::string("32"), std::string("0.32."),
        std::string("0.32 "), std::string(), "0." + std::string(1'000'000, '1')})
    EXPECT_FALSE(IsVersion(text)) << text.substr(0, 10);
}

TEST(EngineRule, DependsOnTheVersion) {
  auto vllm = [](std::string_view version, std::string_view key) {
    return EngineRule(EngineKind::kVllm, version, key);
  };
  EXPECT_TRUE(vllm("0.10.2", "enable").find("VLLM_TORCH_PROFILER_DIR") != std::string_view::npos);
  EXPECT_TRUE(vllm("0.12.0", "enable").find("WITH_STACK=0") != std::string_view::npos);
  EXPECT_TRUE(vllm("0.13.0", "enable").find("--profiler-config") != std::string_view::npos);
  EXPECT_EQ(vllm("0.18.1", "stacks"), "no");
  EXPECT_EQ(vllm("0.19.0", "stacks"), "yes");
  EXPECT_EQ(vllm("0.17.3", "stacks"), "yes");
  EXPECT_EQ(vllm("0.31.1", "double"), "ignored");
  EXPECT_EQ(vllm("0.32.0", "double"), "conflict");
  EXPECT_EQ(vllm("", "double"), "conflict") << "an unknown version counts as the newest";
  auto sglang = [](std::string_view version, std::string_view key) {
    return EngineRule(EngineKind::kSglang, version, key);
  };
  EXPECT_EQ(sglang("0.5.15", "immediate"), "one-less");
  EXPECT_EQ(sglang("0.5.16", "immediate"), "exact");
  EXPECT_EQ(sglang("0.5.5", "prefix"), "no");
  EXPECT_EQ(sglang("0.5.6", "prefix"), "yes");
  EXPECT_EQ(sglang("0.5.14", "id"), "no");
  EXPECT_EQ(sglang("0.5.15", "id"), "yes");
  EXPECT_EQ(EngineRule(EngineKind::kUnknown, "1", "enable"), "");
}

// The remedy for an engine without a profiler earns no finding itself.
TEST(EngineRule, EnablesTheProfilerAsThePresetLight) {
  const std::string rule(EngineRule(EngineKind::kVllm, "0.32.0", "enable"));
  const std::vector<std::string> keys = RuleKeys("vllm", "preset.light.config.");
  EXPECT_GE(keys.size(), 7U);
  for (const std::string& key : keys)
    EXPECT_NE(rule.find("\"" + key + "\":"), std::string::npos) << key << " in " << rule;
  EXPECT_NE(rule.find(R"({"profiler":"torch","torch_profiler_dir":"/path",)"), std::string::npos);
  EXPECT_NE(rule.find(R"("torch_profiler_with_stack":false)"), std::string::npos);
}

}  // namespace
}  // namespace tacho
