#include "view/slice_detail.h"

#include <gtest/gtest.h>

#include "view/viewed_for_test.h"

namespace tacho {
namespace {

// A step with a graph launch that runs two kernels on the GPU. All times start at 1000.
Trace LaunchedStep() {
  TraceBuilder builder;
  builder.Host("user_annotation", "execute_context_0(0)_generation_1(3)",
               {.start = 1000, .duration = 500});
  builder.Host("cpu_op", "aten::mm",
               {.start = 1010,
                .duration = 100,
                .args = {{"Input Dims", "[[1, 2]]"}, {"note", R"("a\"b")"}}});
  builder.Host("cuda_runtime", "cudaGraphLaunch",
               {.start = 1020, .duration = 30, .correlation = 5});
  builder.Host("cpu_op", "aten::empty", {.start = 1060, .duration = 10});
  builder.Kernel("void first<int>(int)", {.start = 1100, .duration = 50, .correlation = 5});
  builder.Kernel("second", {.start = 1040, .duration = 20, .correlation = 5});
  builder.Memcpy("Memcpy HtoD", {.stream = "9", .start = 1400, .duration = 50, .correlation = 77});
  return std::move(builder).Finish();
}

TEST(DetailOf, TheInnermostOfADeepStack) {
  TraceBuilder builder;
  constexpr int64_t kDepth = 1200;
  for (int64_t i = 0; i < kDepth; ++i) {
    builder.Host("python_function", "f" + std::to_string(i),
                 {.start = i, .duration = 2 * (kDepth - i)});
  }
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  const auto deepest = DetailOf(ranks, Named(ranks, "f1199").at);
  ASSERT_TRUE(deepest);
  ASSERT_EQ(deepest->stack.size(), SliceDetail::kMostStack);
  EXPECT_EQ(deepest->stack.front().name, "f199");
  EXPECT_EQ(deepest->stack.back().name, "f1198");
}

TEST(DetailOf, AKernelOfAGraphHasTheNameOfItsNode) {
  TraceBuilder builder;
  builder.Kernel(
      "gemm",
      {.start = 0, .duration = 5, .args = {{"graph node id", "5"}, {"name", R"("layers.0.qkv")"}}});
  builder.Kernel("norm", {.start = 10, .duration = 5, .args = {{"name", R"("no node")"}}});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  EXPECT_EQ(DetailOf(ranks, Named(ranks, "gemm").at)->annotation, "layers.0.qkv");
  EXPECT_EQ(DetailOf(ranks, Named(ranks, "norm").at)->annotation, "");
}

TEST(DetailOf, AnOperatorWithWhatIsAroundAndInside) {
  const ReadRanks ranks = RanksOf(LaunchedStep());
  const auto op = DetailOf(ranks, Named(ranks, "aten::mm").at);
  ASSERT_TRUE(op);
  EXPECT_EQ(op->kind, DrawnKind::kOperator);
  EXPECT_EQ(op->category, "cpu_op");
  EXPECT_EQ(op->slice.when, (Interval{{10}, {110}}));
  EXPECT_EQ(op->self->ns, 60);
  ASSERT_EQ(op->stack.size(), 1u);
  EXPECT_EQ(op->stack[0].name, "execute_context_0(0)_generation_1(3)");
  ASSERT_EQ(op->arguments.size(), 2u);
  EXPECT_EQ(op->arguments[0].key, "Input Dims");
  EXPECT_EQ(op->arguments[0].value, "[[1, 2]]");
  EXPECT_EQ(op->arguments[1].value, "a\"b");
  ASSERT_TRUE(op->step);
  EXPECT_EQ(op->step->number, 1u);
  EXPECT_EQ(op->step->phase, Phase::kDecode);
  EXPECT_EQ(op->step->slice.at, (SlicePlace{0, 0, 0, 0}));
}

TEST(DetailOf, AKernelAndTheCallThatLaunchedIt) {
  const ReadRanks ranks = RanksOf(LaunchedStep());
  const PlacedSlice first = Named(ranks, "void first<int>(int)"), second = Named(ranks, "second");
  const auto kernel = DetailOf(ranks, first.at);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->kind, DrawnKind::kKernel);
  EXPECT_EQ(kernel->category, "unclassified");
  EXPECT_EQ(kernel->name, "void first<int>(int)");
  EXPECT_EQ(kernel->slice.name, "first<int>");
  ASSERT_TRUE(kernel->launch);
  EXPECT_EQ(kernel->launch->call.name, "cudaGraphLaunch");
  EXPECT_EQ(kernel->launch->delay->ns, 50);
  EXPECT_FALSE(kernel->self);
  EXPECT_TRUE(kernel->step);
  EXPECT_EQ(DetailOf(ranks, second.at)->launch->delay->ns, 0);

  const auto call = DetailOf(ranks, kernel->launch->call.at);
  EXPECT_EQ(call->kind, DrawnKind::kCall);
  EXPECT_EQ(call->launched_count, 2u);
  ASSERT_EQ(call->launched.size(), 2u);
  EXPECT_EQ(call->launched[0].at, second.at);
  EXPECT_EQ(call->launched[1].at, first.at);
  EXPECT_EQ(call->stack.size(), 2u);

  const auto copy = DetailOf(ranks, Named(ranks, "Memcpy HtoD").at);
  EXPECT_EQ(copy->kind, DrawnKind::kCopy);
  EXPECT_FALSE(copy->launch);
  EXPECT_FALSE(copy->step);
}

// The device's clock is behind: the launch call is known, but the delay is not.
TEST(DetailOf, WithoutACommonClockALaunchHasNoDelay) {
  const auto all = [](int64_t) { return true; };
  const ReadRanks off = RanksOf(Launched(all, -5'000)), right = RanksOf(Launched(all));
  const auto launch_of = [](const ReadRanks& ranks) {
    return DetailOf(ranks, Named(ranks, "gemm").at)->launch;
  };
  ASSERT_TRUE(launch_of(off) && launch_of(right));
  EXPECT_EQ(launch_of(off)->call.name, "cudaLaunchKernel");
  EXPECT_FALSE(launch_of(off)->delay);
  EXPECT_EQ(launch_of(right)->delay->ns, 10);
}

TEST(DetailOf, OfMixedRanksNoLaunchIsTold) {
  const ReadRanks ranks = RanksOf(TwoRanksAsOne());
  EXPECT_FALSE(DetailOf(ranks, Named(ranks, "gemm").at)->launch);
  EXPECT_EQ(DetailOf(ranks, Named(ranks, "cudaLaunchKernel").at)->launched_count, 0u);
}

TEST(DetailOf, ComputedSlicesAndPlacesThatDoNotExist) {
  const ReadRanks ranks = RanksOf(LaunchedStep());
  EXPECT_EQ(DetailOf(ranks, {0, 0, 0, 0})->kind, DrawnKind::kStep);
  EXPECT_EQ(DetailOf(ranks, {0, 1, 0, 0})->kind, DrawnKind::kBusy);
  EXPECT_EQ(DetailOf(ranks, {0, 2, 0, 0})->kind, DrawnKind::kIdle);
  EXPECT_TRUE(DetailOf(ranks, {0, 2, 0, 0})->arguments.empty());
  for (const SlicePlace at : {SlicePlace{1, 0, 0, 0}, {0, 99, 0, 0}, {0, 0, 9, 0}, {0, 0, 0, 9}}) {
    EXPECT_FALSE(DetailOf(ranks, at));
  }
}

TEST(DetailOf, ArgumentsHaveABound) {
  TraceBuilder builder;
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) keys.push_back("k" + std::to_string(i));
  const std::string text = "\"" + std::string(4095, 'x') + "\xc3\xa9" + "\"";
  TraceBuilder::Arguments args;
  for (const std::string& key : keys) args.emplace_back(key, text);
  builder.Host("cpu_op", "op", {.start = 0, .duration = 10, .args = args});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  const auto detail = DetailOf(ranks, Named(ranks, "op").at);
  EXPECT_EQ(detail->arguments.size(), 200u);
  EXPECT_TRUE(detail->arguments_cut);
  EXPECT_EQ(detail->arguments[0].value, std::string(4095, 'x'));
  EXPECT_TRUE(detail->arguments[0].cut);
}

TEST(FindSlice, FindsEachSliceWhereItIsShown) {
  const ReadRanks ranks = RanksOf(LaunchedStep(), LaunchedStep());
  const ViewedRank& rank = *ranks[1];
  for (uint32_t row = 0; row < rank.rows().size(); ++row) {
    for (uint32_t lane = 0; lane < rank.rows()[row].lanes.size(); ++lane) {
      const Lane& of = rank.rows()[row].lanes[lane];
      for (uint32_t place = 0; place < of.size(); ++place) {
        const bool is_found = rank.rows()[row].kind == RowKind::kSteps ||
                              of[place].table() != static_cast<uint32_t>(DrawnFrom::kComputed);
        const auto found = FindSlice(ranks, 1, of[place]);
        ASSERT_EQ(found.has_value(), is_found) << row;
        if (!found) continue;
        EXPECT_EQ(found->at, (SlicePlace{1, row, lane, place}));
      }
    }
  }
}

TEST(SliceNear, TheDeepestThatCoversElseTheNearest) {
  const ReadRanks ranks = RanksOf(LaunchedStep());
  const uint32_t thread = Named(ranks, "aten::mm").at.row;
  const auto at = [&](int64_t t, std::optional<uint32_t> lane = {}) {
    return SliceNear(ranks, 0, thread, TimeNs{t}, lane)->name;
  };
  EXPECT_EQ(at(25), "cudaGraphLaunch");
  EXPECT_EQ(at(65), "aten::empty");
  EXPECT_EQ(at(80), "aten::mm");
  EXPECT_EQ(at(300), "execute_context_0(0)_generation_1(3)");
  EXPECT_EQ(at(-100), "execute_context_0(0)_generation_1(3)");
  EXPECT_EQ(at(25, 1), "aten::mm");
  EXPECT_EQ(at(450, 2), "aten::empty");
  EXPECT_FALSE(SliceNear(ranks, 0, thread, TimeNs{0}, 7));
  EXPECT_FALSE(SliceNear(ranks, 0, 77, TimeNs{0}));
  const uint32_t stream = Named(ranks, "second").at.row;
  EXPECT_EQ(SliceNear(ranks, 0, stream, TimeNs{75})->name, "second");
  EXPECT_EQ(SliceNear(ranks, 0, stream, TimeNs{90})->name, "first<int>");
}

Trace ThreeReductions(int64_t rank, std::string_view name) {
  TraceBuilder builder;
  builder.header().rank = rank;
  builder.header().base_time_ns = 1'700'000'000 * kNsPerSecond;
  builder.Kernel(name, {.start = 0, .duration = 10});
  for (int64_t i = 1; i < 4; ++i) {
    builder.Kernel("ncclDevKernel_AllReduce", {.start = i * 100 + rank, .duration = 50 - rank});
  }
  return std::move(builder).Finish();
}

TEST(CollectiveOf, ThePartsOfTheOtherRanks) {
  ViewedRun run({"a", "b", "c"});
  const std::string names[] = {"first", "second", "third"};
  for (size_t i = 0; i < 3; ++i) {
    run.Add(MakeViewedRank("rank", ThreeReductions(static_cast<int64_t>(i), names[i])), i);
  }
  run.Finish();
  const ReadRanks ranks = run.ranks();
  const SlicePlace at = Named(ranks, "ncclDevKernel_AllReduce").at;
  const auto found = CollectiveOf(ranks, *run.collectives(), at);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, 3u);
  EXPECT_EQ(found->last, 2u);
  EXPECT_EQ(found->wait.ns, 2);
  ASSERT_EQ(found->at.size(), 2u);
  EXPECT_EQ(found->at[0].at.rank, 1u);
  EXPECT_EQ(found->at[1].at.rank, 2u);
  EXPECT_EQ(found->at[1].when, (Interval{{102}, {150}}));
  EXPECT_FALSE(CollectiveOf(ranks, *run.collectives(), Named(ranks, "second").at));
  EXPECT_FALSE(CollectiveOf(ranks, *run.collectives(), {9, 9, 9, 9}));
  EXPECT_FALSE(CollectiveOf(ranks, *run.collectives(), {0, at.row, at.lane, 99}));
}

}  // namespace
}  // namespace tacho
