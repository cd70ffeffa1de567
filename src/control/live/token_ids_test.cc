#include "control/live/token_ids.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(TokenIds, AreRequestedIfARouterDropsRunningTotalsAndTheEngineSupportsIds) {
  EXPECT_TRUE(NeedsTokenIds(RouterKind::kVllmRouter, EngineKind::kVllm, "0.32.0"));
  EXPECT_TRUE(NeedsTokenIds(RouterKind::kVllmRouter, EngineKind::kVllm, "0.10.2"));
  EXPECT_TRUE(NeedsTokenIds(RouterKind::kSglangRouter, EngineKind::kVllm, "0.32.0"));
  EXPECT_FALSE(NeedsTokenIds(RouterKind::kVllmRouter, EngineKind::kVllm, "0.10.1"));
  EXPECT_FALSE(NeedsTokenIds(RouterKind::kSglangRouter, EngineKind::kSglang, "0.5.23"));
  EXPECT_FALSE(NeedsTokenIds(RouterKind::kNone, EngineKind::kVllm, "0.32.0"));
  EXPECT_FALSE(NeedsTokenIds(RouterKind::kOther, EngineKind::kVllm, "0.32.0"));
}

}  // namespace
}  // namespace tacho
