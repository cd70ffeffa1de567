#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// A kUsage error: `problem` with the flags of `tacho load`, and a pointer to the help.
tl::unexpected<Error> LoadUsage(std::string problem);

// The value of `option`: a finite number, or "inf". kUsage: anything else.
Result<double> NumberArgument(std::string_view option, std::string_view text);
// The value of `option` in nanoseconds, read by ParseDuration. kUsage: as there.
Result<int64_t> NsArgument(std::string_view option, std::string_view text);
// The value of `option` as a share: "8%" or "8" is 0.08. kUsage: not from 0 to 1000 %.
Result<double> ShareArgument(std::string_view option, std::string_view text);

}  // namespace tacho
