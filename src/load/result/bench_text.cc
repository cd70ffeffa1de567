// Writes the table of `vllm bench serve`, 50 columns wide.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "load/result/bench_result.h"

namespace tacho {
namespace {

constexpr size_t kWidth = 50;

struct MetricText {
  const char* name;
  const char* title;
  const char* word;
  // These two are set if vLLM's definition gives other figures than docs/metrics.md.
  const char* other_title = "";
  const char* why = "";
};
constexpr MetricText kTexts[] = {
    {"ttft", "Time to First Token", "TTFT", "Time to First Chunk (a chat's role)",
     "vLLM's TTFT ends with the first chunk, which holds a chat's role and no token; ours with the "
     "first token"},
    {"tpot", "Time per Output Token (excl. 1st token)", "TPOT",
     "Time per Output Token (from a chat's role on)",
     "vLLM's TPOT begins with the chunk that holds a chat's role; ours with the first token"},
    {"itl", "Inter-token Latency", "ITL", "Inter-token Latency (between chunks)",
     "vLLM's ITL is the time between chunks; ours that between tokens"},
    {"e2el", "End-to-end Latency", "E2EL"},
    {"client_queue_time", "Client-side Queueing", "Client Queue Time"},
    {"e2el_including_client_queue", "Queue-inclusive End-to-end Latency", "E2EL incl. Queue"},
};

// The metric's percentiles in tacho's own table, in nanoseconds; nullptr if that table lacks it.
const Distribution* OursOf(const LoadFigures& whole, std::string_view name) {
  return name == "ttft"   ? &whole.ttft
         : name == "tpot" ? &whole.tpot
         : name == "itl"  ? &whole.itl
                          : nullptr;
}

// Whether the two tables would show different figures under the same name.
bool Differs(const LoadRecords& records, const LoadFigures& whole, const MetricText& text) {
  constexpr double kSame = 0.01;
  const Distribution* ours = OursOf(whole, text.name);
  if (ours == nullptr || ours->count == 0 || IsUnsure(whole, text.name)) return false;
  const Distribution theirs = BenchMetricOf(records, text.name, {50, 99});
  const auto differs_at = [&](double percent) {
    const auto one = ours->At(percent), other = theirs.At(percent);
    return one && other && std::abs(*one / 1e6 - *other) > kSame * std::max(*one / 1e6, *other);
  };
  // tacho's own table has no median of ITL.
  return differs_at(99) || (std::string_view(text.name) != "itl" && differs_at(50));
}

std::string MetricBlock(const LoadRecords& records, const LoadFigures& whole,
                        const MetricText& text, const std::vector<double>& percents) {
  if (IsUnsure(whole, text.name)) {
    return BenchTitle(text.title) + BenchRow(fmt::format("{} (ms):", text.word), "read too late");
  }
  const Distribution all = BenchMetricOf(records, text.name, percents);
  if (all.count == 0) return "";  // e.g. answers that are not streams have no TTFT
  const Distribution median = BenchMetricOf(records, text.name, {50});
  std::string out = BenchTitle(Differs(records, whole, text) ? text.other_title : text.title);
  out += BenchRow(fmt::format("Mean {} (ms):", text.word), all.mean);
  out += BenchRow(fmt::format("Median {} (ms):", text.word), median.At(50).value_or(0));
  for (const double percent : percents) {
    out += BenchRow(fmt::format("P{} {} (ms):", PercentName(percent), text.word),
                    all.At(percent).value_or(0));
  }
  return out;
}

}  // namespace

std::vector<std::string> BenchDifferences(const LoadRecords& records, const LoadFigures& whole,
                                          const BenchMetrics& metrics) {
  std::vector<std::string> why;
  for (const MetricText& text : kTexts)
    if (std::ranges::find(metrics.names, text.name) != metrics.names.end() &&
        Differs(records, whole, text))
      why.emplace_back(text.why);
  return why;
}

std::string BenchTitle(const std::string& title, char fill) {
  const size_t rest = kWidth - std::min(kWidth, title.size());
  return std::string(rest / 2, fill) + title + std::string(rest - rest / 2, fill) + "\n";
}

std::string BenchRow(const std::string& label, double value) {
  return fmt::format("{:<40} {:<10.2f}\n", label, value);
}

std::string BenchRow(const std::string& label, uint64_t value) {
  return fmt::format("{:<40} {:<10}\n", label, value);
}

std::string BenchRow(const std::string& label, std::string_view value) {
  return fmt::format("{:<35} {:<14}\n", label, value);
}

std::string BenchResultText(const LoadRecords& records, const LoadSummary& summary,
                            const BenchIdentity& identity, const BenchMetrics& metrics,
                            const std::string& extra) {
  const LoadFigures& whole = summary.whole;
  std::string out = BenchTitle(" Serving Benchmark Result ", '=');
  out += BenchRow("Successful requests:", whole.done);
  out += BenchRow("Failed requests:", whole.failed + whole.partial);
  // vLLM's table has no such row.
  if (whole.cancelled > 0) out += BenchRow("Cancelled requests:", whole.cancelled);
  if (summary.verdict.client_bound) out += BenchRow("Limited by the client:", "yes, see below");
  if (identity.max_concurrency) {
    out += BenchRow("Maximum request concurrency:", *identity.max_concurrency);
  }
  if (identity.request_rate) {
    out += BenchRow("Request rate configured (RPS):", *identity.request_rate);
  }
  out += BenchRow("Benchmark duration (s):", static_cast<double>(whole.duration_ns) / 1e9);
  out += BenchRow("Total input tokens:", static_cast<uint64_t>(whole.prompt_tokens));
  out += BenchRow("Total generated tokens:", static_cast<uint64_t>(whole.output_tokens));
  out += BenchRow("Request throughput (req/s):", whole.requests_per_s);
  if (metrics.goodput && whole.unsure_first == 0)
    out += BenchRow("Request goodput (req/s):", whole.good_per_s);
  out += BenchRow("Output token throughput (tok/s):", whole.output_tokens_per_s);
  if (summary.peak_chunks_per_s > 0) {  // unknown for answers that are not streams
    out += BenchRow("Peak output token throughput (tok/s):",
                    static_cast<double>(summary.peak_chunks_per_s));
  }
  out += BenchRow("Peak concurrent requests:", static_cast<double>(summary.concurrency.peak));
  out += BenchRow("Total token throughput (tok/s):",
                  whole.output_tokens_per_s + whole.prompt_tokens_per_s);
  for (const MetricText& text : kTexts) {
    for (const std::string& name : metrics.names) {
      if (name == text.name) out += MetricBlock(records, whole, text, metrics.percents);
    }
  }
  return out + extra + std::string(kWidth, '=') + "\n";
}

}  // namespace tacho
