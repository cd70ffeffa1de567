#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// kUsage: the problem with the flags of `tacho load`, and where to read about them.
tl::unexpected<Error> LoadUsage(std::string problem);

// The value of `option`: a finite number, or "inf". kUsage: anything else.
Result<double> NumberArgument(std::string_view option, std::string_view text);
// The value of `option` by ParseDuration, in nanoseconds. kUsage.
Result<int64_t> NsArgument(std::string_view option, std::string_view text);
// The value of `option` as a share: "8%" or "8" is 0.08; 0 to 1000 %. kUsage.
Result<double> ShareArgument(std::string_view option, std::string_view text);

}  // namespace tacho
