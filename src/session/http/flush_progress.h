#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// How far a worker's flush is, as seen from here.
struct FlushState {
  std::string url;
  std::optional<uint64_t> bytes;            // its files so far; absent where they cannot be seen
  std::optional<int64_t> took_ns;           // how long its stop took; absent: no answer yet
  std::string said;                         // the last line of its log that concerns the profiler
  std::string doing = {};                   // what it does, by its files: "its table is being made"
  std::optional<int64_t> expected_ns = {};  // as forecast before the start
};

// "12.3 s".
std::string SecondsText(int64_t ns);

// A first line with the time, then one line a worker: workers that are not done come first, and
// after eight lines the other workers are only counted.
std::string FlushText(int64_t elapsed_ns, std::vector<FlushState> workers);
// The text for a worker whose flush takes longer than expected: for how long, what the worker does,
// and how much is written.
std::string LateText(int64_t elapsed_ns, const FlushState& worker);
// The text once all are done: the time, the bytes, and which of several workers took longest.
std::string FlushSummary(int64_t elapsed_ns, const std::vector<FlushState>& workers);

}  // namespace tacho
