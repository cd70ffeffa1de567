#include "cli/options/load_argument.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/parse_number.h"
#include "cli/options/duration_argument.h"
#include "text/visible_text.h"

namespace tacho {

tl::unexpected<Error> LoadUsage(std::string problem) {
  return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho load --help'");
}

Result<double> NumberArgument(std::string_view option, std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (const auto value = ParseWhole<double>(text)) return *value;
  return LoadUsage(fmt::format("{} takes a number, not '{}'", option, VisibleText(text)));
}

Result<int64_t> NsArgument(std::string_view option, std::string_view text) {
  TACHO_ASSIGN_OR_RETURN(const auto duration, WithContext(ParseDuration(text), option));
  return duration.ns;
}

Result<double> ShareArgument(std::string_view option, std::string_view text) {
  const std::string_view number = text.substr(0, text.size() - (text.ends_with('%') ? 1 : 0));
  if (const auto value = ParseWhole<double>(number); value && *value >= 0 && *value <= 1000)
    return *value / 100;
  return Fail(ErrorKind::kUsage, fmt::format("{} takes a percentage from 0 to 1000, not '{}'",
                                             option, VisibleText(text)));
}

}  // namespace tacho
