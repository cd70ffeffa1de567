#pragma once

#include <optional>
#include <string_view>

namespace tacho {

// The last "NN%" in the progress output of a program, as a share (0..1); nullopt without one.
std::optional<double> LastShareIn(std::string_view drawn);

}  // namespace tacho
