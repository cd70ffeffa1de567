#include "control/vllm_command_line.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace tacho {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kConfig = "--profiler-config";
constexpr const char* kFolder = "torch_profiler_dir";

// The words of a file in /proc, each terminated by NUL.
std::vector<std::string> Words(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

Json ConfigOf(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  Json config = Json::object();
  for (const std::string& setting : environment) {
    const std::string_view text = setting;
    const auto value = text.substr(std::min(text.find('='), text.size() - 1) + 1);
    if (text.starts_with("VLLM_TORCH_PROFILER_DIR=")) config[kFolder] = value;
    if (text.starts_with("VLLM_TORCH_PROFILER_WITH_STACK="))
      config["torch_profiler_with_stack"] = value != "0";
  }
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with(kConfig)) continue;
    const size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(kConfig.size(), equals - kConfig.size());
    if (equals == word.size() && i + 1 == words.size()) break;
    const std::string value(equals < word.size() ? word.substr(equals + 1) : words[++i]);
    Json json = Json::parse(value, nullptr, false);
    if (name.empty() && json.is_object())
      config.update(json);
    else if (name.starts_with('.'))
      config[std::string(name.substr(1))] =
          json.is_primitive() && !json.is_discarded() ? json : Json(value);
  }
  return config;
}

std::string TextOf(const Json& config) {
  return config.empty() ? "" : config.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string ProfilerConfigOf(const std::vector<std::string>& words,
                             const std::vector<std::string>& environment) {
  return TextOf(ConfigOf(words, environment));
}

std::string ProfilerConfigOfProcess(int64_t pid) {
  fs::path process = "/proc/" + std::to_string(pid);
  Json config = ConfigOf(Words(process / "cmdline"), Words(process / "environ"));
  if (auto folder = config.find(kFolder); folder != config.end() && folder->is_string()) {
    const auto path = folder->get<std::string>();
    std::error_code failed;
    fs::path base = fs::read_symlink(process / "cwd", failed);
    if (!failed && path.find("://") == std::string::npos)
      *folder = (base / path).lexically_normal().string();
  }
  return TextOf(config);
}

}  // namespace tacho
