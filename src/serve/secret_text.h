#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// 24 random bytes of the system as 48 hexadecimal digits. kOutput: the system has none to give.
Result<std::string> RandomSecret();

// Whether they are equal. The time that it takes depends on the length of `given` alone.
bool SameSecret(std::string_view secret, std::string_view given);

}  // namespace tacho
