#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

inline bool IsIdentifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// Whether the '<' at `at` opens template arguments. Otherwise it is an operator, as in "operator<"
// or in the expression "(8)<(0)", which demanglers always write with parentheses.
inline bool OpensArguments(std::string_view text, size_t at) {
  if (at == 0 || text.substr(0, at).ends_with("operator")) return false;
  const char before = text[at - 1];
  if (before == ')') return at + 1 < text.size() && text[at + 1] != '(';
  return IsIdentifier(before);
}

// The index after the bracket that closes the one at `at`; npos if there is none.
inline size_t SkipBrackets(std::string_view text, size_t at) {
  std::string open;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    char wanted = 0;
    switch (c) {
      case '(':
      case '{':
      case '[':
        open.push_back(c);
        break;
      case '<':
        if (i == at || OpensArguments(text, i)) open.push_back(c);
        break;
      case '>':
        // Inside parentheses a lone '>' is an operator; "->" always is.
        if (text[i - 1] != '-' && open.back() == '<') open.pop_back();
        break;
      case ')':
        wanted = '(';
        break;
      case '}':
        wanted = '{';
        break;
      case ']':
        wanted = '[';
        break;
      default:
        break;
    }
    if (wanted != 0) {
      while (!open.empty() && open.back() == '<') open.pop_back();
      if (open.empty() || open.back() != wanted) return std::string_view::npos;
      open.pop_back();
    }
    if (open.empty()) return i + 1;
  }
  return std::string_view::npos;
}

// The arguments of a list ("int, g<3, 4>" has two), without spaces around. Cost: O(n).
inline std::vector<std::string_view> SplitArguments(std::string_view list) {
  std::vector<std::string_view> arguments;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || list[i] == ',') {
      std::string_view one = list.substr(begin, i - begin);
      while (one.starts_with(' ')) one.remove_prefix(1);
      while (one.ends_with(' ')) one.remove_suffix(1);
      if (!one.empty()) arguments.push_back(one);
      begin = i + 1;
    } else if (std::string_view("({[").find(list[i]) != std::string_view::npos ||
               (list[i] == '<' && OpensArguments(list, i))) {
      const size_t end = SkipBrackets(list, i);
      i = (end == std::string_view::npos ? list.size() : end) - 1;
    }
  }
  return arguments;
}

}  // namespace tacho
