#include "load/result/slo.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "load/result/request_times.h"

namespace tacho {
namespace {

Result<Slo> ParseSlo(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Fail(ErrorKind::kUsage, fmt::format("'{}' {}", text, why));
  };
  Slo slo;
  slo.text = text;
  const size_t sign = text.find_first_of(":=");
  const std::string_view name = text.substr(0, sign);
  if (name == "ttft") {
    slo.metric = SloMetric::kTtft;
  } else if (name == "tpot") {
    slo.metric = SloMetric::kTpot;
  } else if (name == "e2el" || name == "e2e") {
    slo.metric = SloMetric::kEndToEnd;
  } else {
    return bad("names no time that a request has (ttft, tpot, e2el)");
  }
  if (sign == std::string_view::npos) return bad("has no bound, such as in ttft:200 (ms)");
  std::string_view unit = text.substr(sign + 1);
  const auto number = TakeNumber<double>(unit);
  const double factor = unit.empty() || unit == "ms" ? 1e6
                        : unit == "s"                ? 1e9
                        : unit == "us"               ? 1e3
                                                     : 0;
  if (!number || factor == 0 || !(*number >= 0)) {
    return bad("has no bound such as in ttft:200 (ms) or ttft:1.5s");
  }
  slo.most_ns = *number * factor;
  return slo;
}

bool Keeps(const RequestRecord& record, const Slo& slo) {
  switch (slo.metric) {
    case SloMetric::kTtft: {
      const auto ttft = TtftNs(record);
      return ttft && static_cast<double>(*ttft) <= slo.most_ns;
    }
    case SloMetric::kTpot:
      return TpotNs(record).value_or(0) <= slo.most_ns;
    case SloMetric::kEndToEnd: {
      const auto whole = EndToEndNs(record);
      return whole && static_cast<double>(*whole) <= slo.most_ns;
    }
  }
  return false;
}

}  // namespace

Result<std::vector<Slo>> ParseSlos(std::string_view text) {
  std::vector<Slo> slos;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(", "), text.size());
    if (end > 0) {
      TACHO_ASSIGN_OR_RETURN(auto slo, ParseSlo(text.substr(0, end)));
      slos.push_back(std::move(slo));
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return slos;
}

bool KeepsSlos(const RequestRecord& record, const std::vector<Slo>& slos) {
  if (record.status != RequestStatus::kDone) return false;
  return std::all_of(slos.begin(), slos.end(), [&](const Slo& slo) { return Keeps(record, slo); });
}

}  // namespace tacho
