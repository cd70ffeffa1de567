#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tacho {

// A program of 64-bit Linux that needs no shared library and no loader, so that it runs on any node
// of the same processors.
bool IsStaticProgram(std::string_view bytes);

struct StaticProgram {
  std::string bytes;
  std::string hash;  // of the bytes, in hexadecimal digits
};
// The program that goes to the nodes: `given` if there is one, else this program if it is static,
// else `tacho-static` beside it. kUsage: there is none, or `given` is not static; the message says
// how to build it.
Result<StaticProgram> FindStaticProgram(const std::optional<std::string>& given);

}  // namespace tacho
