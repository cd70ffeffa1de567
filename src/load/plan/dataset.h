#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/plan/trace_units.h"

namespace tacho {

enum class DatasetKind {
  kUnknown,
  kShareGpt,  // JSON array of {"conversations":[{"from","value"},...]}: turn 0 asks, turn 1 answers
  kCustom,    // JSON lines {"prompt", "output_tokens"}: vLLM's custom
  kMessages,  // JSON lines {"messages":[...], "output_tokens"}: for the chat API alone
  kTrace,     // JSON lines {"timestamp","input_length","output_length","hash_ids"}: Mooncake's
  kAzure,     // CSV TIMESTAMP,ContextTokens,GeneratedTokens
  kBurstGpt,  // CSV Timestamp,...,Request tokens,Response tokens,...
};
std::string_view DatasetName(DatasetKind kind);  // "sharegpt"

// The most tokens of a prompt or an output: no model takes more.
inline constexpr int64_t kMostTokens = 100'000'000;
// The latest valid time. A later time means that milliseconds were read as seconds (--time-unit-s).
inline constexpr double kLatestSeconds = 9e9;

struct DatasetRow {
  std::string text;    // the prompt, or the messages as JSON; "" if only lengths are known
  std::string answer;  // its length gives output_tokens
  int64_t prompt_tokens = 0, output_tokens = 0;  // 0: not known
  std::optional<int64_t> at_ns;                  // since the first row
  std::vector<int64_t> hash_ids;  // blocks of the prompt: the same id means the same tokens
};

struct BrokenLine {
  uint64_t line = 0;  // from 1; in an array the number of the entry
  std::string why;
};

struct Dataset {
  std::string path;                          // where the caller read it from; may be ""
  DatasetKind kind = DatasetKind::kUnknown;  // by its first good line
  std::vector<DatasetRow> rows;              // sorted by time, if they have times
  TraceUnits units;                          // of a trace in JSON lines
  uint64_t broken = 0;
  std::vector<BrokenLine> first_broken;   // at most kMostBroken
  uint64_t unfit = 0;                     // well-formed, but incomplete or too short
  std::vector<std::string> ignored_keys;  // the first few keys of its JSON that are not used
  static constexpr size_t kMostBroken = 10, kMostIgnored = 5, kLongestIgnored = 60;
};

struct DatasetOptions {
  bool stop_at_broken = false;
  // Absent: as the format defines it; for a trace in JSON lines, what its numbers allow
  // (trace_units.h).
  std::optional<int64_t> block_tokens = {};
  std::optional<double> seconds_a_unit = {};  // the unit of time stamps
  std::string timestamp_label = "timestamp", input_label = "input_length",
              output_label = "output_length", hash_label = "hash_ids";
};

// Reads a dataset from its bytes. kUnreadable: an unknown kind, no good row, or, with
// stop_at_broken, a broken line.
Result<Dataset> ReadDataset(std::string_view bytes, const DatasetOptions& options = {});

}  // namespace tacho
