#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulate/engine.h"
#include "simulate/loop.h"
#include "simulate/recording.h"

namespace tacho::simulate {

// Records a window of several engines, whatever they do, and writes a file for each of their
// ranks. Steps that lie across an end of the window are cut as Kineto cuts them.
struct TraceWindowOrder {
  std::vector<Engine*> engines;
  int ranks = 1;  // of each engine
  std::function<TraceSource(size_t engine, int rank)> source;
  int64_t start_unix_ns = 0, duration_ns = 0;
  std::function<std::string(int64_t pid)> path_of;
  std::function<void(std::vector<std::string> paths)> done;
};
void RecordTraceWindow(Loop& loop, TraceWindowOrder order);

}  // namespace tacho::simulate
