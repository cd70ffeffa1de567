#include "analysis/ranks/comm_messages.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"

namespace tacho {

int64_t BytesOfType(std::string_view type) {
  // The names are those of c10/core/ScalarType.h.
  constexpr std::array<std::pair<std::string_view, int64_t>, 21> kTypes = {{
      {"BFloat16", 2},
      {"Half", 2},
      {"Float", 4},
      {"Double", 8},
      {"Byte", 1},
      {"Char", 1},
      {"Bool", 1},
      {"Short", 2},
      {"UInt16", 2},
      {"Int", 4},
      {"UInt32", 4},
      {"Long", 8},
      {"UInt64", 8},
      {"Float8_e4m3fn", 1},
      {"Float8_e5m2", 1},
      {"Float8_e4m3fnuz", 1},
      {"Float8_e5m2fnuz", 1},
      {"Float8_e8m0fnu", 1},
      {"ComplexHalf", 4},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
  }};
  const auto* found = std::ranges::find(kTypes, type, &std::pair<std::string_view, int64_t>::first);
  return found == kTypes.end() ? 0 : found->second;
}

std::optional<CommMessage> CommMessages::Of(const ArgsOf& args) const {
  constexpr int64_t kMostElements = int64_t{1} << 50, kMostRanks = 1'000'000;
  if (!in_.anywhere() || !out_.anywhere()) return std::nullopt;
  const auto in = in_.Integer(args), out = out_.Integer(args);
  const int64_t bytes = BytesOfType(JsonStringOrText(trace_.Text(type_.Text(args))));
  const auto is_size = [](const std::optional<int64_t>& elements) {
    return elements && *elements >= 0 && *elements <= kMostElements;
  };
  if (!is_size(in) || !is_size(out) || bytes == 0) return std::nullopt;
  const int64_t ranks = ranks_.Integer(args).value_or(0);
  return CommMessage{*in * bytes, *out * bytes, ranks >= 2 && ranks <= kMostRanks ? ranks : 0};
}

}  // namespace tacho
