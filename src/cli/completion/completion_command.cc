#include "cli/completion/completion_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/completion.h"
#include "cli/exit_status.h"
#include "cli/screen/output.h"

namespace tacho {
namespace {

CommandSpec CompletionSpec(std::vector<std::string>& words) {
  CommandSpec spec;
  spec.name = "completion";
  spec.summary = "a script with which bash, zsh or fish completes tacho's command lines";
  spec.usage = "bash|zsh|fish";
  spec.description =
      "Commands, options, their values, files, and the names of running launches. The script asks "
      "the installed tacho, so it stays right when tacho is updated. `cmake --install` and the "
      "Debian package put all three where the shells look.";
  spec.positionals = &words;
  spec.words = CompletionShells();
  spec.names = [] { return std::vector<std::string>(); };
  spec.examples = {
      {"source <(tacho completion bash)", "in ~/.bashrc"},
      {"source <(tacho completion zsh)", "in ~/.zshrc, after compinit"},
      {"tacho completion fish > ~/.config/fish/completions/tacho.fish", "once"},
  };
  return spec;
}

}  // namespace

std::vector<CommandSpec> CompletionSpecs() {
  std::vector<std::string> words;
  return {CompletionSpec(words)};
}

Result<int> RunCompletion(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  const CommandSpec spec = CompletionSpec(words);
  TACHO_ASSIGN_OR_RETURN(const bool help, ParseArguments(spec, arguments));
  const std::string text = help                ? HelpText(spec)
                           : words.size() != 1 ? ""
                                               : std::string(CompletionScript(words[0]));
  if (text.empty())
    return Fail(ErrorKind::kUsage,
                fmt::format("which shell? tacho completion {}", fmt::join(spec.words, "|")));
  TACHO_RETURN_IF_ERROR(WriteStdout(text));
  return kDone;
}

}  // namespace tacho
