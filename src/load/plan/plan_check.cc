#include <fmt/format.h>

#include <cmath>

#include "load/plan/mix_choice.h"
#include "load/plan/plan.h"

namespace tacho {
namespace {

Result<void> CheckLengths(const PlanOptions& o) {
  if (o.prompt_tokens && *o.prompt_tokens < 1) {
    return Fail(ErrorKind::kUsage, "a prompt needs at least one token");
  }
  if (o.output_tokens && *o.output_tokens < 1) {
    return Fail(ErrorKind::kUsage, "an output needs at least one token");
  }
  for (const auto& tokens : {o.prompt_tokens, o.output_tokens}) {
    if (tokens && *tokens > kMostTokens)
      return Fail(ErrorKind::kUsage,
                  fmt::format("more than {} tokens in a prompt or an output", kMostTokens));
  }
  if (o.most_total_tokens && *o.most_total_tokens < 2) {
    return Fail(ErrorKind::kUsage,
                "the model's context length leaves no room for a prompt and an output");
  }
  if (o.prefix_tokens < 0 || o.prefixes < 1) {
    return Fail(ErrorKind::kUsage,
                "a shared prefix cannot have a negative length, and needs at least one variant");
  }
  if (!(o.shared_prefix >= 0 && o.shared_prefix <= 1)) {
    return Fail(ErrorKind::kUsage, "the shared part of prompts must be from 0 to 1");
  }
  return {};
}

Result<void> CheckTimes(const PlanOptions& o) {
  if (o.rate && !(*o.rate > 0 && std::isfinite(*o.rate))) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("the rate must be above 0 requests a second, not {:g} (--rate)", *o.rate));
  }
  if (!(o.burstiness > 0)) return Fail(ErrorKind::kUsage, "the burstiness must be above 0");
  if (o.ramp) {
    const bool exponential = o.ramp->shape == RampShape::kExponential;
    if (!(o.ramp->from_rate >= 0 && o.ramp->to_rate > 0 && std::isfinite(o.ramp->from_rate) &&
          std::isfinite(o.ramp->to_rate)) ||
        (exponential && o.ramp->from_rate == 0)) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("a ramp from {:g} to {:g} requests a second{}", o.ramp->from_rate,
                              o.ramp->to_rate,
                              exponential ? " (an exponential one cannot begin at 0)" : ""));
    }
  }
  if (o.duration_ns && *o.duration_ns <= 0) {
    return Fail(ErrorKind::kUsage, "the duration must be above 0 (--duration)");
  }
  if (o.until_stopped && (!o.duration_ns || o.requests || o.ramp || o.replay_speed)) {
    return Fail(ErrorKind::kUsage,
                "a load without an end needs the length of a round, and has no number of requests, "
                "no ramp and no replay");
  }
  if (o.replay_speed && !(*o.replay_speed > 0 && std::isfinite(*o.replay_speed))) {
    return Fail(ErrorKind::kUsage, "a replay must have a speed above 0");
  }
  if (o.replay_speed && (o.rate || o.ramp)) {
    return Fail(ErrorKind::kUsage, "a replay has its own times: it takes no rate");
  }
  if (o.think_ns < 0)
    return Fail(ErrorKind::kUsage, "the pause between requests must not be negative (--think)");
  if (o.think_ns > 0 && o.OpenLoop()) {
    return Fail(ErrorKind::kUsage, "--think needs a fixed concurrency, not a rate");
  }
  if (o.concurrency == 0 && !o.OpenLoop() && !o.requests) {
    return Fail(ErrorKind::kUsage,
                "--request-rate inf sends all requests at once: give their number (--requests)");
  }
  if (o.requests && *o.requests > kMostRequests) {
    return Fail(ErrorKind::kUsage, fmt::format("more than {} requests", kMostRequests));
  }
  return {};
}

}  // namespace

Result<void> CheckPlan(const PlanOptions& options) {
  TACHO_RETURN_IF_ERROR(CheckLengths(options));
  TACHO_RETURN_IF_ERROR(CheckTimes(options));
  TACHO_RETURN_IF_ERROR(MixChoice::Create(options.mix));
  return {};
}

}  // namespace tacho
