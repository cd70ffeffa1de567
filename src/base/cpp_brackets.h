#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tacho {

inline bool IsIdentifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// The length of the operator name that begins at `at`; 0 if none begins there. The name is
// "operator" and its symbol ("operator<<", "operator ()"). For a conversion operator only the word
// "operator" counts.
size_t OperatorNameSize(std::string_view text, size_t at);

// Finds the brackets of a C++ name, or of a part of one, in the form that the demanglers of GNU,
// LLVM and NVIDIA (nsys) write. Brackets are () [] {}, and those < > that enclose template
// arguments or a name ("<unnamed>"). Any other < or > is an operator ("operator<", "->", "(8)<(0)",
// "T2>(int)0&&T3>>(int)1").
//
// A name can be ambiguous: "x<y>(z)" is a comparison or a call. The text around a < or > decides.
// If two readings remain, the one in which all brackets have partners wins. Never fails. Cost:
// O(n).
class CppBrackets {
 public:
  explicit CppBrackets(std::string_view text);

  // Whether a bracket opens at `at`.
  [[nodiscard]] bool Opens(size_t at) const { return ends_[at] != 0; }
  // The index after the bracket that closes the one at `at`; npos if no bracket closes it.
  [[nodiscard]] size_t End(size_t at) const { return ends_[at]; }

 private:
  std::vector<size_t> ends_;  // by index: as End(); 0 where no bracket opens
};

// Splits a list of template arguments ("int, g<3, 4>" has two) and removes the spaces around each.
// Cost: O(n).
std::vector<std::string_view> SplitArguments(std::string_view list);

}  // namespace tacho
