#pragma once

#include <string>

#include "base/result.h"

namespace tacho {

// Makes PARENT/NAME or, if that exists, NAME-2, NAME-3, ... and returns the path. kOutput if no
// folder can be made.
Result<std::string> MakeFreshFolder(const std::string& parent, const std::string& name);

}  // namespace tacho
