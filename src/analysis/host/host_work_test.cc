#include "analysis/host/host_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/device/device_time.h"
#include "analysis/device/kernels.h"
#include "analysis/host/ops.h"
#include "analysis/scope_for_test.h"
#include "base/interval_set.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

void Op(TraceBuilder& builder, std::string_view name, int64_t start, int64_t end) {
  builder.Host("cpu_op", name, {.start = start, .duration = end - start});
}

struct Analysed {
  explicit Analysed(TraceBuilder builder, const Scope& scope = {},
                    const Classifier& rules = BuiltInRules())
      : trace(std::move(builder).Finish()),
        index(trace),
        work(CollectDeviceWork(index, rules, scope)),
        kernels(TabulateKernels(trace, work, rules, scope)),
        times(DecomposeDeviceTime(work, scope)) {}

  // Calls and time for each category.
  [[nodiscard]] std::map<std::string, std::pair<uint64_t, int64_t>> Categories() const {
    std::map<std::string, std::pair<uint64_t, int64_t>> found;
    for (const CategoryRow& row : kernels.categories)
      found[row.category] = {row.count, row.total.ns};
    return found;
  }

  Trace trace;
  TrackIndex index;
  DeviceWork work;
  KernelTable kernels;
  std::vector<DeviceTime> times;
};

//   addmm  |=|   |=|   |==============================|
//   expand   |---|
//   copy_            |-|
TEST(HostWork, WhatAnOperatorDoesBetweenOthersIsItsOwn) {
  TraceBuilder builder;
  for (int64_t at = 0; at < 1100; at += 110) {
    Op(builder, "aten::addmm", at, at + 100);
    Op(builder, "aten::expand", at + 1, at + 2);
    Op(builder, "aten::copy_", at + 3, at + 5);
  }
  const Analysed of(std::move(builder));
  EXPECT_THAT(of.Categories(),
              ElementsAre(Pair("bookkeeping.view", Pair(10, 10)), Pair("gemm.dense", Pair(10, 970)),
                          Pair("memory.copy", Pair(10, 20))));
  EXPECT_EQ(of.times[0].window.length().ns, 1090);
  EXPECT_EQ(of.times[0].busy.ns, 1000);
  EXPECT_EQ(of.times[0].gaps.count, 9u);
  EXPECT_EQ(of.times[0].gpu_events, 30u);
  EXPECT_EQ(of.kernels.rows[0].stats.min.ns, 97) << "an operator has one time, of all stretches";
  EXPECT_EQ(of.kernels.rows[0].stats.max.ns, 97);
}

TEST(HostWork, WrappersOnlyCall) {
  TraceBuilder builder;
  Op(builder, "vllm::unified_attention_with_output", 0, 100);
  Op(builder, "aten::view", 5, 10);
  Op(builder, "_C::cpu_attention_with_kv_cache", 20, 60);
  Op(builder, "aten::linear", 100, 200);
  Op(builder, "aten::addmm", 110, 190);
  Op(builder, "model.layers.0", 200, 300);  // a user's range, whatever its name sounds like
  Op(builder, "layer_norm and linear", 200, 290);
  Op(builder, "aten::mm", 210, 250);
  const Analysed of(std::move(builder));
  EXPECT_THAT(of.Categories(), UnorderedElementsAre(Pair("bookkeeping.view", Pair(1, 5)),
                                                    Pair("attention.core", Pair(1, 40)),
                                                    Pair("gemm.dense", Pair(2, 120))));
  EXPECT_EQ(of.times[0].busy.ns, 165);
}

TEST(HostWork, AWrapperInWhichNoOtherWorksDidTheWork) {
  TraceBuilder builder;
  Op(builder, "aten::linear", 0, 100);
  Op(builder, "aten::t", 10, 20);
  Op(builder, "aten::linear", 100, 200);
  const Analysed of(std::move(builder));
  EXPECT_THAT(of.Categories(), UnorderedElementsAre(Pair("bookkeeping.view", Pair(1, 10)),
                                                    Pair("gemm.dense", Pair(2, 190))));
}

TEST(HostWork, WhatNoRuleKnowsIsWorkInTheOpen) {
  const auto add = [](TraceBuilder& builder) {
    Op(builder, "mine::block", 0, 100);
    Op(builder, "aten::mm", 10, 40);
  };
  TraceBuilder unknown, known, wrapper;
  for (TraceBuilder* builder : {&unknown, &known, &wrapper}) add(*builder);
  const Analysed of_unknown(std::move(unknown));
  EXPECT_THAT(of_unknown.Categories(), UnorderedElementsAre(Pair("unclassified", Pair(1, 70)),
                                                            Pair("gemm.dense", Pair(1, 30))));
  EXPECT_DOUBLE_EQ(of_unknown.kernels.coverage, 0.3);

  // The user's own rules decide what an operator is, even against the built-in ones.
  const auto mine = Classifier::Create("wrapper op ^mine::block$\n");
  ASSERT_TRUE(mine.has_value());
  EXPECT_THAT(Analysed(std::move(known), {}, *mine).Categories(),
              ElementsAre(Pair("gemm.dense", Pair(1, 30))));
  const auto ours = Classifier::Create("mine op ^mine:: | ^aten::mm$\n");
  ASSERT_TRUE(ours.has_value());
  EXPECT_THAT(Analysed(std::move(wrapper), {}, *ours).Categories(),
              ElementsAre(Pair("mine", Pair(2, 100))));
}

TEST(HostWork, AUsersRuleTakesAnOperatorOutOfTheWrappers) {
  TraceBuilder builder;
  Op(builder, "aten::linear", 0, 100);
  Op(builder, "aten::copy_", 10, 40);
  const auto mine = Classifier::Create("gemm.mine op ^aten::linear$\n");
  ASSERT_TRUE(mine.has_value());
  EXPECT_THAT(
      Analysed(std::move(builder), {}, *mine).Categories(),
      UnorderedElementsAre(Pair("gemm.mine", Pair(1, 70)), Pair("memory.copy", Pair(1, 30))));
}

TEST(HostWork, AWindowCountsOperatorsThatStartInIt) {
  const auto make = [] {
    TraceBuilder builder;
    Op(builder, "aten::addmm", 0, 100);  // 70 of its own, 40 of them in the window
    Op(builder, "aten::copy_", 20, 50);
    Op(builder, "aten::addmm", 100, 200);  // 60 of its own, 10 of them in the window
    Op(builder, "aten::copy_", 100, 140);
    return builder;
  };
  const Analysed of(make(), WindowScope(60, 150));
  EXPECT_THAT(of.Categories(), UnorderedElementsAre(Pair("gemm.dense", Pair(1, 60)),
                                                    Pair("memory.copy", Pair(1, 40))));
  EXPECT_EQ(of.times[0].busy.ns, 90);
  EXPECT_EQ(of.times[0].gpu_events, 2u);
  const std::vector<CategoryRow>& parts = of.times[0].streams[0].categories;
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].total.ns + parts[1].total.ns, 90);
}

TEST(HostWork, StepsOfOldFilesAreNoOperators) {
  TraceBuilder builder;
  Op(builder, "ProfilerStep#3", 0, 100);
  Op(builder, "aten::mm", 10, 40);
  const Analysed of(std::move(builder));
  EXPECT_THAT(of.Categories(), ElementsAre(Pair("gemm.dense", Pair(1, 30))));
}

TEST(HostWork, OperatorsOfNoLengthCount) {
  TraceBuilder builder;
  Op(builder, "aten::addmm", 0, 30);
  Op(builder, "aten::copy_", 0, 30);
  Op(builder, "aten::add", 40, 40);
  const Analysed of(std::move(builder));
  EXPECT_THAT(of.Categories(),
              UnorderedElementsAre(Pair("gemm.dense", Pair(1, 0)), Pair("memory.copy", Pair(1, 30)),
                                   Pair("elementwise", Pair(1, 0))));
}

// In any tree of computing operators each instant belongs to one operator, and each operator gets
// the self time that the table of operators shows.
TEST(HostWork, OwnTimesAddUp) {
  std::mt19937 random(7);
  const char* const names[] = {"aten::addmm", "aten::copy_", "aten::view", "mine::op", "aten::mm"};
  for (int round = 0; round < 50; ++round) {
    TraceBuilder builder;
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    const auto add = [&](const auto& again, int64_t start, int64_t end, int depth) -> void {
      Op(builder, names[below(5)], start, end);
      for (int64_t at = start + below(5); depth > 0 && at < end;) {
        const int64_t to = std::min(end, at + 1 + below(20));
        again(again, at, to, depth - 1);
        at = to + below(6);
      }
    };
    std::vector<Interval> tops;
    for (int64_t at = 0; at < 500;) {
      const int64_t to = at + 10 + below(80);
      add(add, at, to, 3);
      tops.push_back({TimeNs{at}, TimeNs{to}});
      at = to + below(10);
    }
    const Analysed of(std::move(builder));
    DurationNs covered;
    for (const Interval& top : tops) covered += top.length();
    EXPECT_EQ(of.times[0].busy, covered);
    EXPECT_EQ(of.kernels.total, covered);
    EXPECT_EQ(of.times[0].streams[0].overlaps, 0u);
    std::map<std::string, std::pair<uint64_t, int64_t>> rows, self;
    for (const KernelRow& row : of.kernels.rows)
      rows[row.name] = {row.stats.count, row.stats.total.ns};
    for (const OpRow& row : TabulateOps(of.index, LinkLaunches(of.trace)).rows)
      self[row.name] = {row.count, row.cpu_self.ns};
    EXPECT_EQ(rows, self);
  }
}

}  // namespace
}  // namespace tacho
