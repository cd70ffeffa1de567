#pragma once

#include <string>
#include <string_view>

namespace tacho {

// The C++ name that `mangled` ("_Z...") stands for; empty when it is not mangled, or when
// no compiler would write it: the parts of a mangled name refer to each other, and a few hundred
// bytes can stand for more text than there is memory. Time and memory are bounded (about 5 MB a
// name).
std::string Demangle(const std::string& mangled);

}  // namespace tacho
