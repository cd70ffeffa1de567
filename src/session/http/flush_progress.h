#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// How far the flush of a worker has got, as seen from here.
struct FlushState {
  std::string url;
  std::optional<uint64_t> bytes;  // size of its files so far; absent: they cannot be seen from here
  std::optional<int64_t> took_ns;  // how long its stop took; absent: it has not answered yet
  std::string said;                // the last line of its log that concerns the profiler
  std::string doing = {};  // what it is doing, judged by its files: "its table is being made"
  std::optional<int64_t> expected_ns = {};  // time of the flush as forecast before the start
};

// "12.3 s".
std::string SecondsText(int64_t ns);

// The total time, then one line for each worker. Workers that are not done come first; after eight
// lines the other workers are only counted.
std::string FlushText(int64_t elapsed_ns, std::vector<FlushState> workers);
// The text for a worker whose flush takes longer than expected: the time so far, what the worker is
// doing, and how much it has written.
std::string LateText(int64_t elapsed_ns, const FlushState& worker);
// The text once all are done: the time, the bytes, and which of several workers took longest.
std::string FlushSummary(int64_t elapsed_ns, const std::vector<FlushState>& workers);

}  // namespace tacho
