#pragma once

#include <optional>
#include <string_view>

namespace tacho {

// The last "NN%" of what a program draws while it works, as a share; nullopt without one.
std::optional<double> LastShareIn(std::string_view drawn);

}  // namespace tacho
