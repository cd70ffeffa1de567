#pragma once

#include <string>

namespace tacho {

// What an errno value says in the C locale, and behind ": " what to do about it where something can
// be done: "No space left on device: make room there, or name another place".
std::string SystemErrorText(int error);

}  // namespace tacho
