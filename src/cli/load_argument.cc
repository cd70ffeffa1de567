#include "cli/load_argument.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "cli/duration_argument.h"
#include "text/visible_text.h"

namespace tacho {

tl::unexpected<Error> LoadUsage(std::string problem) {
  return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho load --help'");
}

Result<double> NumberArgument(std::string_view option, std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return LoadUsage(fmt::format("{} wants a number, not '{}'", option, VisibleText(text)));
  }
  return value;
}

Result<int64_t> NsArgument(std::string_view option, std::string_view text) {
  const auto duration = ParseDuration(text);
  if (!duration) return tl::unexpected<Error>(duration.error().WithContext(option));
  return duration->ns;
}

}  // namespace tacho
