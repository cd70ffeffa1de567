#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "base/result.h"
#include "base/words.h"

namespace tacho {

// Calls `take`, which returns Result<void>, with each line of `text`, trimmed. Skips empty lines
// and comments ("# ..."). Stops at the first error and returns it with its place before it: "SOURCE
// line 12: ".
template <typename Take>
Result<void> ReadRuleLines(std::string_view text, std::string_view source, const Take& take) {
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = Trim(TakeLine(text));
    if (line.empty() || line.starts_with('#')) continue;
    if (const Result<void> taken = take(line); !taken)
      return tl::unexpected<Error>(
          taken.error().WithContext(fmt::format("{} line {}", source, number)));
  }
  return {};
}

// The same for rules that are built into the program. An error there is a bug that tests find, so
// it throws std::logic_error.
template <typename Take>
void ReadBuiltInRules(std::string_view text, std::string_view source, const Take& take) {
  if (const Result<void> read = ReadRuleLines(text, source, take); !read)
    throw std::logic_error(read.error().message);
}

}  // namespace tacho
