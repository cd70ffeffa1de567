#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "load/drive/drive.h"
#include "load/result/load_summary.h"

namespace tacho {

// How `vllm bench serve` (0.32) names a run: the first keys of its result file.
struct BenchIdentity {
  std::string date;  // 20261121-115335
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

// The metrics of vLLM to report (ttft, tpot, itl, e2el, client_queue_time,
// e2el_including_client_queue), and their percentiles.
struct BenchMetrics {
  std::vector<std::string> names = {"ttft", "tpot", "itl", "e2el"};
  std::vector<double> percents = {99};
  bool goodput = false;   // SLOs were given
  bool detailed = false;  // also the arrays by request
};
// kUsage: an unknown name.
Result<void> CheckBenchMetrics(const BenchMetrics& metrics);

// Whether a metric has no figures because the client's times are unsure.
bool IsUnsure(const LoadFigures& figures, std::string_view name);

// One of vLLM's metrics, in milliseconds, by vLLM's definition: "itl" are the times between chunks,
// and in a chat the first chunk counts although it holds no token.
Distribution BenchMetricOf(const LoadRecords& records, const std::string& name,
                           const std::vector<double>& percents);

// The file that `vllm bench serve --save-result` writes, key by key; one line of JSON.
std::string BenchResultJson(const LoadRecords& records, const LoadSummary& summary,
                            const BenchIdentity& identity, const BenchMetrics& metrics);

// The table that `vllm bench serve` prints, with `extra` lines (already laid out) before its end.
std::string BenchResultText(const LoadRecords& records, const LoadSummary& summary,
                            const BenchIdentity& identity, const BenchMetrics& metrics,
                            const std::string& extra);
// Why figures of vLLM's table differ from those of tacho's table below it; empty if none differs.
std::vector<std::string> BenchDifferences(const LoadRecords& records, const LoadFigures& whole,
                                          const BenchMetrics& metrics);
// Lines in the layout of vLLM's table, for `extra`.
std::string BenchTitle(const std::string& title, char fill = '-');
std::string BenchRow(const std::string& label, double value);
std::string BenchRow(const std::string& label, uint64_t value);
std::string BenchRow(const std::string& label, std::string_view value);

// "99", "99.9".
std::string PercentName(double percent);

}  // namespace tacho
