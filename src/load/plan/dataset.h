#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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

// A prompt or an output has at most so many tokens: no model takes more.
inline constexpr int64_t kMostTokens = 100'000'000;
// Later times are none: in a wrong unit (--time-unit-s), seconds would be what milliseconds are.
inline constexpr double kLatestSeconds = 9e9;

struct DatasetRow {
  std::string text;    // the prompt, or the messages as JSON; "" where only lengths are known
  std::string answer;  // whose length is the output's
  int64_t prompt_tokens = 0, output_tokens = 0;  // 0: not known
  std::optional<int64_t> at_ns;                  // from the first one on
  std::vector<int64_t> hash_ids;                 // blocks of the prompt: same id, same tokens
};

struct BrokenLine {
  uint64_t line = 0;  // from 1; of an array the place of the entry
  std::string why;
};

struct Dataset {
  std::string path;                          // where the caller read it from, if it says so
  DatasetKind kind = DatasetKind::kUnknown;  // by its first good line
  std::vector<DatasetRow> rows;              // with times: in their order
  int64_t block_tokens = 512;                // of a hash id
  uint64_t broken = 0;
  std::vector<BrokenLine> first_broken;   // at most kMostBroken
  uint64_t unfit = 0;                     // well-formed, but without what is needed, or too short
  std::vector<std::string> ignored_keys;  // that its JSON has and nothing reads; the first few
  static constexpr size_t kMostBroken = 10, kMostIgnored = 5, kLongestIgnored = 60;
};

struct DatasetOptions {
  bool stop_at_broken = false;
  int64_t block_tokens = 512;
  double seconds_a_unit = 0;  // of time stamps; 0: as the format has it (Mooncake milliseconds)
  std::string timestamp_label = "timestamp", input_label = "input_length",
              output_label = "output_length", hash_label = "hash_ids";
};

// Reads a dataset from its bytes. kUnreadable: no kind that is known, not one good row, or a broken
// line where those are to stop it.
Result<Dataset> ReadDataset(std::string_view bytes, const DatasetOptions& options = {});

}  // namespace tacho
