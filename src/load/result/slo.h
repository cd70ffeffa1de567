#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/result/records.h"

namespace tacho {

enum class SloMetric { kTtft, kTpot, kEndToEnd };

// A limit that a good request keeps.
struct Slo {
  SloMetric metric = SloMetric::kTtft;
  double most_ns = 0;
  std::string text;  // as it was given: "ttft:200"
};

// "ttft:200": milliseconds, or with a unit ("ttft=1.5s", "tpot:50ms"). Names: ttft, tpot, e2el (or
// e2e). Several are separated by blanks or commas. kUsage: an unknown name, an invalid number.
Result<std::vector<Slo>> ParseSlos(std::string_view text);

// Whether the request is done and keeps each limit. As in vLLM's client, the TPOT of an answer of
// one token is 0.
bool KeepsSlos(const RequestRecord& record, const std::vector<Slo>& slos);

}  // namespace tacho
