#include "control/live/known_faults.h"

#include <gmock/gmock.h>

#include "control/version.h"

namespace tacho {
namespace {

std::vector<std::string> Names(std::string_view name, std::string_view version) {
  std::vector<std::string> names;
  for (const Finding& finding : CheckVersion(name, version))
    names.emplace_back(KindOf(finding.id).id);
  return names;
}

TEST(CheckVersion, FaultsOfAVersionAndOfNoOther) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(Names("vllm", "0.7.2"), ElementsAre("one-rank-profiled"));
  EXPECT_THAT(Names("vllm", "0.6.3.post1"), ElementsAre("one-rank-profiled", "stacks-may-crash"));
  EXPECT_THAT(Names("vllm", "0.8.0"), IsEmpty());
  EXPECT_THAT(Names("vllm", "0.12.0"), ElementsAre("auto-stop-silent"));
  EXPECT_THAT(Names("vllm", "0.28.1+rocm700"), ElementsAre("auto-stop-silent", "rocm-hangs"));
  EXPECT_THAT(Names("vllm", "0.28.1"), ElementsAre("auto-stop-silent"));
  EXPECT_THAT(Names("vllm", "0.32.0"), IsEmpty());
  EXPECT_THAT(Names("vllm", ""), IsEmpty()) << "nothing is said about a version that is not known";
  EXPECT_THAT(Names("sglang", "0.5.15"), ElementsAre("one-step-less"));
  EXPECT_THAT(Names("sglang", "0.5.16"), IsEmpty());
  EXPECT_THAT(Names("sglang", "0.4.1.post5"), ElementsAre("one-step-less", "engine-api-silent"));
  EXPECT_THAT(Names("sglang", "0.4.1.post6"), ElementsAre("one-step-less"));
  EXPECT_THAT(Names("torch", "2.3.1+cu118"), ElementsAre("old-cuda"));
  EXPECT_THAT(Names("torch", "2.3.1+cu121"), IsEmpty());
  EXPECT_THAT(Names("vllm", "0.32.9"), IsEmpty());
  EXPECT_THAT(Names("vllm", "0.33.1"), IsEmpty());
  EXPECT_THAT(Names("vllm", "0.34.0"), ElementsAre("version-unknown"));
  EXPECT_THAT(Names("sglang", "0.5.23.post1"), IsEmpty());
  EXPECT_THAT(Names("sglang", "0.6.0"), ElementsAre("version-unknown"));
}

TEST(CheckVersion, EachRuleNamesAFindingAndSaysWhatToDo) {
  for (const char* build : {"vllm", "vllm-rocm", "sglang", "torch-cu118"})
    for (const std::string& key : RuleKeys(build, "known.")) EXPECT_TRUE(FindingNamed(key)) << key;
  const std::vector<Finding> findings = CheckVersion("vllm", "0.12.0");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].subject, "vllm 0.12.0");
  EXPECT_THAT(findings[0].remedy, testing::StartsWith("tacho engine stop"));
}

}  // namespace
}  // namespace tacho
