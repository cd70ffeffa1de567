#include "control/launch/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/parse_json.h"
#include "control/launch/command_options.h"
#include "control/launch/yaml_json.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostConfigBytes = 1 << 20;

Finding Unreadable(const std::string& path, const std::string& why, const std::string& remedy) {
  return {FindingId::kConfigUnreadable, "--config " + path, why, remedy};
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void AddOption(const std::string& name, const Json& value, std::vector<std::string>& words) {
  if (value.is_null() || value == false) return;
  words.push_back("--" + name);
  if (value == true) return;
  if (!value.is_array()) return words.push_back(TextOf(value));
  for (const Json& one : value) words.push_back(TextOf(one));
}

}  // namespace

Checked<std::vector<std::string>> WithConfigFile(std::vector<std::string> words) {
  const std::vector<CommandOption> options = OptionsOf(words);
  const auto config = std::ranges::find(options, "config", &CommandOption::name);
  if (config == options.end() || !config->value) return words;
  const std::string& path = *config->value;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostConfigBytes + 1, '\0');
  errno = 0;
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto size = static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0));
  if (size == 0)
    return tl::unexpected(
        Unreadable(path,
                   errno == 0 ? "the file is empty, or not there"
                              : "it cannot be read: " + std::string(std::strerror(errno)),
                   "name the engine's configuration file"));
  text.resize(size);
  const auto json = size > kMostConfigBytes ? std::nullopt : JsonOfYaml(text);
  const Json documents = json ? ParseJson(*json) : Json();
  if (!documents.is_array() || documents.size() != 1 || !documents[0].is_object())
    return tl::unexpected(Unreadable(path, "it is not YAML whose keys are the engine's options",
                                     "write it as NAME: VALUE, one line for each option"));
  for (const auto& [key, value] : documents[0].items()) {
    std::string name = key;
    std::ranges::replace(name, '_', '-');
    const bool given = std::ranges::any_of(options, [&](const CommandOption& option) {
      return option.name == name || option.name.starts_with(name + ".");
    });
    if (!given) AddOption(name, value, words);
  }
  return words;
}

}  // namespace tacho
