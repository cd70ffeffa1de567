#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/result/records.h"

namespace tacho {

enum class SloMetric { kTtft, kTpot, kEndToEnd };

// A limit that a request must keep to count as good.
struct Slo {
  SloMetric metric = SloMetric::kTtft;
  double most_ns = 0;
  std::string text;  // as the user gave it: "ttft:200"
};

// Parses "ttft:200" (milliseconds) or a value with a unit ("ttft=1.5s", "tpot:50ms"). Names: ttft,
// tpot, e2el (or e2e). Blanks or commas separate several limits. kUsage: an unknown name, an
// invalid number.
Result<std::vector<Slo>> ParseSlos(std::string_view text);

// Whether the request is done and keeps every limit. As in vLLM's client, an answer with one token
// has a TPOT of 0.
bool KeepsSlos(const RequestRecord& record, const std::vector<Slo>& slos);

}  // namespace tacho
