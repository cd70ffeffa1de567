#include "load/result/bench_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "load/result/request_times.h"

namespace tacho {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kNsAMs = 1e6, kNsASecond = 1e9;
constexpr std::array<const char*, 6> kMetrics = {
    "ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue"};

double Seconds(int64_t ns) { return static_cast<double>(ns) / kNsASecond; }

// vLLM's client counts up to the first chunk with a choice, even if it holds only a chat's role.
std::optional<double> TtftOf(const RequestRecord& r) {
  // An answer that is not a stream has no chunks, and so no time of its first token.
  if (r.sent_ns == 0 || r.first_choice_ns == 0 || r.chunk_ns.empty()) return std::nullopt;
  if (r.first_unsure || r.all_unsure || r.met_flush) return std::nullopt;
  return static_cast<double>(r.first_choice_ns - r.sent_ns);
}

std::optional<double> TpotOf(const RequestRecord& r) {
  const auto ttft = TtftOf(r);
  const auto whole = EndToEndNs(r);
  if (!ttft || !whole || r.output_tokens < 2) return std::nullopt;
  return (static_cast<double>(*whole) - *ttft) / static_cast<double>(r.output_tokens - 1);
}

// All times between chunks with a choice.
std::vector<double> GapsOf(const RequestRecord& r) {
  std::vector<double> gaps;
  if (r.chunk_ns.empty() || r.unsure_chunks > 0 || r.all_unsure || r.met_flush) return gaps;
  if (r.first_choice_ns < r.chunk_ns.front()) {
    gaps.push_back(static_cast<double>(r.chunk_ns.front() - r.first_choice_ns));
  }
  AppendChunkGaps(r, gaps);
  if (r.last_choice_ns > r.chunk_ns.back()) {
    gaps.push_back(static_cast<double>(r.last_choice_ns - r.chunk_ns.back()));
  }
  return gaps;
}

std::optional<double> TimeOf(const RequestRecord& r, const std::string& name) {
  if (name == "ttft") return TtftOf(r);
  if (name == "tpot") return TpotOf(r);
  if (name == "client_queue_time") return static_cast<double>(QueueNs(r));
  const auto whole = EndToEndNs(r);
  if (!whole) return std::nullopt;
  if (name == "e2el") return static_cast<double>(*whole);
  return static_cast<double>(*whole + QueueNs(r));
}

void AddDetails(OrderedJson& json, const LoadRecords& records, bool detailed) {
  OrderedJson input_lens = OrderedJson::array(), output_lens = OrderedJson::array(),
              ttfts = OrderedJson::array(), itls = OrderedJson::array(),
              latencies = OrderedJson::array(), start_times = OrderedJson::array(),
              queue_times = OrderedJson::array(), texts = OrderedJson::array(),
              errors = OrderedJson::array();
  for (const RequestRecord& r : records.requests) {
    const bool done = r.status == RequestStatus::kDone;
    input_lens.push_back(r.prompt_tokens > 0 ? r.prompt_tokens : r.planned_prompt_tokens);
    output_lens.push_back(done ? r.output_tokens : 0);
    const bool unsure = r.first_unsure || r.all_unsure || r.met_flush;
    const double ttft = done ? TtftOf(r).value_or(0) / kNsASecond : 0;
    ttfts.push_back(done && unsure ? OrderedJson() : OrderedJson(ttft));
    OrderedJson gaps = OrderedJson::array();
    for (const double gap : GapsOf(r)) gaps.push_back(gap / kNsASecond);
    itls.push_back(std::move(gaps));
    latencies.push_back(r.all_unsure || r.met_flush
                            ? OrderedJson()
                            : OrderedJson(Seconds(EndToEndNs(r).value_or(0))));
    start_times.push_back(Seconds(r.sent_ns));
    queue_times.push_back(Seconds(QueueNs(r)));
    texts.push_back(r.text);
    errors.push_back(done ? "" : r.error);
  }
  if (detailed) {
    json["input_lens"] = std::move(input_lens);
    json["output_lens"] = std::move(output_lens);
    json["ttfts"] = std::move(ttfts);
    json["itls"] = std::move(itls);
  }
  // vLLM writes these two in every file.
  json["latencies"] = std::move(latencies);
  if (detailed) json["start_times"] = std::move(start_times);
  json["queue_times"] = std::move(queue_times);
  if (detailed) {
    json["generated_texts"] = std::move(texts);
    json["errors"] = std::move(errors);
  }
}

std::string Dump(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string PercentName(double percent) { return fmt::format("{:g}", percent); }

Result<void> CheckBenchMetrics(const BenchMetrics& metrics) {
  for (const std::string& name : metrics.names) {
    if (std::find(kMetrics.begin(), kMetrics.end(), name) != kMetrics.end()) continue;
    return Fail(ErrorKind::kUsage,
                fmt::format("no metric '{}' (there are {})", name, fmt::join(kMetrics, ", ")));
  }
  for (const double percent : metrics.percents) {
    if (percent >= 0 && percent <= 100) continue;
    return Fail(ErrorKind::kUsage, fmt::format("no percentile {:g}", percent));
  }
  return {};
}

bool IsUnsure(const LoadFigures& figures, std::string_view name) {
  if (name == "ttft" || name == "tpot") return figures.TtftIsUnsure();
  if (name == "itl") return figures.GapsAreUnsure();
  return name != "client_queue_time" && figures.EndToEndIsUnsure();
}

Distribution BenchMetricOf(const LoadRecords& records, const std::string& name,
                           const std::vector<double>& percents) {
  std::vector<double> samples;
  for (const RequestRecord& r : records.requests) {
    if (r.status != RequestStatus::kDone) continue;
    if (name == "itl") {
      for (const double gap : GapsOf(r)) samples.push_back(gap / kNsAMs);
    } else if (const auto time = TimeOf(r, name)) {
      samples.push_back(*time / kNsAMs);
    }
  }
  return Describe(std::move(samples), percents);
}

std::string BenchResultJson(const LoadRecords& records, const LoadSummary& summary,
                            const BenchIdentity& identity, const BenchMetrics& metrics) {
  const LoadFigures& whole = summary.whole;
  OrderedJson json;
  json["date"] = identity.date;
  json["endpoint_type"] = identity.endpoint_type;
  json["backend"] = identity.backend;
  json["label"] = identity.label ? OrderedJson(*identity.label) : OrderedJson();
  json["model_id"] = identity.model_id;
  json["tokenizer_id"] = identity.tokenizer_id.value_or(identity.model_id);
  json["num_prompts"] = identity.num_prompts;
  for (const auto& [key, value] : identity.metadata) json[key] = value;
  json["request_rate"] =
      identity.request_rate ? OrderedJson(*identity.request_rate) : OrderedJson("inf");
  json["burstiness"] = identity.burstiness;
  json["max_concurrency"] =
      identity.max_concurrency ? OrderedJson(*identity.max_concurrency) : OrderedJson();
  if (identity.ramp) {
    json["ramp_up_strategy"] =
        identity.ramp->shape == RampShape::kLinear ? "linear" : "exponential";
    json["ramp_up_start_rps"] = identity.ramp->from_rate;
    json["ramp_up_end_rps"] = identity.ramp->to_rate;
  }
  json["duration"] = Seconds(whole.duration_ns);
  json["completed"] = whole.done;
  json["failed"] = whole.failed + whole.partial;  // without requests cut by the end of the load
  json["total_input_tokens"] = whole.prompt_tokens;
  json["total_output_tokens"] = whole.output_tokens;
  json["request_throughput"] = whole.requests_per_s;
  json["request_goodput"] =
      metrics.goodput && whole.unsure_first == 0 ? OrderedJson(whole.good_per_s) : OrderedJson();
  json["output_throughput"] = whole.output_tokens_per_s;
  json["total_token_throughput"] = whole.output_tokens_per_s + whole.prompt_tokens_per_s;
  AddDetails(json, records, metrics.detailed);
  json["max_output_tokens_per_s"] = static_cast<double>(summary.peak_chunks_per_s);
  json["max_concurrent_requests"] = summary.concurrency.peak;
  json["rtfx"] = 0.0;  // vLLM sets it only for audio
  for (const std::string& name : metrics.names) {
    const Distribution all = BenchMetricOf(records, name, metrics.percents);
    const auto put = [&, unsure = IsUnsure(whole, name)](std::string_view what, double value) {
      json[fmt::format("{}_{}_ms", what, name)] = unsure ? OrderedJson() : OrderedJson(value);
    };
    put("mean", all.mean);
    put("median", BenchMetricOf(records, name, {50}).At(50).value_or(0));
    put("std", all.deviation);
    for (const double percent : metrics.percents) {
      put("p" + PercentName(percent), all.At(percent).value_or(0));
    }
  }
  // vLLM has no such key; it tells readers that the client limited the rates.
  if (summary.verdict.client_bound) {
    json["client_bound"] = true;
    json["client_why"] = summary.verdict.why;
  }
  std::string text = Dump(json);
  // vLLM's Python writes Infinity here, and its readers expect no null.
  constexpr std::string_view kNoNumber = "\"burstiness\":null";
  if (std::isinf(identity.burstiness)) {
    text.replace(text.find(kNoNumber), kNoNumber.size(), "\"burstiness\":Infinity");
  }
  return text;
}

}  // namespace tacho
