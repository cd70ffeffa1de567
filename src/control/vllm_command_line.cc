#include "control/vllm_command_line.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDotted = "--profiler-config.torch_profiler_dir";
constexpr std::string_view kConfig = "--profiler-config";
constexpr std::string_view kVariable = "VLLM_TORCH_PROFILER_DIR=";

std::string FromJson(std::string_view text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return "";
  auto found = json.find("torch_profiler_dir");
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// The words of a file of /proc, each ended by a NUL.
std::vector<std::string> Words(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace

std::string TraceFolderOf(const std::vector<std::string>& words,
                          const std::vector<std::string>& environment) {
  std::string folder;
  // The last one wins, as with the server's own parser.
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    for (std::string_view option : {kDotted, kConfig}) {
      std::string value;
      if (word == option && i + 1 < words.size())
        value = words[i + 1];
      else if (word.starts_with(option) && word.substr(option.size()).starts_with('='))
        value = word.substr(option.size() + 1);
      if (option == kConfig) value = FromJson(value);
      if (!value.empty()) folder = value;
    }
  }
  for (const std::string& setting : environment)
    if (folder.empty() && setting.starts_with(kVariable)) folder = setting.substr(kVariable.size());
  return folder;
}

std::string TraceFolderOfProcess(int64_t pid) {
  fs::path process = "/proc/" + std::to_string(pid);
  std::string folder = TraceFolderOf(Words(process / "cmdline"), Words(process / "environ"));
  if (folder.empty() || folder.find("://") != std::string::npos) return folder;
  std::error_code failed;
  fs::path base = fs::read_symlink(process / "cwd", failed);
  return failed ? folder : (base / folder).lexically_normal().string();
}

}  // namespace tacho
