#pragma once

#include <string_view>
#include <vector>

#include "control/finding.h"

namespace tacho {

// The ids of the findings, in the order of the findings: "listed-twice", ...
inline std::vector<std::string_view> IdsOf(const std::vector<Finding>& findings) {
  std::vector<std::string_view> ids;
  for (const Finding& finding : findings) ids.push_back(KindOf(finding.id).id);
  return ids;
}

}  // namespace tacho
