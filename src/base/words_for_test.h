#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace tacho {

// The words of a command line without quotes.
inline std::vector<std::string> WordsOfLine(std::string_view line) {
  std::vector<std::string> words;
  while (!Trim(line).empty()) words.emplace_back(TakeWord(line));
  return words;
}

}  // namespace tacho
