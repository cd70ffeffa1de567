#include "analysis/requests/request_parts.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tacho {
namespace {

using Part = RequestPart;

// An engine that is planned by hand: each step works for `work`, 100 ns after the one before, which
// are idle between steps.
struct HandMadeEngine {
  std::vector<DigestStep> steps;
  StepCells cells;
  TimeNs end{1'000};

  HandMadeEngine() { cells.cells.reserve(200); }
  void Add(StepLabel label, int64_t work, StepCell of = {}, int64_t before = 100) {
    const bool first = steps.empty();
    const Interval when{end + DurationNs{first ? 0 : before},
                        end + DurationNs{(first ? 0 : before) + work}};
    steps.push_back({.label = label,
                     .when = when,
                     .device = when,
                     .device_busy = when.length(),
                     .host_late = {}});
    cells.steps.push_back({when, true});
    StepCell pause;
    pause.idle[static_cast<size_t>(IdleCause::kBetweenSteps)] = {first ? 0 : before};
    cells.cells.push_back(pause);
    cells.cells.push_back(of);
    end = when.end;
  }
};
StepLabel DecodeOf(int64_t requests) { return {Phase::kDecode, 0, 0, requests, requests}; }
StepLabel MixedOf(int64_t prompts, int64_t requests) {
  return {Phase::kMixed, prompts, prompts * 100, requests, requests};
}
StepLabel PrefillOf(int64_t prompts) { return {Phase::kPrefill, prompts, prompts * 100, 0, 0}; }
StepCell Comm(int64_t comm, int64_t host) {
  StepCell cell;
  cell.comm = {comm};
  cell.idle[static_cast<size_t>(IdleCause::kHostLate)] = {host};
  return cell;
}

TEST(RequestParts, AreThoseOfTheStepsThatItWasIn) {
  HandMadeEngine engine;
  engine.Add(PrefillOf(1), 900);               // [1000, 1900)
  engine.Add(DecodeOf(1), 500, Comm(50, 30));  // [2000, 2500)
  engine.Add(MixedOf(1, 1), 1'200);            // [2600, 3800)
  const RequestSplitter split(engine.steps, engine.cells, DurationNs{10});
  const RequestTimes times{{600}, {700}, {{{1'950}, 1}, {{2'530}, 1}, {{3'840}, 1}}};
  const RequestFit fit(0, {0, 1, 2});
  const RequestParts whole = split.UntilChunk(times, fit, 2);
  EXPECT_EQ(whole[Part::kClient].ns, 100);
  EXPECT_EQ(whole[Part::kQueue].ns, 300);
  EXPECT_EQ(whole[Part::kPrefill].ns, 900);
  EXPECT_EQ(whole[Part::kWaitPrefill].ns, 700);  // beyond the 500 of the decode step
  EXPECT_EQ(whole[Part::kDecode].ns, 420 + 500);
  EXPECT_EQ(whole[Part::kComm].ns, 50);
  EXPECT_EQ(whole[Part::kHost].ns, 30);
  EXPECT_EQ(whole[Part::kBetweenSteps].ns, 200);
  EXPECT_EQ(whole[Part::kSend].ns, 40);
  EXPECT_EQ(whole.Sum().ns, 3'240);
  const RequestParts first = split.UntilChunk(times, fit, 0);
  EXPECT_EQ(first[Part::kSend].ns, 50);
  EXPECT_EQ(first.Sum().ns, 1'350);
  // 50 of the time before the step had passed when the client had the token before.
  const RequestParts gap = split.Gap(times, fit, 1);
  EXPECT_EQ(gap[Part::kBetweenSteps].ns, 50);
  EXPECT_EQ(gap[Part::kSend].ns, 30);
  EXPECT_EQ(gap.Sum().ns, 580);
}

TEST(RequestParts, TheNetworkIsWhatEachRequestTakesAtLeast) {
  HandMadeEngine engine;
  engine.Add(PrefillOf(1), 900);
  engine.Add(PrefillOf(1), 900);  // [2000, 2900)
  RequestSplitter split(engine.steps, engine.cells, DurationNs{10});
  split.AddFirstStep({880}, 0);
  split.AddFirstStep({1'100}, 1);
  const RequestParts queued =
      split.UntilChunk({{1'100}, {1'100}, {{{2'950}, 1}}}, {1, std::vector<uint32_t>{1}}, 0);
  EXPECT_EQ(queued[Part::kNetwork].ns, 120);
  EXPECT_EQ(queued[Part::kQueue].ns, 780);
  // Less than the error of the clocks is not claimed.
  RequestSplitter unsure(engine.steps, engine.cells, DurationNs{500});
  unsure.AddFirstStep({880}, 0);
  const RequestParts parts =
      unsure.UntilChunk({{1'100}, {1'100}, {{{2'950}, 1}}}, {1, std::vector<uint32_t>{1}}, 0);
  EXPECT_EQ(parts[Part::kNetwork].ns, 0);
  EXPECT_EQ(parts[Part::kUnknown].ns, 120 + 50);
  EXPECT_EQ(parts[Part::kQueue].ns, 780);
}

TEST(RequestParts, StepsOfOthersAreAWaitOrAPreemption) {
  HandMadeEngine engine;
  engine.Add(PrefillOf(1), 900);
  engine.Add(PrefillOf(1), 800, Comm(10, 10));
  engine.Add(DecodeOf(1), 500);
  engine.Add(DecodeOf(1), 500);
  const RequestSplitter split(engine.steps, engine.cells, {});
  const RequestTimes times{{900}, {900}, {{{1'900}, 1}, {{4'100}, 1}}};
  const RequestParts gap = split.Gap(times, {0, {0, 3}}, 1);
  EXPECT_EQ(gap[Part::kWaitPrefill].ns, 900);  // with the pause before it
  EXPECT_EQ(gap[Part::kPreempted].ns, 600);
  EXPECT_EQ(gap[Part::kDecode].ns, 500);
  EXPECT_EQ(gap[Part::kBetweenSteps].ns, 100);
  EXPECT_EQ(gap.Sum().ns, 2'200);
}

TEST(RequestParts, WithoutADecodeStepOfAboutThatBatchTheWaitIsUnknown) {
  HandMadeEngine engine;
  engine.Add(PrefillOf(1), 900);
  engine.Add(MixedOf(1, 8), 1'000);
  engine.Add(DecodeOf(2), 400);
  const RequestSplitter split(engine.steps, engine.cells, {});
  EXPECT_EQ(split.DecodeStep(8), std::nullopt);
  EXPECT_EQ(split.DecodeStep(4), DurationNs{400});
  EXPECT_EQ(split.DecodeStep(1), DurationNs{400});
  EXPECT_EQ(split.OfStep(1, RequestSplitter::Role::kMakesToken)[Part::kUnknown].ns, 1'000);
}

TEST(RequestParts, WhatFitsDoNotShareIsUnknown) {
  RequestParts a, b;
  a[Part::kQueue] = {500};
  a[Part::kPrefill] = {300};
  b[Part::kQueue] = {200};
  b[Part::kPrefill] = {600};
  const RequestParts common = CommonOf(std::vector{a, b});
  EXPECT_EQ(common[Part::kQueue].ns, 200);
  EXPECT_EQ(common[Part::kPrefill].ns, 300);
  EXPECT_EQ(common[Part::kUnknown].ns, 300);
}

TEST(RequestParts, WhatIsBeforeTheRecordingIsUnknown) {
  HandMadeEngine engine;
  engine.Add(DecodeOf(1), 500);  // [1000, 1500)
  engine.Add(DecodeOf(1), 500);  // [1600, 2100)
  const RequestSplitter split(engine.steps, engine.cells, {});
  const RequestTimes times{{100}, {200}, {{{800}, 1}, {{1'550}, 1}, {{2'150}, 1}, {{2'900}, 1}}};
  const RequestFit fit(RequestFit::kNoStep, {RequestFit::kNoStep, 0, 1, RequestFit::kNoStep});
  const RequestParts parts = split.UntilChunk(times, fit, 3);
  EXPECT_EQ(parts[Part::kClient].ns, 100);
  EXPECT_EQ(parts[Part::kUnknown].ns, 800 + 800);
  EXPECT_EQ(split.Outside(times, fit).ns, 800 + 800);
  EXPECT_EQ(split.Outside(times, {0, {0, 0, 1, 1}}).ns, 0) << "it queued before the first step";
  EXPECT_EQ(parts[Part::kDecode].ns, 1'000);
  EXPECT_EQ(parts[Part::kBetweenSteps].ns, 100);
  EXPECT_EQ(split.Gap(times, fit, 2)[Part::kSend].ns, 50);
  EXPECT_EQ(split.Gap(times, fit, 3)[Part::kUnknown].ns, 750);
}

TEST(RequestParts, OfAStepThatMayBeItsOwnOnlyTheCommonPartIsKnown) {
  HandMadeEngine engine;
  engine.Add(DecodeOf(1), 500);
  engine.Add(MixedOf(1, 1), 900);
  engine.Add(DecodeOf(1), 500);
  const RequestSplitter split(engine.steps, engine.cells, {});
  const RequestTimes times{{900}, {900}, {{{1'500}, 1}, {{3'100}, 1}}};
  // It waits for the prompt for 400 if that step is its own, else for all of it.
  const RequestParts gap = split.Gap(times, RequestFit(0, {0, 2}, {1}), 1);
  EXPECT_EQ(gap[Part::kWaitPrefill].ns, 400);
  EXPECT_EQ(gap[Part::kUnknown].ns, 500 + 100);
}

TEST(RequestParts, ScaledPartsAddUpExactly) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    RequestParts parts;
    for (DurationNs& part : parts.ns)
      part = {random.Between(0, 1) * random.Between(0, 1'000'000'000)};
    const DurationNs sum{random.Between(0, std::max<int64_t>(1, parts.Sum().ns))};
    const RequestParts scaled = parts.ScaledTo(sum);
    EXPECT_EQ(scaled.Sum(), std::min(sum, parts.Sum()));
    for (size_t i = 0; i < kRequestParts; ++i) {
      EXPECT_GE(scaled.ns[i].ns, 0);
      EXPECT_LE(scaled.ns[i], parts.ns[i] + DurationNs{1});
    }
  }
}

TEST(RequestParts, TimesThatCannotBeAreSeen) {
  HandMadeEngine engine;
  engine.Add(PrefillOf(1), 900);  // [1000, 1900)
  const RequestSplitter split(engine.steps, engine.cells, DurationNs{100});
  EXPECT_FALSE(split.Contradicts({{900}, {900}, {{{1'850}, 1}}}, {0, std::vector<uint32_t>{0}}));
  EXPECT_TRUE(split.Contradicts({{900}, {900}, {{{1'790}, 1}}}, {0, std::vector<uint32_t>{0}}));
  EXPECT_TRUE(split.Contradicts({{1'200}, {1'200}, {{{1'950}, 1}}}, {0, std::vector<uint32_t>{0}}));
}

// Whatever the times and the steps are, the parts add up and none is negative.
TEST(RequestParts, AddUpForRandomRequestsAndEngines) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    HandMadeEngine engine;
    const int64_t steps = random.Between(2, 30);
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t kind = random.Between(0, 2), work = random.Between(0, 1'000);
      engine.Add(kind == 0   ? DecodeOf(random.Between(1, 9))
                 : kind == 1 ? MixedOf(random.Between(-1, 3), random.Between(1, 9))
                             : PrefillOf(random.Between(1, 3)),
                 work, Comm(work / 3, work / 5), random.Between(0, 300));
      engine.cells.steps.back().known = random.Between(0, 9) > 0;
    }
    if (random.Between(0, 4) == 0) engine.cells.cells.clear();
    RequestSplitter split(engine.steps, engine.cells, DurationNs{random.Between(0, 200)});
    for (int64_t i = random.Between(0, 3); i > 0; --i) {
      split.AddFirstStep({random.Between(0, 5'000)},
                         static_cast<uint32_t>(random.Between(0, steps - 1)));
    }
    RequestTimes times;
    int64_t step = random.Between(0, steps - 1), at = random.Between(0, 3'000);
    const auto first_read = static_cast<uint32_t>(random.Between(0, step));
    std::vector<uint32_t> made_by, unsure;
    times.due = {at};
    times.sent = {at += random.Between(0, 500)};
    for (int64_t i = random.Between(1, 10); i > 0; --i) {
      at += random.Between(0, 2'000);
      times.chunks.push_back({{at}, static_cast<uint32_t>(random.Between(1, 2))});
      for (uint32_t t = 0; t < times.chunks.back().tokens; ++t) {
        const bool known = random.Between(0, 9) > 0;
        made_by.push_back(known ? static_cast<uint32_t>(step) : RequestFit::kNoStep);
        if (random.Between(0, 5) == 0) unsure.push_back(static_cast<uint32_t>(step));
        step = std::min(steps - 1, step + random.Between(0, 2));
      }
    }
    const bool begins = made_by.front() != RequestFit::kNoStep;
    const RequestFit fit(begins ? first_read : RequestFit::kNoStep, made_by, unsure);
    const auto check = [&](const RequestParts& parts, DurationNs sum) {
      EXPECT_EQ(parts.Sum(), sum) << seed;
      for (const DurationNs part : parts.ns) EXPECT_GE(part.ns, 0) << seed;
    };
    for (size_t i = 0; i < times.chunks.size(); ++i) {
      check(split.UntilChunk(times, fit, i), times.chunks[i].seen - times.due);
      if (i > 0) check(split.Gap(times, fit, i), times.chunks[i].seen - times.chunks[i - 1].seen);
    }
  }
}

}  // namespace
}  // namespace tacho
