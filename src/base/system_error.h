#pragma once

#include <string>

namespace tacho {

// The text of an errno value in the C locale, followed, where there is a remedy, by ": " and the
// remedy: "No space left on device: make room there, or name another place".
std::string SystemErrorText(int error);

}  // namespace tacho
