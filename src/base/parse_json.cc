#include "base/parse_json.h"

#include <nlohmann/json.hpp>

namespace tacho {
namespace {

bool NestsTooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

template <typename Json>
Json Parse(std::string_view text) {
  if (NestsTooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace

nlohmann::json ParseJson(std::string_view text) { return Parse<nlohmann::json>(text); }
nlohmann::ordered_json ParseOrderedJson(std::string_view text) {
  return Parse<nlohmann::ordered_json>(text);
}

}  // namespace tacho
