#pragma once

#include <string>

namespace tacho {

// The version of tacho, what it was built with, and the file names of the loaded libraries. libcurl
// is loaded only at its first use, so only its version at build time is named.
std::string VersionText();
std::string VersionJson();

}  // namespace tacho
