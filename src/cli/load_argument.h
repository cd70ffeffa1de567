#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// What is wrong with the flags of `tacho load`, and where they are told: kUsage.
tl::unexpected<Error> LoadUsage(std::string problem);

// The value of `option`: a finite number, or "inf". kUsage when it is none.
Result<double> NumberArgument(std::string_view option, std::string_view text);
// The value of `option` as ParseDuration has it. kUsage.
Result<int64_t> NsArgument(std::string_view option, std::string_view text);

}  // namespace tacho
