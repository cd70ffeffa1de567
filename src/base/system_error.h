#pragma once

#include <string>

namespace tacho {

// The text of an errno value in the C locale. If a remedy is known, ": " and the remedy follow: "No
// space left on device: make room there, or name another place".
std::string SystemErrorText(int error);

}  // namespace tacho
