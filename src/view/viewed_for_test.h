#pragma once

#include <memory>
#include <string>
#include <utility>

#include "model/trace_builder.h"
#include "view/place.h"
#include "view/viewed_run.h"

namespace tacho {

inline const Classifier& ViewRules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

inline std::unique_ptr<ViewedRank> MakeViewedRank(std::string path, Trace trace) {
  auto owned = std::make_unique<const Trace>(std::move(trace));
  const PreparedTrace prepared = Prepare(*owned, ViewRules());
  return std::make_unique<ViewedRank>(std::move(path), std::move(owned), prepared, ViewRules());
}

// 40 launches, 100 ns apart. Each launches work of 30 ns that begins `delay` after its launch. The
// work of launches that `has` does not accept is missing.
template <typename Has>
Trace Launched(Has has, int64_t delay = 20) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 40; ++i) {
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = 100 * i, .duration = 10, .correlation = i});
    if (has(i))
      builder.Kernel("gemm", {.start = 100 * i + delay, .duration = 30, .correlation = i});
  }
  return std::move(builder).Finish();
}
inline Trace HalfLost() {
  return Launched([](int64_t i) { return i % 2 == 0; });
}

// 40 launches whose work a device ran in the opposite order.
inline Trace OutOfOrder() {
  TraceBuilder builder;
  for (int64_t i = 0; i < 40; ++i) {
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = 100 * i, .duration = 10, .correlation = i});
    builder.Kernel("gemm", {.start = 90'000 - 2'000 * i, .duration = 1'500, .correlation = i});
  }
  return std::move(builder).Finish();
}

// Two processes that launch work on one device with the same correlation ids.
inline Trace TwoRanksAsOne() {
  TraceBuilder builder;
  for (const std::string& process : {std::string("1"), std::string("2")}) {
    for (int64_t i = 0; i < 20; ++i) {
      builder.Host(
          "cuda_runtime", "cudaLaunchKernel",
          {.pid = process, .tid = process, .start = 100 * i, .duration = 10, .correlation = i});
      builder.Kernel("gemm", {.start = 100 * i + 20, .duration = 60, .correlation = i});
    }
  }
  return std::move(builder).Finish();
}

// Makes a run of these traces and returns its ranks.
template <typename... Traces>
ReadRanks RanksOf(Traces... traces) {
  ViewedRun run(std::vector<std::string>(sizeof...(traces), "rank"));
  size_t rank = 0;
  (run.Add(MakeViewedRank("rank", std::move(traces)), rank++), ...);
  return run.ranks();
}

// The first slice with exactly this name.
inline PlacedSlice Named(const ReadRanks& ranks, std::string_view name) {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (uint32_t row = 0; row < ranks[rank]->rows().size(); ++row) {
      const auto& lanes = ranks[rank]->rows()[row].lanes;
      for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
        for (uint32_t place = 0; place < lanes[lane].size(); ++place) {
          if (lanes[lane].NameText(place) == name) return *SliceAt(ranks, {rank, row, lane, place});
        }
      }
    }
  }
  return {{99, 99, 99, 99}, {}};
}

}  // namespace tacho
