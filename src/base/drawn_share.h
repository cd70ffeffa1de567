#pragma once

#include <optional>
#include <string_view>

namespace tacho {

// The last percentage ("NN%") in the progress output of a program, as a share from 0 to 1; nullopt
// if there is no percentage.
std::optional<double> LastShareIn(std::string_view drawn);

}  // namespace tacho
