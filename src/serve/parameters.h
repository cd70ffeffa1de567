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

// The parameters in a request's query: "rank=0&q=a%20b". If one is repeated, the first counts.
// Errors are kUsage; they name the parameter and the values that it may have.
class Parameters {
 public:
  explicit Parameters(std::string_view query);

  [[nodiscard]] std::optional<std::string> Text(std::string_view name) const;
  // A whole number in [least, most]. Without the parameter: `otherwise`, or an error if that is
  // absent.
  [[nodiscard]] Result<int64_t> Number(std::string_view name, int64_t least, int64_t most,
                                       std::optional<int64_t> otherwise = std::nullopt) const;
  // A whole number from 0 to `size` - 1.
  [[nodiscard]] Result<size_t> Index(std::string_view name, size_t size) const;
  // The interval from `from` to `to`, which must not lie before `from`; `otherwise` if both are
  // absent.
  [[nodiscard]] Result<Interval> Window(std::optional<Interval> otherwise = std::nullopt) const;
  // A list of whole numbers below `size`, such as "0,3-7", with at most `most` of them; nullopt
  // without the parameter.
  [[nodiscard]] Result<std::optional<std::vector<size_t>>> Indexes(std::string_view name,
                                                                   size_t size, size_t most) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// Times in the API stay below 2^53, so that JavaScript numbers hold them exactly.
inline constexpr int64_t kMostApiTime = int64_t{1} << 53;

}  // namespace tacho
