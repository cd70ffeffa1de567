#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// A zip archive with one file that may be executed. The same bytes give the same archive. kOutput:
// they are 2 GB or more.
Result<std::string> ZipProgram(const std::string& name, std::string_view bytes);

}  // namespace tacho
