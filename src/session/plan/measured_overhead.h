#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/overhead.h"
#include "load/drive/drive.h"
#include "load/result/records.h"

namespace tacho {

// What `tacho record --overhead` asks for, and the cost of profiling that it measured. Times in ns.

struct OverheadOptions {
  uint64_t pairs = 8;  // each a window without and one with profilers; two pairs make a block
  // The user set `pairs`; else tacho measures as many as fit into its time.
  bool pairs_asked = false;
  int64_t window_ns = 2'000'000'000;
  double precision = 0.02;  // wanted half-width of the confidence interval, as a share
  // The preset with which tacho launched the engine; "": tacho did not launch it.
  std::string preset;
};

// One window of the load.
struct OverheadWindow {
  size_t block = 0;
  bool profiled = false;
  // CLOCK_MONOTONIC. Since `calm_ns` the engine has been in the window's state, profiled or not.
  int64_t calm_ns = 0, begin_ns = 0, end_ns = 0;
  double steps = 0, steps_ns = 0;  // sums over all engines that count steps
};

enum class OverheadFigureId : uint8_t { kThroughput, kStep, kItl, kTtft };
struct OverheadFigure {
  OverheadFigureId id{};
  std::optional<OverheadEstimate> estimate;  // absent: fewer than two blocks have this figure
  OverheadVerdict verdict{};                 // only if there is an estimate
};
std::string_view NameOf(OverheadFigureId id);  // "throughput"
inline bool IsTime(OverheadFigureId id) { return id != OverheadFigureId::kThroughput; }

struct Overhead {
  OverheadOptions asked = {};
  size_t blocks_planned = 0;
  std::vector<OverheadWindow> windows = {};
  std::string ended_early = {};  // why there are fewer windows than planned
  // Filled by MeasureOverhead.
  size_t blocks = 0;  // whole blocks in which no request failed
  size_t blocks_with_failures = 0;
  std::vector<OverheadFigure> figures = {};  // one for each id, in the order of the ids
  const OverheadFigure* Find(OverheadFigureId id) const;
};

// Whether each window of the block is profiled, in the order of the windows. The order is ABBA, and
// BAAB in the next block (A: unprofiled, B: profiled).
std::vector<bool> OrderOfBlock(size_t block);

void MeasureOverhead(const LoadRecords& records, Overhead& overhead);

}  // namespace tacho
