#include "cli/load/load_job_of_flags.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/load/load_job_plan.h"
#include "cli/options/load_argument.h"
#include "load/drive/request_body.h"
#include "load/result/sweep.h"
#include "net/url.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Fills a LoadJob from the flags, one group of flags after the other.
class JobMaker {
 public:
  explicit JobMaker(const LoadFlags& flags) : f_(flags) {}

  Result<LoadJob> Make() && {
    TACHO_RETURN_IF_ERROR(SetTarget());
    TACHO_RETURN_IF_ERROR(SetApi());
    TACHO_RETURN_IF_ERROR(SetSampling());
    TACHO_RETURN_IF_ERROR(SetPlan(f_, job_));
    TACHO_RETURN_IF_ERROR(SetTimeouts());
    TACHO_RETURN_IF_ERROR(SetReport());
    TACHO_RETURN_IF_ERROR(SetSweep());
    TACHO_RETURN_IF_ERROR(CheckPlan(job_.plan));
    return std::move(job_);
  }

 private:
  Result<void> SetTarget() {
    job_.urls = f_.urls;
    job_.urls.insert(job_.urls.end(), f_.base_urls.begin(), f_.base_urls.end());
    if (!f_.host.empty() || f_.port) {
      job_.urls.push_back(fmt::format("http://{}:{}", f_.host.empty() ? "127.0.0.1" : f_.host,
                                      f_.port.value_or(8000)));
    }
    if (job_.urls.empty()) return LoadUsage("no server given");
    // Removes the /v1 at the end of a URL: an OpenAI client's base URL has it, the server's own URL
    // does not.
    for (std::string& url : job_.urls) {
      TACHO_RETURN_IF_ERROR(ParseUrl(url));
      url.resize(std::min(url.find('?'), url.size()));
      if (!f_.endpoint.empty()) continue;
      while (url.ends_with('/')) url.pop_back();
      if (url.ends_with("/v1")) url.resize(url.size() - 3);
    }
    if (f_.profile && !f_.sweep.empty()) {
      return LoadUsage("--profile and --sweep do not go together: a recording is of one load");
    }
    if (!f_.profile &&
        (f_.session != SessionArguments() || !f_.flush_timeout.empty() || f_.whole_load)) {
      return LoadUsage(
          "--whole-load, --steps, --out, --trace-dir and what else a recording takes need "
          "--profile");
    }
    job_.target.model = f_.served_model_name.empty() ? f_.model : f_.served_model_name;
    // OPENAI_API_KEY is the variable that vLLM's client reads.
    TACHO_ASSIGN_OR_RETURN(job_.http, f_.server.Http({"TACHO_API_KEY", "OPENAI_API_KEY"}));
    return SetHeaders();
  }

  // Errors repeat no part of a header, because it may be a key.
  Result<void> SetHeaders() {
    for (const std::string& header : f_.headers) {
      const size_t sign = header.find_first_of("=:");
      if (sign == std::string::npos)
        return LoadUsage("--header needs NAME=VALUE: one that is given has neither '=' nor ':'");
      const size_t value = header.find_first_not_of(' ', sign + 1);
      job_.http.headers.push_back(
          {header.substr(0, sign), value == std::string::npos ? "" : header.substr(value)});
      if (const auto good = CheckHeader(job_.http.headers.back()); !good)
        return LoadUsage("--header: " + good.error().message);
    }
    return {};
  }

  Result<void> SetApi() {
    const std::string& backend = f_.backend;
    std::string& api = job_.target.api;
    if (backend == "openai-chat") {
      api = "chat";
    } else if (backend == "sglang") {
      api = "generate";
    } else if (!backend.empty() && backend != "vllm" && backend != "openai") {
      return LoadUsage(fmt::format(
          "no --backend '{}' (there are vllm, openai, openai-chat, sglang)", VisibleText(backend)));
    }
    if (!f_.api.empty()) api = f_.api;
    if (api != "completions" && api != "chat" && api != "generate") {
      return LoadUsage(
          fmt::format("no --api '{}' (there are completions, chat, generate)", VisibleText(api)));
    }
    job_.target.route = f_.endpoint;
    if (f_.endpoint.ends_with("/chat/completions")) api = "chat";
    job_.target.stream = !f_.no_streaming;
    job_.target.ignore_eos = !f_.natural_length;
    job_.identity.backend = !backend.empty()    ? backend
                            : api == "chat"     ? "openai-chat"
                            : api == "generate" ? "sglang"
                                                : "openai";
    job_.identity.endpoint_type = job_.identity.backend;
    return {};
  }

  Result<void> SetSampling() {
    std::string fields;
    const std::pair<const char*, const std::string*> all[] = {
        {"temperature", &f_.temperature},
        {"top_p", &f_.top_p},
        {"top_k", &f_.top_k},
        {"min_p", &f_.min_p},
        {"frequency_penalty", &f_.frequency_penalty},
        {"presence_penalty", &f_.presence_penalty},
        {"repetition_penalty", &f_.repetition_penalty},
        {"logprobs", &f_.logprobs}};
    for (const auto& [name, text] : all) {
      if (text->empty()) continue;
      TACHO_ASSIGN_OR_RETURN(const auto number, NumberArgument(name, *text));
      if (std::isinf(number)) return LoadUsage(fmt::format("{} must be finite", name));
      fields += fmt::format("{}\"{}\":{}", fields.empty() ? "" : ",", name, number);
    }
    if (!fields.empty()) job_.target.sampling = "{" + fields + "}";
    if (!f_.extra_body.empty()) {
      if (!IsJsonObject(f_.extra_body)) {
        return LoadUsage("--extra-body needs a JSON object, such as '{\"top_p\":0.9}'");
      }
      job_.target.extra_body = f_.extra_body;
    }
    return {};
  }

  Result<void> SetTimeouts() {
    const auto set = [](const char* option, const std::string& text,
                        std::chrono::milliseconds& time) -> Result<void> {
      if (text.empty()) return {};
      TACHO_ASSIGN_OR_RETURN(const auto given, NsArgument(option, text));
      time = std::chrono::milliseconds(given / 1'000'000);
      return {};
    };
    TACHO_RETURN_IF_ERROR(set("--timeout", f_.timeout, job_.target.timeout));
    TACHO_RETURN_IF_ERROR(set("--stall-timeout", f_.stall_timeout, job_.target.stall_timeout));
    TACHO_RETURN_IF_ERROR(set("--flush-timeout", f_.flush_timeout, job_.flush_timeout));
    TACHO_RETURN_IF_ERROR(set("--ready-check-timeout-sec", f_.ready_timeout, job_.ready_timeout));
    job_.warmups = static_cast<uint64_t>(f_.warmups.value_or(0));
    return {};
  }

  Result<void> SetReport() {
    for (const std::string& text : f_.goodput) {
      TACHO_ASSIGN_OR_RETURN(auto slos, WithContext(ParseSlos(text), "--goodput, --slo"));
      job_.slos.insert(job_.slos.end(), slos.begin(), slos.end());
    }
    job_.metrics.goodput = !job_.slos.empty();
    job_.metrics.detailed = f_.save_detailed || !f_.vllm_json.empty();
    job_.target.keep_text = job_.metrics.detailed;
    if (!f_.percentile_metrics.empty()) {
      job_.metrics.names = SplitCommas(f_.percentile_metrics);
    } else if (f_.LikeBench()) {
      job_.metrics.names = {"ttft", "tpot", "itl"};
    }
    if (!f_.metric_percentiles.empty()) {
      job_.metrics.percents.clear();
      for (const std::string& text : SplitCommas(f_.metric_percentiles)) {
        TACHO_ASSIGN_OR_RETURN(const auto percent, NumberArgument("--metric-percentiles", text));
        job_.metrics.percents.push_back(percent);
      }
    }
    TACHO_RETURN_IF_ERROR(CheckBenchMetrics(job_.metrics));
    for (const std::string& pair : f_.metadata) {
      const size_t sign = pair.find('=');
      if (sign == std::string::npos || sign == 0) {
        return LoadUsage(fmt::format("--metadata takes KEY=VALUE, not '{}'", VisibleText(pair)));
      }
      job_.identity.metadata.emplace_back(pair.substr(0, sign), pair.substr(sign + 1));
    }
    job_.identity.model_id = f_.model;
    if (!f_.label.empty()) job_.identity.label = f_.label;
    if (!f_.ignored_value.empty()) job_.identity.tokenizer_id = f_.ignored_value;
    job_.drive.id_prefix = f_.request_id_prefix;
    job_.drive.real_time = !f_.normal_priority;
    return {};
  }

  Result<void> SetSweep() {
    if (f_.attain) job_.sweep.attain = *f_.attain;
    if (!(job_.sweep.attain > 0 && job_.sweep.attain <= 1))
      return LoadUsage("--attain needs a share up to 1");
    if (f_.sweep.empty()) return {};
    const size_t sign = f_.sweep.find('=');
    const std::string what = f_.sweep.substr(0, sign);
    if (what != "concurrency" && what != "rate") {
      return LoadUsage(fmt::format("--sweep takes concurrency=LEVELS or rate=LEVELS, not '{}'",
                                   VisibleText(f_.sweep)));
    }
    TACHO_ASSIGN_OR_RETURN(
        auto levels,
        WithContext(ParseLevels(sign == std::string::npos ? "" : f_.sweep.substr(sign + 1)),
                    "--sweep"));
    if (job_.plan.OpenLoop()) return LoadUsage("a sweep sets its own rates");
    if (!f_.records.empty() || !f_.plan.empty() || !f_.vllm_json.empty() ||
        !f_.result_filename.empty()) {
      return LoadUsage(
          "a sweep has a result for each level, which --records, --plan, --vllm-json and "
          "--result-filename cannot name: take --save-result");
    }
    for (const double level : levels) {
      if (what == "rate" || level == std::floor(level)) continue;
      return LoadUsage(fmt::format("--sweep concurrency takes whole numbers, not {:g}", level));
    }
    job_.sweep.of = what == "rate" ? SweepOf::kRate : SweepOf::kConcurrency;
    job_.sweep.levels = std::move(levels);
    return {};
  }

  const LoadFlags& f_;
  LoadJob job_;
};

}  // namespace

Result<LoadJob> LoadJobOf(const LoadFlags& flags) { return JobMaker(flags).Make(); }

}  // namespace tacho
