#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "load/drive/drive.h"
#include "load/result/load_summary.h"

namespace tacho {

// The first keys of the result file of `vllm bench serve` (0.32), which name a run.
struct BenchIdentity {
  std::string date;  // such as 20261121-115335
  std::string endpoint_type = "openai", backend = "openai";
  std::optional<std::string> label;
  std::string model_id;
  std::optional<std::string> tokenizer_id;
  uint64_t num_prompts = 0;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::optional<double> request_rate;  // absent: "inf"
  double burstiness = 1;
  std::optional<uint64_t> max_concurrency;
  std::optional<Ramp> ramp;
};

// Which of vLLM's metrics to report (ttft, tpot, itl, e2el, client_queue_time,
// e2el_including_client_queue), and which of their percentiles.
struct BenchMetrics {
  std::vector<std::string> names = {"ttft", "tpot", "itl", "e2el"};
  std::vector<double> percents = {99};
  bool goodput = false;   // SLOs were given
  bool detailed = false;  // also writes the arrays with a value per request
};
// kUsage: an unknown name.
Result<void> CheckBenchMetrics(const BenchMetrics& metrics);

// Whether the metric named `name` has no figures because the client's times are unsure.
bool IsUnsure(const LoadFigures& figures, std::string_view name);

// One of vLLM's metrics by vLLM's definition, in milliseconds. "itl" holds the times between
// chunks, and the first chunk of a chat counts although it has no token.
Distribution BenchMetricOf(const LoadRecords& records, const std::string& name,
                           const std::vector<double>& percents);

// The JSON file that `vllm bench serve --save-result` writes, with the same keys, on one line.
std::string BenchResultJson(const LoadRecords& records, const LoadSummary& summary,
                            const BenchIdentity& identity, const BenchMetrics& metrics);

// The table that `vllm bench serve` prints, with `extra` (finished lines) before its end.
std::string BenchResultText(const LoadRecords& records, const LoadSummary& summary,
                            const BenchIdentity& identity, const BenchMetrics& metrics,
                            const std::string& extra);
// Says why figures of vLLM's table differ from those of tacho's table below it; empty if none does.
std::vector<std::string> BenchDifferences(const LoadRecords& records, const LoadFigures& whole,
                                          const BenchMetrics& metrics);
// Format lines like those of vLLM's table, for `extra`.
std::string BenchTitle(const std::string& title, char fill = '-');
std::string BenchRow(const std::string& label, double value);
std::string BenchRow(const std::string& label, uint64_t value);
std::string BenchRow(const std::string& label, std::string_view value);

// A percentile as text: "99", "99.9".
std::string PercentName(double percent);

}  // namespace tacho
