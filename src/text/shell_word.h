#pragma once

#include <string>
#include <string_view>

namespace tacho {

// `text` as one word of a POSIX shell, quoted only where it must be.
std::string ShellWord(std::string_view text);

}  // namespace tacho
