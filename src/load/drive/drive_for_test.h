#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "load/drive/drive.h"
#include "load/drive/engine_for_test.h"

namespace tacho {

inline LoadRecords Send(const LoadPlan& plan, const std::vector<DriveTarget>& targets,
                        std::stop_token stop = {}) {
  auto client = HttpClient::Create();
  EXPECT_TRUE(client);
  DriveProgress progress;
  auto records = Drive(**client, plan, targets, progress, std::move(stop));
  EXPECT_TRUE(records) << records.error().message;
  EXPECT_EQ(progress.running, 0u);
  return records ? std::move(*records) : LoadRecords{};
}

inline LoadRecords Send(const PlanOptions& options, const std::vector<DriveTarget>& targets,
                        std::stop_token stop = {}) {
  const auto plan = MakePlan(options);
  EXPECT_TRUE(plan) << plan.error().message;
  return Send(*plan, targets, std::move(stop));
}

inline DriveTarget TargetOf(const EngineForTest& engine) {
  return {.url = engine.url(), .model = "tiny", .token_ids = {5, 6, 7, 8, 9, 15, 16, 17, 18, 19}};
}

inline PlanOptions Fixed(uint64_t requests, int64_t output = 10, int64_t prompt = 7) {
  PlanOptions options;
  options.requests = requests;
  options.prompt_tokens = prompt;
  options.output_tokens = output;
  return options;
}

}  // namespace tacho
