#include "serve/parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "net/url.h"

namespace tacho {
namespace {

constexpr size_t kMostParameters = 64;

tl::unexpected<Error> NoParameter(std::string_view name, std::string_view what) {
  return Fail(ErrorKind::kUsage, fmt::format("{}= is {}", name, what));
}

}  // namespace

Parameters::Parameters(std::string_view query) {
  while (!query.empty() && pairs_.size() < kMostParameters) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    std::string value(equals == std::string_view::npos ? "" : pair.substr(equals + 1));
    std::ranges::replace(value, '+', ' ');
    pairs_.emplace_back(PercentDecode(pair.substr(0, equals)), PercentDecode(value));
  }
}

std::optional<std::string> Parameters::Text(std::string_view name) const {
  for (const auto& [of, value] : pairs_) {
    if (of == name) return value;
  }
  return std::nullopt;
}

Result<int64_t> Parameters::Number(std::string_view name, int64_t least, int64_t most,
                                   std::optional<int64_t> otherwise) const {
  const auto text = Text(name);
  if (!text && otherwise) return *otherwise;
  const auto number = text ? ParseWhole<int64_t>(*text) : std::nullopt;
  if (!number || *number < least || *number > most)
    return NoParameter(name, fmt::format("a whole number from {} to {}", least, most));
  return *number;
}

Result<size_t> Parameters::Index(std::string_view name, size_t size) const {
  if (size == 0) return NoParameter(name, "the number of one of none");
  TACHO_ASSIGN_OR_RETURN(const int64_t number, Number(name, 0, static_cast<int64_t>(size) - 1));
  return static_cast<size_t>(number);
}

Result<Interval> Parameters::Window(std::optional<Interval> otherwise) const {
  if (otherwise && !Text("from") && !Text("to")) return *otherwise;
  TACHO_ASSIGN_OR_RETURN(const int64_t from, Number("from", -kMostApiTime, kMostApiTime));
  TACHO_ASSIGN_OR_RETURN(const int64_t to, Number("to", from, kMostApiTime));
  return Interval{TimeNs{from}, TimeNs{to}};
}

Result<std::optional<std::vector<size_t>>> Parameters::Indexes(std::string_view name, size_t size,
                                                               size_t most) const {
  const auto text = Text(name);
  if (!text) return std::nullopt;
  std::vector<size_t> all;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const size_t dash = part.find('-');
    const auto first = ParseWhole<uint32_t>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : ParseWhole<uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= size)
      return NoParameter(name, fmt::format("like 0,3-7, with numbers below {}", size));
    if (all.size() + (*last - *first) >= most)
      return NoParameter(name, fmt::format("at most {} numbers", most));
    for (size_t i = *first; i <= *last; ++i) all.push_back(i);
  }
  return all;
}

}  // namespace tacho
