#include "load/drive/drive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <thread>

#include "base/clock_pair.h"
#include "base/time.h"
#include "load/drive/drive_for_test.h"
#include "load/result/concurrency.h"
#include "load/result/request_times.h"

namespace tacho {
namespace {

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
    EXPECT_LE(r.admitted_ns, r.handed_ns);
    EXPECT_LE(r.handed_ns, r.sent_ns);
    EXPECT_LE(r.sent_ns, r.first_byte_ns);
    EXPECT_LE(r.first_byte_ns, r.first_token_ns);
    EXPECT_LE(r.first_token_ns, r.last_token_ns);
    EXPECT_LE(r.last_token_ns, r.ended_ns);
    EXPECT_GE(r.first_token_ns - r.sent_ns, 5 * kNsPerMs - kNsPerMs / 10);
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

TEST(Drive, UsersWhoGetThroughThePlanBeginItAgainWithOtherPrompts) {
  EngineForTest engine({.first_ns = kNsPerMs});
  // Prompts have 7 tokens out of ten possible ones: two of some 500 prompts are equal by chance
  // once in a hundred runs.
  PlanOptions options = Fixed(5, 1, 40);
  options.concurrency = 2;
  auto plan = MakePlan(options);
  ASSERT_TRUE(plan);
  plan->options.requests.reset();
  plan->options.duration_ns = 1000 * kNsPerMs;
  const LoadRecords records = Send(*plan, {TargetOf(engine)});
  EXPECT_EQ(records.ended_early, "");
  EXPECT_GE(records.ended_ns - records.started_ns, 1000 * kNsPerMs);
  ASSERT_GT(records.requests.size(), 15u);
  const auto bodies = engine.bodies();
  std::set<std::string> prompts;
  for (const auto& body : bodies) prompts.insert(body["prompt"].dump());
  EXPECT_EQ(prompts.size(), bodies.size());
  for (size_t i = 0; i < records.requests.size(); ++i) EXPECT_EQ(records.requests[i].index, i);
}

TEST(Drive, UsersPauseEvenIfFirstAnswersComeBeforeAllHaveBegun) {
  EngineForTest engine({.first_ns = 0});
  PlanOptions options = Fixed(600, 1);
  options.concurrency = 300;
  options.think_ns = 200 * kNsPerMs;
  const auto plan = MakePlan(options);
  ASSERT_TRUE(plan);
  const LoadRecords records = Send(*plan, {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 600u);
  std::set<int64_t> ends;
  for (const RequestRecord& r : records.requests) ends.insert(r.ended_ns);
  for (const RequestRecord& r : records.requests) {
    EXPECT_GE(r.intended_ns, records.started_ns) << r.index;
    if (r.index < 300) continue;
    // The intended time is the end of the answer before it plus the user's pause.
    EXPECT_EQ(ends.count(r.intended_ns - plan->requests[r.index].think_ns), 1u) << r.index;
  }
}

TEST(Drive, KeepsToTheBoundOfRequestsAtOnce) {
  EngineForTest engine({.first_ns = 100 * kNsPerMs});
  PlanOptions options = Fixed(20, 1);
  options.concurrency = 4;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 20u);
  const Concurrency all = ConcurrencyOf(records.requests, records.started_ns);
  EXPECT_EQ(all.peak, 4u);
  EXPECT_GT(all.mean, 3.5);
  // 20 requests, 4 at once, make 5 rounds of 100 ms.
  EXPECT_GE(records.ended_ns - records.started_ns, 500 * kNsPerMs);
}

TEST(Drive, AnOpenLoopSendsOnScheduleWhateverTheServerDoes) {
  EngineForTest engine({.first_ns = 400 * kNsPerMs});
  PlanOptions options = Fixed(40, 1);
  options.concurrency = 0;
  options.rate = 200;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  const auto plan = MakePlan(options);
  ASSERT_EQ(records.requests.size(), 40u);
  for (size_t i = 0; i < 40; ++i) {
    const RequestRecord& r = records.requests[i];
    EXPECT_EQ(r.intended_ns, records.started_ns + plan->requests[i].at_ns);
    EXPECT_EQ(r.admitted_ns, r.intended_ns);
    EXPECT_LT(r.sent_ns - r.intended_ns, 200 * kNsPerMs);
  }
  EXPECT_GT(ConcurrencyOf(records.requests, records.started_ns).peak, 20u);
}

TEST(Drive, ACappedOpenLoopReportsItsQueueTime) {
  EngineForTest engine({.first_ns = 50 * kNsPerMs});
  PlanOptions options = Fixed(10, 1);
  options.concurrency = 1;
  options.rate = 1000;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  const RequestRecord& last = records.requests.back();
  // The last request waited for nine answers in the user's queue, not in the client.
  EXPECT_GE(QueueNs(last), 9 * 49 * kNsPerMs - 20 * kNsPerMs);
  EXPECT_LT(*TtftNs(last), 120 * kNsPerMs);
  EXPECT_GE(*IntendedTtftNs(last), 10 * 49 * kNsPerMs - 20 * kNsPerMs);
  EXPECT_LT(*LatenessNs(last), 40 * kNsPerMs);
}

// A recording sends such a load: nobody knows in advance how long a start or a flush takes.
TEST(Drive, ALoadWithoutAnEndKeepsItsScheduleRoundAfterRoundUntilItIsStopped) {
  for (const bool by_rate : {true, false}) {
    EngineForTest engine({.first_ns = kNsPerMs});
    PlanOptions options = Fixed(0, 1, 40);
    options.requests.reset();
    options.duration_ns = 100 * kNsPerMs;
    options.until_stopped = true;
    options.concurrency = by_rate ? 0 : 2;
    if (by_rate) options.rate = 100;
    const auto plan = MakePlan(options);
    ASSERT_TRUE(plan) << plan.error().message;
    const size_t round = plan->requests.size();
    ASSERT_GT(round, 0u);
    std::stop_source stop;
    std::jthread stopper([&] {
      while (engine.requests() < (by_rate ? 3 * round : 30)) std::this_thread::yield();
      stop.request_stop();
    });
    const LoadRecords records = Send(*plan, {TargetOf(engine)}, stop.get_token());
    EXPECT_EQ(records.ended_early, "stopped");
    EXPECT_GT(records.ended_ns - records.started_ns, by_rate ? 200 * kNsPerMs : 0);
    const auto bodies = engine.bodies();  // the last, cancelled request may still come in
    std::set<std::string> prompts;
    for (const auto& body : bodies) prompts.insert(body["prompt"].dump());
    EXPECT_EQ(prompts.size(), bodies.size());
    if (!by_rate) continue;
    for (const RequestRecord& r : records.requests)
      EXPECT_EQ(r.intended_ns, records.started_ns + plan->requests[r.index % round].at_ns +
                                   static_cast<int64_t>(r.index / round) * 100 * kNsPerMs);
  }
}

TEST(Drive, TellsWhatCameOfEachTarget) {
  EngineForTest good({.first_ns = kNsPerMs});
  EngineForTest bad({}, [](EngineForTest&, const EngineForTest::Exchange& exchange, const auto&) {
    exchange->Respond(500, "no", "text/plain");
    return true;
  });
  PlanOptions options = Fixed(20, 3);
  const auto plan = MakePlan(options);
  ASSERT_TRUE(plan);
  auto client = HttpClient::Create();
  ASSERT_TRUE(client);
  DriveProgress progress(2);
  const auto records = Drive(**client, *plan, {TargetOf(good), TargetOf(bad)}, progress);
  ASSERT_TRUE(records) << records.error().message;
  int64_t last_ns = 0;
  for (const RequestRecord& r : records->requests) last_ns = std::max(last_ns, r.last_token_ns);
  EXPECT_EQ(progress.targets[0].last_token_ns, last_ns);
  EXPECT_EQ(progress.targets[0].failures_in_row, 0u);
  EXPECT_EQ(progress.targets[1].last_token_ns, 0);
  EXPECT_EQ(progress.targets[1].failures_in_row, 10u);
  for (const TargetProgress& target : progress.targets) EXPECT_EQ(target.running, 0u);
}

TEST(Drive, EndsAtItsDuration) {
  EngineForTest engine({.first_ns = kNsPerMs, .gap_ns = 10 * kNsPerMs});
  PlanOptions options = Fixed(0, 1000);
  options.requests.reset();
  options.duration_ns = 3000 * kNsPerMs;  // a busy machine once took 700 ms to begin the requests
  options.concurrency = 3;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 3u);
  for (const RequestRecord& r : records.requests) {
    EXPECT_EQ(r.status, RequestStatus::kCancelled);
    EXPECT_GT(r.output_tokens, 5);
    EXPECT_GT(r.sent_ns, 0);
  }
  EXPECT_EQ(records.ended_early, "");
  EXPECT_LT(records.ended_ns - records.started_ns, 9000 * kNsPerMs);  // all 1000 tokens take 10 s
}

TEST(Drive, GraceLetsInFlightRequestsEnd) {
  EngineForTest engine({.first_ns = kNsPerMs, .gap_ns = 5 * kNsPerMs});
  PlanOptions options = Fixed(0, 40);
  options.requests.reset();
  options.duration_ns = 100 * kNsPerMs;
  options.grace_ns = 30'000 * kNsPerMs;
  options.concurrency = 2;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 2u);
  for (const RequestRecord& r : records.requests) EXPECT_EQ(r.status, RequestStatus::kDone);
  EXPECT_LT(records.ended_ns - records.started_ns, 5'000 * kNsPerMs);
}

TEST(Drive, StopsWhenAsked) {
  EngineForTest engine({.gap_ns = 1000 * kNsPerMs});
  std::stop_source stop;
  PlanOptions options = Fixed(100, 100);
  std::jthread stopper([&] {
    while (engine.requests() < 8) std::this_thread::yield();
    stop.request_stop();
  });
  const LoadRecords records = Send(options, {TargetOf(engine)}, stop.get_token());
  EXPECT_EQ(records.requests.size(), 8u);
  EXPECT_EQ(records.ended_early, "stopped");
}

TEST(Drive, GoesRoundTheServersAndKeepsSessionsTogether) {
  EngineForTest one, two;
  Send(Fixed(20, 1), {TargetOf(one), TargetOf(two)});
  EXPECT_EQ(one.requests(), 10u);
  EXPECT_EQ(two.requests(), 10u);
  PlanOptions agents;
  agents.mix = {{"agent", 1}};
  agents.requests = 60;
  agents.output_tokens = 2;
  agents.seed = 3;
  auto plan = *MakePlan(agents);
  for (PlannedRequest& request : plan.requests) request.think_ns /= 100;
  const LoadRecords records = Send(plan, {TargetOf(one), TargetOf(two)});
  ASSERT_EQ(records.requests.size(), 60u);
  for (size_t i = 1; i < 60; ++i) {
    const RequestRecord &before = records.requests[i - 1], &r = records.requests[i];
    if (r.turn == 0) continue;
    EXPECT_EQ(r.session, before.session);
    EXPECT_EQ(r.url, before.url);
    EXPECT_GE(r.sent_ns, before.ended_ns);
    EXPECT_GT(r.planned_prompt_tokens, before.planned_prompt_tokens);
  }
}

TEST(Drive, ASlowServerTakesNoPlacesFromAFastOne) {
  EngineForTest slow({.first_ns = 60'000 * kNsPerMs}), fast({.first_ns = 5 * kNsPerMs});
  PlanOptions options = Fixed(0, 1);
  options.requests.reset();
  options.duration_ns = 1000 * kNsPerMs;
  options.concurrency = 8;
  const LoadRecords records = Send(options, {TargetOf(slow), TargetOf(fast)});
  EXPECT_EQ(slow.requests(), 4u);
  // Four users, up to 200 answers a second each: enough to see that none of them stopped.
  EXPECT_GT(fast.requests(), 40u);
  std::vector<RequestRecord> of_fast;
  for (const RequestRecord& r : records.requests)
    if (r.url == fast.url()) of_fast.push_back(r);
  EXPECT_EQ(ConcurrencyOf(of_fast, records.started_ns).peak, 4u);
}

TEST(Drive, UsersThinkBetweenTheirRequests) {
  EngineForTest engine({.first_ns = kNsPerMs});
  PlanOptions options = Fixed(30, 1);
  options.concurrency = 3;
  options.think_ns = 30 * kNsPerMs;
  const LoadRecords records = Send(options, {TargetOf(engine)});
  ASSERT_EQ(records.requests.size(), 30u);
  // Each user has nine pauses of 30 ms on average.
  EXPECT_GT(records.ended_ns - records.started_ns, 130 * kNsPerMs);
  EXPECT_LT(ConcurrencyOf(records.requests, records.started_ns).mean, 2);
}

TEST(Drive, PromptsAreSaltedButASeedAndASaltDecideThem) {
  EngineForTest engine;
  PlanOptions options = Fixed(1, 1, 50);
  for (const uint64_t salt : {1u, 1u, 2u}) {
    options.salt = salt;
    Send(options, {TargetOf(engine)});
  }
  const auto bodies = engine.bodies();
  EXPECT_EQ(bodies[0]["prompt"], bodies[1]["prompt"]);
  EXPECT_NE(bodies[0]["prompt"], bodies[2]["prompt"]);
  for (const auto& id : bodies[0]["prompt"]) {
    EXPECT_THAT(TargetOf(engine).token_ids, testing::Contains(id.get<int64_t>()));
  }
}

TEST(Drive, WithoutIdsPromptsAreWordsAndGivenFieldsReplaceOurs) {
  EngineForTest engine;
  DriveTarget target = TargetOf(engine);
  target.token_ids.clear();
  target.sampling = R"({"temperature":0.5})";
  target.extra_body = R"({"min_tokens":3,"top_k":[1,{"a":2}]})";
  Send(Fixed(1, 10, 4), {target});
  const auto body = engine.bodies().at(0);
  const std::string prompt = body["prompt"];
  EXPECT_EQ(std::count(prompt.begin(), prompt.end(), ' '), 3) << prompt;
  EXPECT_EQ(body["min_tokens"], 3);
  EXPECT_EQ(body["max_tokens"], 10);
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["top_k"].dump(), R"([1,{"a":2}])");
}

TEST(Drive, RecordsAreJsonLinesWithUnixTimes) {
  EngineForTest engine;
  const int64_t before = ReadClocks().unix_ns;
  const LoadRecords records = Send(Fixed(3), {TargetOf(engine)});
  const int64_t after = ReadClocks().unix_ns;
  std::istringstream lines(RecordsAsJsonLines(records));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    const auto r = nlohmann::json::parse(line);
    EXPECT_EQ(r["index"], count++);
    EXPECT_EQ(r["status"], "done");
    EXPECT_GE(r["sent_unix_ns"], before);
    EXPECT_LE(r["ended_unix_ns"], after);
    EXPECT_EQ(r["chunk_dt_ns"].size(), 10u);
    int64_t sum = r["sent_ns"];
    for (const auto& dt : r["chunk_dt_ns"]) sum += dt.get<int64_t>();
    EXPECT_EQ(sum, r["last_token_ns"]);
  }
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace tacho
