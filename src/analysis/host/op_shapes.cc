#include "analysis/host/op_shapes.h"

#include <charconv>

#include "base/words.h"

namespace tacho {

std::vector<std::optional<Sizes>> SizesIn(std::string_view json) {
  std::vector<std::optional<Sizes>> all;
  size_t depth = 0;
  for (size_t i = 0; i < json.size();) {
    const char c = json[i];
    int64_t number = -1;
    const auto [end, error] = std::from_chars(json.data() + i, json.data() + json.size(), number);
    // A number was there; it stays -1 if it does not fit.
    if (error != std::errc::invalid_argument) {
      i = static_cast<size_t>(end - json.data());
      if (depth == 2 && all.back() && number >= 0) {
        all.back()->push_back(number);
      } else if (!all.empty()) {
        all.back().reset();
      }
      continue;
    }
    ++i;
    if (c == '[' && ++depth == 2) all.emplace_back(Sizes{});
    if (c == ']' && depth > 0) --depth;
    const bool known = c == ']' || c == ',' || kBlanks.find(c) != std::string_view::npos;
    if (!all.empty() && (c == '[' ? depth > 2 : !known)) all.back().reset();
  }
  return all;
}

std::vector<std::string_view> TypesIn(std::string_view json) {
  std::vector<std::string_view> types;
  for (size_t open = json.find('"'); open != std::string_view::npos;) {
    const size_t close = json.find('"', open + 1);
    if (close == std::string_view::npos) break;
    types.push_back(json.substr(open + 1, close - open - 1));
    open = json.find('"', close + 1);
  }
  return types;
}

}  // namespace tacho
