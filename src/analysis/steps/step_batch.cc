#include "analysis/steps/step_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/time.h"

namespace tacho {
namespace {

// Upper limit for a size, because a label may contain any number.
constexpr int64_t kLargest = int64_t{1} << 40;

int64_t RoundUp(int64_t size, int64_t to) { return (size + to - 1) / to * to; }
int64_t PowerOfTwo(int64_t size) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
}

int64_t MostRequests(int64_t requests) {
  if (requests <= 8) return requests;
  if (requests <= 256) return RoundUp(requests, 8);
  return requests <= 512 ? RoundUp(requests, 16) : PowerOfTwo(requests);
}

// The smallest of the limits 2^(k/4), rounded up, that is not below `tokens`.
int64_t MostTokens(int64_t tokens) {
  const int64_t above = PowerOfTwo(tokens);
  for (const int quarters : {-3, -2, -1}) {
    const auto most =
        static_cast<int64_t>(std::ceil(static_cast<double>(above) * std::exp2(quarters / 4.0)));
    if (tokens <= most) return most;
  }
  return above;
}

}  // namespace

std::optional<int64_t> BatchSize(const StepLabel& label) {
  if (label.phase == Phase::kDecode) {
    if (label.generation_requests < 0) return std::nullopt;
    return label.generation_requests;
  }
  if (label.context_tokens < 0 && label.generation_tokens < 0) return std::nullopt;
  return AddSaturated(std::max<int64_t>(label.context_tokens, 0),
                      std::max<int64_t>(label.generation_tokens, 0));
}

StepBatch BatchOf(const StepLabel& label) {
  const std::optional<int64_t> size = BatchSize(label);
  if (!size || *size <= 0) return {label.phase, 0};
  const int64_t known = std::min(*size, kLargest);
  return {label.phase, label.phase == Phase::kDecode ? MostRequests(known) : MostTokens(known)};
}

std::string BatchName(const StepBatch& batch) {
  if (batch.most <= 0) return "any batch";
  const bool decode = batch.phase == Phase::kDecode;
  return fmt::format("{}{} {}{}", decode && batch.most <= 8 ? "" : "up to ", batch.most,
                     decode ? "request" : "token", batch.most == 1 ? "" : "s");
}

}  // namespace tacho
