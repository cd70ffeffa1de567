#include "simulate/known/known_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "simulate/known/step_parts.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

KnownRunOptions Small(const std::string& change = {}, int64_t ranks = 2) {
  KnownRunOptions options;
  options.steps = 60;
  options.ranks = ranks;
  if (!change.empty()) options.changes = {*ParseChange(change)};
  return options;
}

// The parts of one phase, with the change and without it.
struct Pair {
  PhaseParts with, without;
  // The difference per step, in ns.
  double Difference(int64_t PhaseParts::*part) const {
    return static_cast<double>(with.*part) / static_cast<double>(with.steps) -
           static_cast<double>(without.*part) / static_cast<double>(without.steps);
  }
};
Pair PairOf(const KnownRunOptions& options, const std::string& phase = "decode", size_t rank = 0) {
  return {PartsOf(*MakeKnownRun(options))[rank].phases[phase],
          PartsOf(*WithoutChanges(options))[rank].phases[phase]};
}
std::set<std::string> NamesOf(const PhaseParts& parts) {
  std::set<std::string> names;
  for (const auto& [name, kernel] : parts.kernels) names.insert(name);
  return names;
}
const char* NameOfRole(KernelRole role) { return KernelOf(SimulatedEngine::kVllm, role).name; }

TEST(KnownRun, IsTheSameForTheSameOptions) {
  const KnownRun a = *MakeKnownRun(Small()), b = *MakeKnownRun(Small());
  EXPECT_EQ(KnownTrace(a, 1), KnownTrace(b, 1));
  KnownRunOptions other = Small();
  other.seed = 2;
  const KnownRun c = *MakeKnownRun(other);
  EXPECT_NE(KnownTrace(a, 1), KnownTrace(c, 1));
  ASSERT_EQ(a.recording.steps.size(), c.recording.steps.size());
  for (size_t i = 0; i < a.recording.steps.size(); ++i)
    EXPECT_EQ(a.recording.steps[i].load, c.recording.steps[i].load);
}

TEST(KnownRun, HasStepsOfAllPhasesAndOfManySizes) {
  const KnownRun run = *MakeKnownRun({});
  std::map<std::string, int> phases;
  std::set<int64_t> sizes;
  for (const RecordedStep& step : run.recording.steps) {
    ++phases[PhaseOf(step.load)];
    sizes.insert(step.load.generation.requests);
  }
  EXPECT_GE(phases["prefill"], 8);
  EXPECT_GE(phases["mixed"], 8);
  EXPECT_GE(phases["decode"], 200);
  EXPECT_EQ(phases["empty"], 0);
  EXPECT_GE(sizes.size(), 16U);
}

TEST(KnownRun, StepsFollowEachOtherAndTheirPartsAddUp) {
  for (const SimulatedEngine engine : {SimulatedEngine::kVllm, SimulatedEngine::kSglang}) {
    KnownRunOptions options = Small("fused@rope");
    options.engine = engine;
    for (const RankParts& rank : PartsOf(*MakeKnownRun(options))) {
      int64_t steps = 0;
      for (const auto& [phase, parts] : rank.phases) {
        EXPECT_EQ(parts.compute_ns + parts.exposed_comm_ns + parts.exposed_copy_ns + parts.idle_ns,
                  parts.step_ns);
        EXPECT_GT(parts.exposed_comm_ns, 0);
        steps += parts.steps;
      }
      EXPECT_EQ(steps, options.steps - 1);
    }
  }
}

TEST(KnownRun, WithoutAChangeThereIsNoDifference) {
  const KnownRun run = *MakeKnownRun(Small());
  const Json truth = Json::parse(KnownTruth(run, *WithoutChanges(Small())));
  EXPECT_EQ(truth["changes"].size(), 0U);
  for (const Json& rank : truth["parts"]) {
    for (const Json& phase : rank["phases"]) {
      EXPECT_EQ(phase["step_ns"]["difference"], 0.0);
      EXPECT_EQ(phase["step_ns"]["with"], phase["step_ns"]["without"]);
    }
  }
}

TEST(KnownRun, ASlowerKernelIsAllThatChanges) {
  for (const char* phase : {"decode", "mixed", "prefill"}) {
    const Pair pair = PairOf(Small("slower@attention:5%"), phase);
    for (const auto& [name, kernel] : pair.without.kernels) {
      const PhaseParts::Kernel& with = pair.with.kernels.at(name);
      EXPECT_EQ(with.count, kernel.count);
      const auto ratio = static_cast<double>(with.total_ns) / static_cast<double>(kernel.total_ns);
      if (name == NameOfRole(KernelRole::kAttention)) {
        EXPECT_NEAR(ratio, 1.05, 0.005);
      } else if (name != NameOfRole(KernelRole::kAllReduce) &&
                 name != NameOfRole(KernelRole::kAllReduceLarge)) {
        EXPECT_EQ(with.total_ns, kernel.total_ns) << name;
      }
    }
  }
}

// In the grouped products of one rank; the others only wait longer in collectives.
TEST(KnownRun, SlowExpertsAreOfOneRank) {
  for (const SimulatedEngine engine : {SimulatedEngine::kVllm, SimulatedEngine::kSglang}) {
    KnownRunOptions options = Small("slow-experts@1:233us", 4);
    options.engine = engine;
    options.model = "30b-a3b";
    const std::vector<RankParts> with = PartsOf(*MakeKnownRun(options)),
                                 without = PartsOf(*WithoutChanges(options));
    std::set<std::string> names;
    for (size_t rank = 0; rank < with.size(); ++rank) {
      for (const auto& [phase, parts] : with[rank].phases) {
        const PhaseParts& base = without[rank].phases.at(phase);
        const int64_t late = rank == 1 ? 233'000 / 32 * 32 * parts.steps : 0;
        EXPECT_EQ(parts.compute_ns - base.compute_ns, late);
        EXPECT_EQ(parts.kernels.at("fused_moe_kernel").total_ns -
                      base.kernels.at("fused_moe_kernel").total_ns,
                  late);
        EXPECT_EQ(parts.comm_ns > base.comm_ns, rank != 1);
      }
      names.merge(NamesOf(with[rank].phases.at("decode")));
    }
    const bool sends = engine == SimulatedEngine::kSglang;
    EXPECT_EQ(names.contains(KernelOf(engine, KernelRole::kDispatch).name), sends);
    EXPECT_EQ(names.contains(KernelOf(engine, KernelRole::kCombine).name), sends);
  }
}

TEST(KnownRun, AFusedKernelTakesThePlaceOfTwo) {
  const Pair pair = PairOf(Small("fused@rope"));
  std::set<std::string> expected = NamesOf(pair.without);
  EXPECT_EQ(expected.erase(NameOfRole(KernelRole::kRope)), 1U);
  EXPECT_EQ(expected.erase(NameOfRole(KernelRole::kCacheWrite)), 1U);
  expected.insert(NameOfRole(KernelRole::kRopeAndCacheWrite));
  EXPECT_EQ(NamesOf(pair.with), expected);
  EXPECT_LT(pair.Difference(&PhaseParts::compute_ns), 0);
  // All other kernels keep their draws of the noise.
  const char* norm = NameOfRole(KernelRole::kNorm);
  EXPECT_EQ(pair.with.kernels.at(norm).total_ns, pair.without.kernels.at(norm).total_ns);
  const Pair prefill = PairOf(Small("fused@rope"), "prefill");
  EXPECT_EQ(prefill.Difference(&PhaseParts::launches), -4);  // one launch fewer per layer
}

TEST(KnownRun, ARenamedKernelCostsNothing) {
  const Pair pair = PairOf(Small("renamed@attention"));
  for (const auto part : {&PhaseParts::step_ns, &PhaseParts::idle_ns, &PhaseParts::compute_ns})
    EXPECT_EQ(pair.with.*part, pair.without.*part);
  EXPECT_FALSE(pair.with.kernels.contains(NameOfRole(KernelRole::kAttention)));
  EXPECT_EQ(pair.with.kernels.at(NameOfRole(KernelRole::kAttentionTriton)).total_ns,
            pair.without.kernels.at(NameOfRole(KernelRole::kAttention)).total_ns);
}

TEST(KnownRun, AKernelIsCalledMoreOften) {
  const Pair pair = PairOf(Small("more@activation:2"));
  const char* name = NameOfRole(KernelRole::kActivation);
  EXPECT_EQ(pair.with.kernels.at(name).count, pair.without.kernels.at(name).count * 3);
  EXPECT_EQ(pair.with.kernels.at(name).total_ns, pair.without.kernels.at(name).total_ns * 3);
}

// On one rank, a delay of the host becomes idle time and nothing else, to the nanosecond.
TEST(KnownRun, ALateHostIsIdleTime) {
  for (const char* change : {"host-late:200us", "scheduler-late:200us"}) {
    for (const char* phase : {"decode", "mixed", "prefill"}) {
      const Pair pair = PairOf(Small(change, 1), phase);
      ASSERT_GT(pair.with.steps, 0);
      EXPECT_EQ(pair.with.compute_ns, pair.without.compute_ns);
      EXPECT_EQ(pair.with.exposed_copy_ns, pair.without.exposed_copy_ns);
      EXPECT_EQ(pair.with.step_ns - pair.without.step_ns, pair.with.steps * 200'000);
      EXPECT_EQ(pair.with.idle_ns - pair.without.idle_ns, pair.with.steps * 200'000);
    }
  }
}

TEST(KnownRun, OthersWaitForALateRankInTheirCollectives) {
  const auto difference = [](size_t rank, int64_t PhaseParts::*part) {
    return PairOf(Small("late-rank@1:300us"), "decode", rank).Difference(part);
  };
  EXPECT_NEAR(difference(0, &PhaseParts::step_ns), 300'000, 60'000);
  EXPECT_NEAR(difference(0, &PhaseParts::exposed_comm_ns), 300'000, 60'000);
  EXPECT_NEAR(difference(0, &PhaseParts::idle_ns), 0, 20'000);
  EXPECT_NEAR(difference(1, &PhaseParts::exposed_comm_ns), 0, 60'000);
  EXPECT_NEAR(difference(1, &PhaseParts::idle_ns), 300'000, 60'000);
}

TEST(KnownRun, SlowerCommunicationIsExposed) {
  const Pair pair = PairOf(Small("comm-slower:50%"));
  EXPECT_GT(pair.Difference(&PhaseParts::exposed_comm_ns), 10'000);
  EXPECT_EQ(pair.with.compute_ns, pair.without.compute_ns);
  EXPECT_EQ(PairOf(Small("comm-slower:50%", 1)).Difference(&PhaseParts::step_ns), 0);
}

TEST(KnownRun, EagerStepsLaunchEachKernel) {
  const Pair pair = PairOf(Small("eager", 1));
  EXPECT_EQ(pair.with.compute_ns, pair.without.compute_ns);
  EXPECT_EQ(pair.Difference(&PhaseParts::launches), 4 * 10 + 2 - 1);
  EXPECT_GT(pair.Difference(&PhaseParts::idle_ns), 0);
}

TEST(KnownRun, OtherModelsAndLoadsAreOtherRuns) {
  const KnownRun base = *MakeKnownRun(Small());
  const auto tokens = [](const KnownRun& run, StepLoad::Part StepLoad::*part) {
    int64_t sum = 0;
    for (const RecordedStep& step : run.recording.steps) sum += (step.load.*part).tokens;
    return sum;
  };
  EXPECT_GT(tokens(*MakeKnownRun(Small("requests:64")), &StepLoad::generation),
            tokens(base, &StepLoad::generation) * 3 / 2);
  EXPECT_GT(tokens(*MakeKnownRun(Small("prompts:2000")), &StepLoad::context),
            tokens(base, &StepLoad::context) * 3);
  for (const char* change : {"model:32b", "layers:5"}) {
    const KnownRun other = *MakeKnownRun(Small(change));
    EXPECT_EQ(base.recording.steps[9].load, other.recording.steps[9].load) << change;
    EXPECT_GT(PairOf(Small(change)).Difference(&PhaseParts::step_ns), 0) << change;
  }
  const Json truth = Json::parse(KnownTruth(*MakeKnownRun(Small("layers:5")), base));
  EXPECT_EQ(truth["changes"][0]["change"], "layers:5");
  EXPECT_EQ(truth["changes"][0]["whole_run"], true);
}

// On average over many seeds each step takes as long as without this noise, but the seeds differ.
TEST(KnownRun, ARunHasAShiftOfItsOwn) {
  const auto kernels_ns = [](uint64_t seed, double run) {
    KnownRunOptions options = Small({}, 1);
    options.noise = {.step = 0, .run = run, .stalls = 0};
    options.seed = seed;
    return static_cast<double>(PartsOf(*MakeKnownRun(options))[0].phases["decode"].compute_ns);
  };
  double sum = 0, squares = 0;
  constexpr int kSeeds = 60;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const double shift = kernels_ns(seed, 0.02) / kernels_ns(seed, 0) - 1;
    sum += shift;
    squares += shift * shift;
  }
  EXPECT_NEAR(sum / kSeeds, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kSeeds), 0.02, 0.006);
}

TEST(KnownRun, WhatItCannotBeIsRefused) {
  for (const char* change :
       {"", "nonsense", "slower", "slower@nothing", "slower@attention:x", "slower@attention:-95%",
        "fused@qkv", "renamed@norm", "host-late:-5us", "host-late:1m", "late-rank", "layers:0",
        "model:nothing", "eager:5", "eager@rope", "more@norm:1000", "requests:-1"}) {
    const auto parsed = ParseChange(change);
    ASSERT_FALSE(parsed) << change;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
  }
  EXPECT_FALSE(MakeKnownRun(Small("late-rank@2")));
  EXPECT_FALSE(MakeKnownRun(Small("slow-experts@1")));  // of a dense model
  for (const auto number : {&KnownRunOptions::ranks, &KnownRunOptions::steps}) {
    KnownRunOptions options;
    options.*number = 0;
    EXPECT_FALSE(MakeKnownRun(options));
    options.*number = 1'000'000'000;
    EXPECT_FALSE(MakeKnownRun(options));
  }
}

TEST(Change, IsWrittenAsItIsRead) {
  for (const ChangeRow& row : ChangeRows()) {
    std::string text(row.name);
    if (row.where == "KERNEL") text += row.kind == ChangeKind::kRenamed ? "@attention" : "@rope";
    if (row.where == "RANK") text += "@1";
    const auto change = ParseChange(text);
    ASSERT_TRUE(change) << change.error().message;
    EXPECT_EQ(TextOf(*ParseChange(TextOf(*change))), TextOf(*change));
  }
  EXPECT_EQ(TextOf(*ParseChange("slower@gate-up:-2.5")), "slower@gate-up:-2.5%");
}

}  // namespace
}  // namespace tacho::simulate
