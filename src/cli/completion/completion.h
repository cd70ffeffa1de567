#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// What may stand in place of the last of `words`, which is begun, perhaps empty; `words` are those
// after "tacho". The first line is "files", "folders" or "words": which paths the shell adds. Then
// a line for each candidate, with its description after a tab. From the rows of the commands.
std::string CompletionText(std::vector<std::string> words);

// "bash", "zsh" or "fish": the script that has this asked by the shell. "": another one.
std::string_view CompletionScript(std::string_view shell);
const std::vector<std::string>& CompletionShells();

}  // namespace tacho
