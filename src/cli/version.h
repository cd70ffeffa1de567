#pragma once

#include <string>

namespace tacho {

// What this tacho is: its version, what it was built with, and the libraries that are loaded, by
// the names of their files. libcurl is loaded by its first use, so it is only named as built with.
std::string VersionText();
std::string VersionJson();

}  // namespace tacho
