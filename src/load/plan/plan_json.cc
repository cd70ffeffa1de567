#include "load/plan/plan_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/json_text.h"

namespace tacho {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename T>
void Put(OrderedJson& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

const char* ArrivalsOf(const PlanOptions& o) {
  if (o.replay_speed) return "replay";
  if (o.OpenLoop())
    return std::isinf(o.burstiness) ? "even" : o.burstiness == 1 ? "poisson" : "gamma";
  return o.concurrency == 0 ? "at_once" : "users";
}

void PutTimes(OrderedJson& json, const PlanOptions& o) {
  json["arrivals"] = ArrivalsOf(o);
  json["concurrency"] = o.concurrency;
  if (o.until_stopped) {
    json["until_stopped"] = true;
    if (o.OpenLoop()) json["round_ns"] = *o.duration_ns;
  } else {
    Put(json, "duration_ns", o.duration_ns);
    if (o.duration_ns) json["grace_ns"] = o.grace_ns;
  }
  Put(json, "rate", o.rate);
  if ((o.rate || o.ramp) && std::isfinite(o.burstiness)) json["burstiness"] = o.burstiness;
  if (o.ramp) {
    json["ramp"] = {{"shape", o.ramp->shape == RampShape::kLinear ? "linear" : "exponential"},
                    {"from_rate", o.ramp->from_rate},
                    {"to_rate", o.ramp->to_rate}};
  }
  Put(json, "replay_speed", o.replay_speed);
  if (o.think_ns > 0) json["think_ns"] = o.think_ns;
}

void PutWork(OrderedJson& json, const LoadPlan& plan) {
  const PlanOptions& o = plan.options;
  if (plan.dataset) {
    json["dataset"] = {{"kind", DatasetName(plan.dataset->kind)}, {"rows", plan.dataset->rows}};
    if (!plan.dataset->path.empty()) json["dataset"]["path"] = plan.dataset->path;
  } else if (!o.FixedLengths()) {
    OrderedJson& mix = json["mix"] = OrderedJson::object();
    for (const MixPart& part : o.mix.empty() ? DefaultMix() : o.mix)
      mix[part.scenario] = part.weight;
  }
  Put(json, "prompt_tokens", o.prompt_tokens);
  Put(json, "output_tokens", o.output_tokens);
  if (o.spread.prompt > 0) json["prompt_spread"] = o.spread.prompt;
  if (o.spread.output > 0) json["output_spread"] = o.spread.output;
  if (o.shared_prefix > 0) json["shared_prefix"] = o.shared_prefix;
  if (o.prefix_tokens > 0) {
    json["prefix_tokens"] = o.prefix_tokens;
    json["prefixes"] = o.prefixes;
  }
  Put(json, "most_total_tokens", o.most_total_tokens);
  json["cut_to_model"] = plan.cut_to_model;
}

OrderedJson Facts(const LoadPlan& plan) {
  OrderedJson json = {{"requests", plan.requests.size()}};
  PutTimes(json, plan.options);
  PutWork(json, plan);
  if (plan.through_router) json["through_router"] = true;
  json["seed"] = plan.options.seed;
  json["salt"] = plan.salt;
  return json;
}

std::string OnOneLine(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void AppendRequest(std::string& out, const PlannedRequest& r, bool in_session) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"index\":{},\"scenario\":{},\"at_ns\":{},\"prompt_tokens\":{},"
                 "\"output_tokens\":{},\"seed\":{}",
                 r.index, QuoteJson(r.scenario), r.at_ns, r.prompt_tokens, r.output_tokens, r.seed);
  const int64_t shared =
      std::accumulate(r.shared.begin(), r.shared.end(), int64_t{0},
                      [](int64_t sum, const PromptPiece& piece) { return sum + piece.tokens; });
  if (shared > 0) out += fmt::format(",\"shared_tokens\":{}", shared);
  if (!r.model.empty()) out += ",\"model\":" + QuoteJson(r.model);
  if (in_session) out += fmt::format(",\"session\":{},\"turn\":{}", r.session, r.turn);
  if (r.think_ns > 0) out += fmt::format(",\"think_ns\":{}", r.think_ns);
  out += '}';
}

}  // namespace

std::string PlanFactsJson(const LoadPlan& plan) { return OnOneLine(Facts(plan)); }

std::string PlanJson(const LoadPlan& plan, std::span<const RequestRecord> records) {
  // If users send for a given duration, more requests are planned than they need: list those sent.
  const bool by_time = plan.GoesRound();
  const size_t sent = records.empty() ? 0 : records.back().index + 1;
  const size_t count = by_time ? std::min(sent, plan.requests.size()) : plan.requests.size();
  OrderedJson facts = Facts(plan);
  facts["requests"] = count;
  std::string out = OnOneLine(facts);
  out.back() = ',';
  out += "\n\"list\":[";
  for (size_t i = 0; i < count; ++i) {
    out += i == 0 ? "\n" : ",\n";
    const bool goes_on = i + 1 < plan.requests.size() && plan.requests[i + 1].turn > 0;
    AppendRequest(out, plan.requests[i], plan.requests[i].turn > 0 || goes_on);
  }
  return out + "\n]}\n";
}

}  // namespace tacho
