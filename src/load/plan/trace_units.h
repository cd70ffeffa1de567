#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tacho {

// What the numbers of a trace in JSON lines mean. Its keys are the same in Mooncake's traces
// (milliseconds, 512 tokens a hash id) and in those of Qwen's Bailian and vLLM's timed_trace
// (seconds, 16 tokens), so the file does not always say.
struct TraceUnits {
  double seconds_a_unit = 1e-3;
  int64_t block_tokens = 512;  // tokens of one hash id
  // How each value was chosen and which option sets it. "" if an option set it (for `block_remark`:
  // and the file agrees), or if the file does not show it.
  std::string time_remark, block_remark;
};

// The parts of a file that show its units.
struct TraceSigns {
  std::vector<double> stamps = {};                      // as they are in the file
  std::vector<std::pair<int64_t, size_t>> hashed = {};  // a prompt's tokens and number of hash ids
  std::optional<double> given_unit = {};                // seconds
  std::optional<int64_t> given_block = {};
  bool is_bailian = false;  // its keys show that
};

// An option decides first. Else the size of a block is the one that fits most prompts (one of L
// tokens has L/block hash ids, rounded up or down); the one that the keys show if it fits as many,
// or if none fits nine in ten. The unit of times since 1970 follows from their number of digits.
// Other times of Bailian's keys are seconds. The rest are milliseconds, with two exceptions that
// mean seconds: fractions, unless the requests would then be a minute or more apart, on average;
// and more than 1,000 requests a second (100 if the hash ids are not Mooncake's). Cost: O(rows).
TraceUnits UnitsOf(const TraceSigns& signs);

}  // namespace tacho
