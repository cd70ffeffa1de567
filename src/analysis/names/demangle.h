#pragma once

#include <string>
#include <string_view>

namespace tacho {

// The C++ name of the mangled name `mangled` ("_Z..."). Empty if it is not mangled, or if it is too
// long or stands for too much text: parts of a mangled name refer to each other, so that a few
// hundred bytes can stand for more text than there is memory. Time and memory are bounded (about 5
// MB a name).
std::string Demangle(const std::string& mangled);

}  // namespace tacho
