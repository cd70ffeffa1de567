#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The completions of the last of `words`, which is incomplete and may be empty. `words` are those
// after "tacho". The first line is "files", "folders" or "words" (neither): which paths the shell
// should add. Then comes a line for each candidate, with its description after a tab. Built from
// the option rows of the commands.
std::string CompletionText(std::vector<std::string> words);

// The script that makes `shell` ("bash", "zsh" or "fish") ask for CompletionText; "" for any other.
std::string_view CompletionScript(std::string_view shell);
const std::vector<std::string>& CompletionShells();

}  // namespace tacho
