#include "simulate/api_routes.h"

#include <algorithm>

namespace tacho::simulate {

std::string QueryValue(std::string_view query, std::string_view key) {
  for (size_t begin = 0; begin < query.size();) {
    const size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view pair = query.substr(begin, end - begin);
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) == key && equals != std::string_view::npos) {
      return std::string(pair.substr(equals + 1));
    }
    begin = end + 1;
  }
  return "";
}

}  // namespace tacho::simulate
