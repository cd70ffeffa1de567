#include "simulate/engine/recording.h"

#include <fmt/format.h>

namespace tacho::simulate {
namespace {

std::string Detailed(const StepLoad::Part& part) {
  return fmt::format("{}(sq{}sk{}sqsq{}sqsk{})", part.requests, part.tokens, part.kv,
                     part.tokens_squared, part.tokens_times_kv);
}
std::string Pairs(char prefix, const StepLoad::Part& part) {
  return fmt::format("{0}_sq={1} {0}_sqsq={2} {0}_sqsk={3} {0}_sk={4}", prefix, part.tokens,
                     part.tokens_squared, part.tokens_times_kv, part.kv);
}

std::string SglangName(const RecordedStep& step, bool detailed) {
  const StepLoad& load = step.load;
  std::string name;
  if (load.empty()) return "step[IDLE bs=0]";
  if (load.context.requests > 0 && load.generation.requests > 0) {
    name = fmt::format("step[MIXED bs={}", load.context.requests + load.generation.requests);
    if (detailed) name += " " + Pairs('c', load.context) + " " + Pairs('g', load.generation);
  } else if (load.context.requests > 0) {
    name = fmt::format("step[EXTEND bs={} toks={}", load.context.requests, load.context.tokens);
    if (detailed) name += " " + Pairs('c', load.context);
  } else {
    name = fmt::format("step[{} bs={}", load.proposed > 0 ? "TARGET_VERIFY" : "DECODE",
                       load.generation.requests);
    if (detailed) name += " " + Pairs('g', load.generation);
  }
  if (detailed) name += fmt::format(" forward_id={}", step.forward);
  return name + "]";
}

}  // namespace

std::string StepName(StepNames names, const RecordedStep& step) {
  const StepLoad& load = step.load;
  switch (names) {
    case StepNames::kNone:
      return "";
    case StepNames::kNewCached:
      return fmt::format("execute_new_{}_cached_{}", load.new_requests,
                         load.context.requests + load.generation.requests - load.new_requests);
    case StepNames::kContext:
      return fmt::format("execute_context_{}({})_generation_{}({})", load.context.requests,
                         load.context.tokens, load.generation.requests, load.generation.tokens);
    case StepNames::kContextDetailed:
      return fmt::format("execute_{}_context_{}_generation_{}", load.tokens(),
                         Detailed(load.context), Detailed(load.generation));
    case StepNames::kSglang:
      return SglangName(step, false);
    case StepNames::kSglangDetailed:
      return SglangName(step, true);
  }
  return "";
}

int64_t KinetoBaseNs(int64_t unix_ns) {
  constexpr int64_t kQuarterNs = 7'889'238'000'000'000;
  return unix_ns / kQuarterNs * kQuarterNs;
}

}  // namespace tacho::simulate
