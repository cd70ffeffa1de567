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
  // A JSON array of {"conversations":[{"from","value"},...]}. Turn 0 is the prompt, turn 1 the
  // answer.
  kShareGpt,
  kCustom,    // vLLM's "custom": JSON lines {"prompt", "output_tokens"}
  kMessages,  // JSON lines {"messages":[...], "output_tokens"}: only for the chat API
  // Mooncake's: JSON lines {"timestamp","input_length","output_length","hash_ids"}.
  kTrace,
  kAzure,     // CSV with the columns TIMESTAMP,ContextTokens,GeneratedTokens
  kBurstGpt,  // CSV with the columns Timestamp,...,Request tokens,Response tokens,...
};
std::string_view DatasetName(DatasetKind kind);  // "sharegpt"

// Limit on the tokens of a prompt or an output: no model takes more.
inline constexpr int64_t kMostTokens = 100'000'000;
// The latest valid time. A later one means that milliseconds were read as seconds (--time-unit-s).
inline constexpr double kLatestSeconds = 9e9;

struct DatasetRow {
  std::string text;    // the prompt, or the messages as JSON; "" if only lengths are known
  std::string answer;  // the answer in the dataset; its length gives output_tokens
  int64_t prompt_tokens = 0, output_tokens = 0;  // 0: not known
  std::optional<int64_t> at_ns;                  // time since the first row
  std::vector<int64_t> hash_ids;  // ids of the prompt's blocks: equal ids mean equal tokens
};

struct BrokenLine {
  uint64_t line = 0;  // counted from 1; in a JSON array the number of the entry
  std::string why;
};

struct Dataset {
  std::string path;                          // where the caller read it from; may be ""
  DatasetKind kind = DatasetKind::kUnknown;  // recognised by its first good line
  std::vector<DatasetRow> rows;              // sorted by time, if they have times
  TraceUnits units;                          // units of a trace in JSON lines
  uint64_t broken = 0;
  std::vector<BrokenLine> first_broken;   // at most kMostBroken
  uint64_t unfit = 0;                     // rows that are well-formed, but incomplete or too short
  std::vector<std::string> ignored_keys;  // some JSON keys that were not used
  static constexpr size_t kMostBroken = 10, kMostIgnored = 5, kLongestIgnored = 60;
};

struct DatasetOptions {
  bool stop_at_broken = false;
  // The number of tokens that one hash id stands for. Absent: the number that the format defines;
  // for a trace in JSON lines, the number that its rows suggest (trace_units.h).
  std::optional<int64_t> block_tokens = {};
  std::optional<double> seconds_a_unit = {};  // unit of time stamps; absent: guessed
  std::string timestamp_label = "timestamp", input_label = "input_length",
              output_label = "output_length", hash_label = "hash_ids";
};

// Reads a dataset from its bytes. kUnreadable: an unknown kind, no good row, or, with
// stop_at_broken, a broken line.
Result<Dataset> ReadDataset(std::string_view bytes, const DatasetOptions& options = {});

}  // namespace tacho
