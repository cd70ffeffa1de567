#include "text/shell_word.h"

namespace tacho {

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  // A word that begins with "=" is quoted, because zsh replaces =NAME by the path of the program
  // NAME.
  if (!text.empty() && text[0] != '=' && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1);
  return quoted + "'";
}

}  // namespace tacho
