#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tacho {

// What the numbers of a trace in JSON lines mean. Mooncake's traces (milliseconds, 512 tokens per
// hash id) use the same keys as those of Qwen's Bailian and vLLM's timed_trace (seconds, 16
// tokens), so the file does not always say.
struct TraceUnits {
  double seconds_a_unit = 1e-3;
  int64_t block_tokens = 512;  // tokens per hash id
  // How each value was chosen, and which option sets it. `time_remark` is "" if an option set the
  // unit, or if all time stamps are equal. `block_remark` is "" if the file has no hash ids, or if
  // an option set the size and the file agrees.
  std::string time_remark, block_remark;
};

// What a file shows about its units.
struct TraceSigns {
  std::vector<double> stamps = {};  // the time stamps as they stand in the file
  // For each prompt: tokens, number of hash ids.
  std::vector<std::pair<int64_t, size_t>> hashed = {};
  std::optional<double> given_unit = {};  // the unit set by an option, in seconds
  std::optional<int64_t> given_block = {};
  bool is_bailian = false;  // the file has keys that only Bailian's traces have
};

// Chooses the units. An option always wins.
//
// Block size: each format has a usual size, and the keys show the format. Another size wins if it
// fits more prompts than the usual one and at least nine in ten. (A size fits a prompt of L tokens
// if L/size, rounded up or down, is its number of hash ids.)
//
// Time unit: stamps that count from 1970 show it by their number of digits. Other stamps in a file
// with Bailian's keys are seconds. The rest are milliseconds, unless they look like seconds: they
// have fractions and are, read as seconds, less than a minute apart on average; or, read as
// milliseconds, they would mean more than 1,000 requests per second (100 if the block size is not
// Mooncake's).
//
// Cost: O(rows).
TraceUnits UnitsOf(const TraceSigns& signs);

}  // namespace tacho
