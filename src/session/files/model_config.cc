#include "session/files/model_config.h"

#include <fmt/format.h>

#include "text/shell_word.h"

namespace tacho {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

// "Qwen/Qwen3-8B" is in "models--Qwen--Qwen3-8B".
std::string NameInHub(std::string_view model) {
  std::string name = "models--";
  for (const char c : model) name += c == '/' ? "--" : std::string(1, c);
  return name;
}

}  // namespace

std::string FetchModelConfig(const Transport& host, const std::string& model,
                             std::chrono::milliseconds patience, std::string_view file) {
  if (model.empty()) return "";
  // The newest copy in the hub's cache.
  constexpr const char* kCommand =
      R"sh(cat -- {0}/{2} 2>/dev/null || cat -- "$(ls -td "${{HF_HUB_CACHE:-${{HF_HOME:-$HOME/.cache/huggingface}}/hub}}"/{1}/snapshots/*/ 2>/dev/null | head -n 1){2}" 2>/dev/null)sh";
  const auto command = host.Run(
      fmt::format(kCommand, ShellWord(model), ShellWord(NameInHub(model)), file), patience, {});
  std::string text(kMostBytes + 1, '\0');
  text.resize(ReadFully(*command, text.data(), text.size()));
  return text.size() > kMostBytes || !command->Finish() ? "" : text;
}

}  // namespace tacho
