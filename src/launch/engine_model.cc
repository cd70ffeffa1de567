#include "launch/engine_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/words.h"
#include "control/launch/command_options.h"
#include "control/launch/config_file.h"

namespace tacho {
namespace {

// A command that starts a server, and where it names the model if there is no --model or
// --model-path.
struct ServerCommand {
  enum Place { kAnyWord, kFirstWord, kOptionAlone };
  size_t first = 0;  // index of the server's first own argument
  Place place = kOptionAlone;
  std::string_view remedy;
};

// The server that a Python module starts. Such a server takes its model only as an option: a model
// that is a plain word is refused by SGLang and ignored by vLLM.
std::optional<ServerCommand> ModuleIn(const std::vector<std::string>& words) {
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    // A wrapper may also have an option -m: "numactl -m 0".
    if (words[i] != "-m" || !ProgramName(words[i - 1]).starts_with("python")) continue;
    if (words[i + 1].starts_with("vllm."))
      return ServerCommand{i + 2, ServerCommand::kOptionAlone, "add --model MODEL"};
    if (words[i + 1].starts_with("sglang."))
      return ServerCommand{i + 2, ServerCommand::kOptionAlone, "add --model-path MODEL"};
  }
  return std::nullopt;
}

std::optional<ServerCommand> ServerCommandIn(const std::vector<std::string>& words) {
  const auto serve = std::ranges::find(words, "serve");
  if (serve == words.end()) return ModuleIn(words);
  ServerCommand command{static_cast<size_t>(serve - words.begin()) + 1, ServerCommand::kAnyWord,
                        "put it first: vllm serve MODEL ..."};
  if (serve == words.begin()) command.remedy = "put it first: serve MODEL ...";
  if (serve != words.begin() && ProgramName(*(serve - 1)) == "sglang") {
    command.place = ServerCommand::kFirstWord;
    command.remedy = "add it: sglang serve --model-path MODEL ...";
  }
  return command;
}

// Whether the word may be a model. Numbers, addresses and JSON are values of options.
bool CanBeModel(std::string_view word) {
  return !word.empty() && std::string_view("-{[").find(word.front()) == std::string_view::npos &&
         std::ranges::any_of(word, [](char c) {
           const char lower = AsciiLower(c);
           return lower >= 'a' && lower <= 'z';
         });
}

// A config file may name the model, but is not a model itself.
bool IsConfigFile(const std::vector<std::string>& words, size_t i) {
  return i > 0 && words[i - 1] == "--config";
}

}  // namespace

Result<void> CheckModel(const std::vector<std::string>& command,
                        const std::vector<std::string>& given) {
  const auto server = ServerCommandIn(command);
  if (!server) return {};
  const auto own = ServerCommandIn(given);
  // If `given` has no command, it begins with the model. In a whole command, a word after an option
  // may be the model or the option's value; it counts as the model.
  const bool any_word = own && server->place == ServerCommand::kAnyWord;
  const auto first = command.begin() + static_cast<std::ptrdiff_t>(server->first);
  for (size_t i = server->first; any_word && i < command.size(); ++i)
    if (CanBeModel(command[i]) && !IsConfigFile(command, i)) return {};
  if (server->place != ServerCommand::kOptionAlone && first != command.end() &&
      !first->starts_with('-'))
    return {};
  const auto whole = WithConfigFile(command);
  if (!whole) return {};  // another check reports this
  for (const CommandOption& option : OptionsOf(*whole))
    if (option.name == "model" || option.name == "model-path") return {};
  const bool may_be_last = !given.empty() && CanBeModel(given.back()) && given.back() != "serve" &&
                           !IsConfigFile(given, given.size() - 1) &&
                           (!own || own->place == ServerCommand::kAnyWord);
  return Fail(ErrorKind::kUsage,
              fmt::format("no model{}: {}", may_be_last ? " before the options" : "",
                          own ? own->remedy
                              : "put it first after --, as in: -- Qwen/Qwen3-0.6B --port 8000"));
}

}  // namespace tacho
