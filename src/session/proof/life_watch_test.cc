#include "session/proof/life_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/clock_for_test.h"
#include "control/fake_engine_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LifeWatchTest : public ::testing::Test {
 protected:
  LifeWatchTest() {
    RecordedWorker& worker = workers_.emplace_back();
    worker.worker.url = engine_.url();
    worker.facts.kind = EngineKind::kVllm;
  }

  // Looks until the engine was asked `questions` more times.
  void Ask(size_t questions) {
    const size_t before = Questions();
    while (Questions() < before + questions) Look();
  }
  // What counts as dead after the questions so far, each with its second question. A look asks one
  // or two questions, and begins once the look before it has ended.
  LifeWatch::Deaths Dead() {
    Ask(2);
    return watch_.Dead({0}, workers_);
  }

  HeldClock clock_;
  FakeEngine engine_{{{"GET /health", {200, ""}}, {"GET /metrics", {200, kMetrics}}}};

 private:
  static constexpr const char* kMetrics =
      "vllm:iteration_tokens_total_count{engine=\"0\",model_name=\"m\"} 7\n";

  void Look() {
    watch_.Dead({0}, workers_);
    clock_.Move(std::chrono::milliseconds(50));
    std::this_thread::yield();
  }
  size_t Questions() const {
    const std::vector<std::string> seen = engine_.seen();
    return static_cast<size_t>(std::ranges::count(seen, "GET /health"));
  }

  std::vector<RecordedWorker> workers_;
  std::unique_ptr<HttpClient> client_ = HttpClient::Create().value();
  LifeWatch watch_{*client_, clock_};
};

TEST_F(LifeWatchTest, OneThatSaysSoTwiceAndStandsStillIsDead) {
  Ask(1);
  EXPECT_THAT(Dead(), IsEmpty());
  engine_.Set("GET /health", {503, ""});
  Ask(1);
  const LifeWatch::Deaths dead = Dead();
  ASSERT_TRUE(dead.contains(0));
  EXPECT_THAT(dead.at(0), HasSubstr("/health answers 503"));
}

TEST_F(LifeWatchTest, WhatWasSoBeforeTheWindowIsNoDeathInIt) {
  engine_.Set("GET /health", {503, ""});
  Ask(3);
  EXPECT_THAT(Dead(), IsEmpty());
}

TEST_F(LifeWatchTest, OneAnswerIsNone) {
  Ask(1);
  EXPECT_THAT(Dead(), IsEmpty());
  clock_.after_wait = [this] { engine_.Set("GET /health", {200, ""}); };
  engine_.Set("GET /health", {503, ""});
  Ask(1);
  EXPECT_THAT(Dead(), IsEmpty());
}

}  // namespace
}  // namespace tacho
