#include "base/parse_json.h"

#include <nlohmann/json.hpp>
#include <string>

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

const nlohmann::json& JsonMember(const nlohmann::json& object, std::string_view key) {
  static const nlohmann::json none;
  if (!object.is_object()) return none;
  const auto found = object.find(std::string(key));
  return found == object.end() ? none : *found;
}

}  // namespace tacho
