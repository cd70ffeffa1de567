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
  // How each value was chosen and which option sets it; "" if an option set it and the file agrees.
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

// An option comes first, then keys that show the format, then what the numbers allow: a prompt of L
// tokens has L/block hash ids, rounded up or down; times of Unix' epoch have the digits of their
// unit; fractions mean seconds, unless the requests would then be minutes apart; and if
// milliseconds gave more than 1,000 requests a second (100 if the hash ids are not Mooncake's), the
// times are not milliseconds. Cost: O(rows).
TraceUnits UnitsOf(const TraceSigns& signs);

}  // namespace tacho
