#include "analysis/requests/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/requests/join_for_test.h"

namespace tacho {

static void PrintTo(const TokenSeat& seat, std::ostream* out) {
  *out << static_cast<int>(seat.fit) << " " << seat.first << "-" << seat.last
       << (seat.or_outside ? " or outside" : "");
}

namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;

// Steps of 10 ms, one after the other from 0 on; an empty one first and last.
void Steps(JoinEngine& engine, const std::vector<StepLabel>& labels) {
  int64_t at = 0;
  JoinScene::Step(engine, at, at + 1, JoinScene::Empty());
  for (const StepLabel& label : labels) {
    at += 10;
    JoinScene::Step(engine, at, at + 9, label);
  }
  JoinScene::Step(engine, at + 10, at + 11, JoinScene::Empty());
}

TEST(Join, TokensAreTiedByClocksOrderAndCounts) {
  JoinScene scene;
  Steps(scene.Engine(),
        {JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1), JoinScene::Of(1, 5, 1, 1),
         JoinScene::OfDecode(2), JoinScene::OfDecode(1)});
  // Both answers come as a whole: only order and the numbers of tokens say where they were made.
  scene.Answer(5, 8, {{49, 4}});
  scene.Answer(25, 5, {{59, 3}});
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kJoined);
  EXPECT_EQ(join.requests[0].engine, 0u);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(3), Tied(4), Tied(5)));
  EXPECT_EQ(join.tokens, 7u);
  EXPECT_EQ(join.tied, 7u);
  EXPECT_EQ(join.one_of, 0u);
  EXPECT_EQ(join.clock_error, DurationNs{});
}

// A request that generates is in each step that does, unless engines may pause requests.
TEST(Join, NoRequestPauses) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(2, 16, 0, 0), JoinScene::OfDecode(2), JoinScene::OfDecode(1),
                         JoinScene::OfDecode(1), JoinScene::Of(1, 1, 0, 0), JoinScene::Empty(),
                         JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{49, 4}});
  scene.Answer(5, 8, {{49, 2}});
  RequestJoin join = scene.Join();
  EXPECT_TRUE(join.gapless[0]);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(1), Tied(2)));
  // This one does, for one step.
  scene.engines[0].steps[2].label = JoinScene::OfDecode(1);
  scene.engines[0].steps[4].label = JoinScene::OfDecode(2);
  join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kJoined);
  EXPECT_FALSE(join.gapless[0]);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(1), Tied(4)));
}

// Two requests that only their order could tell apart.
TEST(Join, WhatFitsTwiceStaysOpen) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 0, 0), JoinScene::Of(1, 8, 0, 0),
                         JoinScene::OfDecode(1), JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{49, 2}});
  scene.Answer(5, 8, {{49, 2}});
  const RequestJoin join = scene.Join();
  for (const JoinedRequest& request : join.requests)
    EXPECT_THAT(request.tokens, ElementsAre(OneOf(1, 2), OneOf(3, 4)));
  EXPECT_EQ(join.tied, 0u);
  EXPECT_EQ(join.one_of, 4u);
}

TEST(Join, APromptInChunksEndsInItsLastChunk) {
  JoinScene scene;
  Steps(scene.Engine(),
        {JoinScene::Of(1, 8, 0, 0), JoinScene::Of(1, 3, 0, 0), JoinScene::OfDecode(1)});
  scene.Answer(5, 11, {{39, 2}});
  EXPECT_THAT(scene.Join().requests[0].tokens, ElementsAre(Tied(2), Tied(3)));
}

TEST(Join, APromptThatIsTooShortIsNotTheOneThatWasRead) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(1, 100, 0, 0), JoinScene::Of(1, 8, 0, 0)});
  scene.Answer(5, 8, {{29}});
  scene.Answer(5, 100, {{29}});
  const RequestJoin join = scene.Join();
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(2)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(1)));
}

TEST(Join, TheClockMayBeWrongByItsError) {
  JoinScene scene;
  Steps(scene.Engine(0, 8'000), {JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1),
                                 JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1)});
  JoinScene::Step(scene.engines[0], 100, 101, JoinScene::Empty());
  scene.Answer(5, 8, {{19}, {29}});
  scene.Answer(25, 8, {{39}, {49}});
  RequestJoin join = scene.Join();
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(3), Tied(4)));
  EXPECT_EQ(join.clock_error, DurationNs{8'000'000});
  // By more than that: the first token would have come before its step.
  for (EngineStep& step : scene.engines[0].steps) {
    step.when = {step.when.start + DurationNs{15'000'000}, step.when.end + DurationNs{15'000'000}};
    step.made = step.made + DurationNs{15'000'000};
  }
  join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kContradiction);
  EXPECT_EQ(join.requests[0].engine, JoinedRequest::kNoEngine);
  EXPECT_EQ(join.tokens, 4u);
  EXPECT_EQ(join.tied, 0u);
}

TEST(Join, RequestsMayBeginBeforeTheTraceAndEndAfterIt) {
  JoinScene scene;
  JoinEngine& engine = scene.Engine();
  const std::vector<StepLabel> labels = {JoinScene::OfDecode(1), JoinScene::Of(2, 17, 1, 1),
                                         JoinScene::OfDecode(3), JoinScene::OfDecode(1),
                                         JoinScene::OfDecode(1), JoinScene::OfDecode(1)};
  for (int64_t at = 100; const StepLabel& label : labels) {
    JoinScene::Step(engine, at, at + 9, label);
    at += 10;
  }
  scene.Answer(50, 8, {{69}, {79}, {110}, {120}, {130}});
  scene.Answer(108, 8, {{120}, {130}, {140}, {150}, {160}, {170}, {180}});
  scene.Answer(108, 9, {{120}, {130}});
  scene.Answer(200, 8, {{300}});
  const RequestJoin join = scene.Join();
  const TokenSeat outside{Fit::kOutside, false, 0, 0};
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(outside, outside, Tied(0), Tied(1), Tied(2)));
  EXPECT_THAT(join.requests[1].tokens,
              ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4), Tied(5), outside, outside));
  EXPECT_THAT(join.requests[2].tokens, ElementsAre(Tied(1), Tied(2)));
  EXPECT_THAT(join.requests[3].tokens, ElementsAre(outside));
  EXPECT_EQ(join.tokens, 10u);
  EXPECT_EQ(join.tied, 10u);
}

TEST(Join, ATokenMayBeOutside) {
  JoinScene scene;
  JoinEngine& engine = scene.Engine();
  JoinScene::Step(engine, 0, 9, JoinScene::Of(1, 8, 0, 0));
  JoinScene::Step(engine, 10, 19, JoinScene::Of(1, 8, 0, 0));
  scene.Answer(-50, 8, {{10}});
  scene.Answer(-60, 8, {{20}});
  scene.Answer(-20, 8, {{30}});
  const RequestJoin join = scene.Join();
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(OneOf(0, 0, true)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(OneOf(0, 1, true)));
  EXPECT_THAT(join.requests[2].tokens, ElementsAre(OneOf(0, 1, true)));
}

TEST(Join, SpeculativeStepsMakeSeveralTokens) {
  JoinScene scene;
  Steps(scene.Engine(),
        {JoinScene::Of(1, 8, 0, 0), JoinScene::Of(0, 0, 1, 4), JoinScene::Of(0, 0, 1, 4)});
  scene.Answer(5, 8, {{19}, {29, 3}, {39, 2}});
  // The tokens of the first draft came before the second step was over.
  EXPECT_THAT(scene.Join().requests[0].tokens,
              ElementsAre(Tied(1), Tied(2), Tied(2), Tied(2), OneOf(2, 3), Tied(3)));
}

TEST(Join, AStepThatSaysNothingWidens) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 0, 0),
                         {},
                         JoinScene::OfDecode(1),
                         JoinScene::OfDecode(1),
                         JoinScene::Of(1, 5, 0, 0),
                         JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{19}, {39, 2}, {49}});
  scene.Answer(49, 5, {{59}, {69}});
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kJoined);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4)));
  scene.engines[0].steps[3].label = {};
  EXPECT_THAT(scene.Join().requests[0].tokens,
              ElementsAre(Tied(1), OneOf(2, 3), OneOf(2, 3), Tied(4)));
}

// The client is gone, but the engine goes on for some steps.
TEST(Join, AFailedRequestHasMoreTokensThanItsRecord) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(2, 16, 0, 0), JoinScene::OfDecode(2), JoinScene::OfDecode(2),
                         JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{20}, {30}, {40}, {50}});
  Request& failed = scene.Answer(5, 8, {{20}, {30}});
  failed.whole = failed.at_limit = false;
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kJoined);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(1), Tied(2)));
}

// SGLang with overlapped scheduling: each request is in one more step than it has tokens.
TEST(Join, ARequestMayBeInAStepAfterItsLastToken) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1), JoinScene::OfDecode(1),
                         JoinScene::Of(1, 9, 0, 0), JoinScene::OfDecode(1), JoinScene::OfDecode(1),
                         JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{19}, {29}});
  scene.Answer(39, 9, {{49}, {59}, {69}});
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kJoined);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(4), Tied(5), Tied(6)));
}

// Without the server's counts, a chunk has one token or more.
TEST(Join, ChunksThatAreNotCountedBoundTheTokensFromAbove) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1), JoinScene::OfDecode(1),
                         JoinScene::OfDecode(1)});
  Request& request = scene.Answer(5, 8, {{29, 3}, {49, 1}});
  request.counted = false;
  EXPECT_THAT(scene.Join().requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4)));
}

TEST(Join, OthersRequestsAreSeen) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 2, 2), JoinScene::OfDecode(3), JoinScene::OfDecode(3),
                         JoinScene::OfDecode(2)});
  scene.Answer(5, 8, {{20}, {30}, {40}});
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kOthers);
  EXPECT_EQ(join.engine_why[0], JoinWhy::kOthers);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3)));
}

// With others, a step need not have made the token of a recorded request.
TEST(Join, WithOthersLessIsTied) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(2, 16, 0, 0), JoinScene::OfDecode(2), JoinScene::OfDecode(2),
                         JoinScene::OfDecode(2)});
  scene.Answer(5, 8, {{50, 3}});
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kOthers);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), OneOf(2, 3), OneOf(3, 4)));
}

// Long prompts of others, which nobody of the records can have sent. Each step generates as many
// tokens as the records have, so they are all of theirs.
TEST(Join, OthersPromptsLeaveTheAnswersTied) {
  JoinScene scene;
  Steps(scene.Engine(),
        {JoinScene::Of(1, 8, 0, 0), JoinScene::Of(1, 1500, 1, 1), JoinScene::OfDecode(1),
         JoinScene::Of(1, 1500, 1, 1), JoinScene::Of(2, 1508, 0, 0), JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{50, 4}});
  scene.Answer(45, 8, {{80, 2}});
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kOthers);
  EXPECT_TRUE(join.gapless[0]);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(2), Tied(3), Tied(4)));
  EXPECT_THAT(join.requests[1].tokens, ElementsAre(Tied(5), Tied(6)));
}

// The same with a prompt that the records may have: they contradict the steps.
TEST(Join, APromptOfNobodyIsAContradiction) {
  JoinScene scene;
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 0, 0), JoinScene::Of(1, 8, 1, 1),
                         JoinScene::OfDecode(1), JoinScene::OfDecode(1), JoinScene::Empty()});
  scene.Answer(5, 8, {{70, 4}});
  EXPECT_EQ(scene.Join().why, JoinWhy::kContradiction);
}

// A server's check of its own health has no record and makes no later token.
TEST(Join, AHealthCheckIsNoContradiction) {
  JoinScene scene;
  Steps(scene.Engine(),
        {JoinScene::Of(1, 8, 0, 0), JoinScene::Of(1, 1, 0, 0), JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{19}, {39}});
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kJoined);
  EXPECT_THAT(join.requests[0].tokens, ElementsAre(Tied(1), Tied(3)));
}

TEST(Join, SaysWhyNothingIsJoined) {
  JoinScene scene;
  EXPECT_EQ(scene.Join().why, JoinWhy::kNoSteps);
  JoinEngine& engine = scene.Engine();
  scene.Answer(5, 8, {{19}});
  EXPECT_EQ(scene.Join().why, JoinWhy::kNoSteps);
  Steps(engine, {{}, {}});
  for (EngineStep& step : engine.steps) step.label = {};
  EXPECT_EQ(scene.Join().why, JoinWhy::kNoSteps);
  for (EngineStep& step : engine.steps) step.label = JoinScene::Of(1, 8, 0, 0);
  engine.clock_error.reset();
  EXPECT_EQ(scene.Join().why, JoinWhy::kNoClock);
  engine.clock_error = DurationNs{};
  scene.table.rows[0] = {};
  const RequestJoin join = scene.Join();
  EXPECT_EQ(join.why, JoinWhy::kNoRequests);
  EXPECT_TRUE(join.requests[0].tokens.empty());
  EXPECT_FALSE(join.clock_error);
}

// A router, or data-parallel engines: the steps prove where a request was.
TEST(Join, StepsProveTheEngine) {
  for (const bool routed : {false, true}) {
    JoinScene scene;
    scene.table.workers[0] = {"", "", !routed, routed ? 1 : 2};
    Steps(scene.Engine(),
          {JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1), JoinScene::OfDecode(1)});
    Steps(scene.Engine(routed ? scene.Worker() : 0),
          {JoinScene::Of(1, 9, 0, 0), JoinScene::OfDecode(1), JoinScene::OfDecode(0)});
    for (const auto& [prompt, end] : {std::pair{8, 40}, {9, 30}}) {
      scene.Answer(5, prompt, {{end, prompt == 8 ? 3u : 2u}}, routed ? Request::kNoWorker : 0);
    }
    const RequestJoin join = scene.Join();
    EXPECT_THAT(join.engine_why, Each(JoinWhy::kJoined));
    EXPECT_EQ(join.requests[0].engine, 0u);
    EXPECT_EQ(join.requests[1].engine, 1u);
    EXPECT_EQ(join.tied, 5u);
  }
}

TEST(Join, WithoutTheTraceOfOneEngineTheOtherOneMayBeIt) {
  JoinScene scene;
  scene.table.workers[0].engines = 2;
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{19}, {29}});
  scene.Answer(5, 8, {{19}, {29}});
  const RequestJoin join = scene.Join();
  for (const JoinedRequest& request : join.requests) {
    EXPECT_EQ(request.engine, JoinedRequest::kNoEngine);
    EXPECT_THAT(request.tokens, Each(Field(&TokenSeat::fit, Fit::kUnknown)));
  }
  // One that none else could have been is proven.
  scene.table.rows.pop_back();
  EXPECT_EQ(scene.Join().requests[0].engine, 0u);
}

TEST(Join, AContradictionOfOneEngineIsOneOfAllThatShareItsRequests) {
  JoinScene scene;
  scene.table.workers[0] = {"", "", true, 2};
  Steps(scene.Engine(), {JoinScene::Of(1, 8, 0, 0), JoinScene::OfDecode(1)});
  Steps(scene.Engine(), {JoinScene::Of(1, 900, 0, 0), JoinScene::OfDecode(1)});
  scene.Answer(5, 8, {{19}, {29}});
  scene.Answer(5, 9, {{19}, {29}});
  const RequestJoin join = scene.Join();
  EXPECT_THAT(join.engine_why, Each(JoinWhy::kContradiction));
  EXPECT_EQ(join.tied, 0u);
}

}  // namespace
}  // namespace tacho
