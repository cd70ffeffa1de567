#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tacho {

using Sizes = std::vector<int64_t>;

// Reads the lists of numbers in "[[8, 4], [], [[2], [2]]]", the argument "Input Dims" of an
// operator. An element that is not a list of numbers, such as a list of tensors, becomes nullopt.
std::vector<std::optional<Sizes>> SizesIn(std::string_view json);

// Reads the strings in ["c10::BFloat16", "", "Scalar"], the argument "Input type" of an operator.
// The views point into `json`. Escapes are not read: no type has any.
std::vector<std::string_view> TypesIn(std::string_view json);

}  // namespace tacho
