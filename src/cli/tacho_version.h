#pragma once

#include <string>

namespace tacho {

// The version of tacho, what it was built with, and the libraries that are loaded, by file name.
// libcurl is loaded at its first use, so only the version at build time is named.
std::string VersionText();
std::string VersionJson();

}  // namespace tacho
