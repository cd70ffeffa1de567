#pragma once

#include <optional>
#include <string_view>

namespace tacho {

// The last percentage ("NN%") in the progress output of a program, as a number from 0 to 1; nullopt
// if there is none.
std::optional<double> LastShareIn(std::string_view drawn);

}  // namespace tacho
