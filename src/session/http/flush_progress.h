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
  std::optional<int64_t> took_ns;           // it has answered its stop
  std::string said;                         // the last word of its log
  std::string doing = {};                   // what its files show of it: "its table is being made"
  std::optional<int64_t> expected_ns = {};  // as was said before the start
};

// "12.3 s".
std::string SecondsText(int64_t ns);

// One line a worker under a first line with the time; those that are not done come first, and after
// eight the rest is counted.
std::string FlushText(int64_t elapsed_ns, std::vector<FlushState> workers);
// What is said of a worker whose flush takes longer than was expected: for how long, what it does,
// what of that is written.
std::string LateText(int64_t elapsed_ns, const FlushState& worker);
// All are done: the time, the bytes, and of several workers the one that took longest.
std::string FlushSummary(int64_t elapsed_ns, const std::vector<FlushState>& workers);

}  // namespace tacho
