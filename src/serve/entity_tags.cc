#include "serve/entity_tags.h"

#include <algorithm>

namespace tacho {

bool NamesTag(std::string_view list, std::string_view tag) {
  const auto skip = [&](std::string_view characters) {
    list.remove_prefix(std::min(list.find_first_not_of(characters), list.size()));
  };
  skip(" \t");
  if (list.starts_with('*')) return list.find_first_not_of(" \t", 1) == std::string_view::npos;
  while (true) {
    skip(" \t,");
    if (list.starts_with("W/")) list.remove_prefix(2);
    const size_t end = list.find('"', 1);
    if (!list.starts_with('"') || end == std::string_view::npos) return false;
    if (list.substr(0, end + 1) == tag) return true;
    list.remove_prefix(end + 1);
    skip(" \t");
    if (!list.starts_with(',')) return false;
  }
}

}  // namespace tacho
