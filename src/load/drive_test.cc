#include "load/drive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/engine_for_test.h"

namespace tacho {
namespace {

constexpr int64_t kMs = 1'000'000;

LoadRecords Send(const PlanOptions& options, std::vector<DriveTarget> targets,
                 std::stop_token stop = {}) {
  auto client = HttpClient::Create();
  EXPECT_TRUE(client);
  const auto plan = MakePlan(options);
  EXPECT_TRUE(plan) << plan.error().message;
  DriveProgress progress;
  auto records = Drive(**client, *plan, targets, progress, stop);
  EXPECT_TRUE(records) << records.error().message;
  return records ? std::move(*records) : LoadRecords{};
}

DriveTarget TargetOf(const EngineForTest& engine) { return {.url = engine.url(), .model = "tiny"}; }

PlanOptions Fixed(uint64_t requests, int64_t output = 10, int64_t prompt = 7) {
  PlanOptions options;
  options.requests = requests;
  options.prompt_tokens = prompt;
  options.output_tokens = output;
  return options;
}

TEST(Drive, SendsWhatWasPlannedAndRecordsWhatCame) {
  EngineForTest engine;
  const LoadRecords records = Send(Fixed(20), {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 20u);
  EXPECT_EQ(records.ended_early, "");
  for (const RequestRecord& r : records.requests) {
    EXPECT_EQ(r.status, RequestStatus::kDone) << r.error;
    EXPECT_EQ(r.output_tokens, 10);
    EXPECT_EQ(r.prompt_tokens, 7);
    EXPECT_EQ(r.finish_reason, "length");
    EXPECT_EQ(r.server_id, "cmpl-x");
    EXPECT_EQ(r.counted_by, TokenCounts::kUsage);
    EXPECT_EQ(r.chunk_ns.size(), 10u);
    EXPECT_LE(r.intended_ns, r.admitted_ns);
    EXPECT_LE(r.admitted_ns, r.sent_ns);
    EXPECT_LE(r.sent_ns, r.first_byte_ns);
    EXPECT_LE(r.first_byte_ns, r.first_token_ns);
    EXPECT_LT(r.first_token_ns, r.last_token_ns);
    EXPECT_LE(r.last_token_ns, r.ended_ns);
    EXPECT_GE(r.first_token_ns - r.sent_ns, 5 * kMs - kMs / 10);
  }
  const auto bodies = engine.bodies();
  ASSERT_EQ(bodies.size(), 20u);
  EXPECT_EQ(bodies[0]["model"], "tiny");
  EXPECT_EQ(bodies[0]["prompt"].size(), 7u);
  EXPECT_EQ(bodies[0]["max_tokens"], 10);
  EXPECT_EQ(bodies[0]["min_tokens"], 10);
  EXPECT_EQ(bodies[0]["ignore_eos"], true);
  EXPECT_EQ(bodies[0]["stream_options"]["continuous_usage_stats"], true);
  EXPECT_THAT(engine.ids(), testing::Contains(records.requests[3].id));
}

}  // namespace
}  // namespace tacho
