#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// 24 random bytes from the system as 48 hexadecimal digits. kOutput: the system gives none.
Result<std::string> RandomSecret();

// Whether the two are equal. The time that it takes depends only on the length of `given`.
bool SameSecret(std::string_view secret, std::string_view given);

}  // namespace tacho
