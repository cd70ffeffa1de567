#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// Completes a command line. `words` are the words after "tacho"; the last one is still being typed
// and may be empty. The first line of the result tells which paths the shell should add: "files",
// "folders" or "words" (no paths). Each further line is a candidate, with its description after a
// tab. Candidates come from the option rows of the commands.
std::string CompletionText(std::vector<std::string> words);

// The script that makes `shell` ("bash", "zsh" or "fish") ask for CompletionText; "" for any other.
std::string_view CompletionScript(std::string_view shell);
const std::vector<std::string>& CompletionShells();

}  // namespace tacho
