#pragma once

#include <string>

#include "base/result.h"

namespace tacho {

// Makes PARENT/NAME; when it exists, NAME-2, NAME-3, ... Its path. kOutput when it cannot.
Result<std::string> MakeFreshFolder(const std::string& parent, const std::string& name);

}  // namespace tacho
