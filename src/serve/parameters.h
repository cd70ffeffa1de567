#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tacho {

// The query of a request: "rank=0&q=a%20b". If a parameter is repeated, the first one counts.
// Errors are kUsage and name the parameter and what it may be.
class Parameters {
 public:
  explicit Parameters(std::string_view query);

  [[nodiscard]] std::optional<std::string> Text(std::string_view name) const;
  // A whole number in [least, most]. If the parameter is absent: `otherwise`, or an error if that
  // is absent too.
  [[nodiscard]] Result<int64_t> Number(std::string_view name, int64_t least, int64_t most,
                                       std::optional<int64_t> otherwise = std::nullopt) const;
  // A whole number below `size`.
  [[nodiscard]] Result<size_t> Index(std::string_view name, size_t size) const;
  // `from` and `to`, with from <= to; `otherwise` if both are absent.
  [[nodiscard]] Result<Interval> Window(std::optional<Interval> otherwise = std::nullopt) const;
  // Whole numbers below `size`, "0,3-7", at most `most` of them; nullopt if the parameter is
  // absent.
  [[nodiscard]] Result<std::optional<std::vector<size_t>>> Indexes(std::string_view name,
                                                                   size_t size, size_t most) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// The times of the API stay below 2^53, so that the page's numbers hold them.
inline constexpr int64_t kMostApiTime = int64_t{1} << 53;

}  // namespace tacho
