#include "load/plan/length_spread.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/parse_json.h"

namespace tacho {

Result<LengthSpread> ParseLengthSpread(std::string_view text) {
  const auto json = ParseJson(text);
  const auto share = [&](const nlohmann::json& value) {
    const double x = value.is_number() ? value.get<double>() : -1;
    return x >= 0 && x < 1 ? x : -1;
  };
  LengthSpread spread{-1, -1};
  if (json.is_number()) {
    spread.prompt = spread.output = share(json);
  } else if (json.is_object() && json.size() == 2) {
    spread.prompt = share(json.value("input", nlohmann::json()));
    spread.output = share(json.value("output", nlohmann::json()));
  }
  if (spread.prompt >= 0 && spread.output >= 0) return spread;
  return Fail(ErrorKind::kUsage, "'" + std::string(text) +
                                     "' is neither a share from 0 to below 1 nor {\"input\": "
                                     "SHARE, \"output\": SHARE}");
}

}  // namespace tacho
