#pragma once

#include <string>
#include <string_view>

namespace tacho {

// `text` as one word for a POSIX shell, quoted only if needed.
std::string ShellWord(std::string_view text);

}  // namespace tacho
