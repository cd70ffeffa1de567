// The blanking of secrets: no length changes, and valid JSON stays valid. What is blanked has none
// left; of damaged JSON, whose quotes may be read in two ways, that is not asked.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/secrets.h"

namespace {

// Of nlohmann's parser a text ends at '\0'.
bool IsJson(const std::string& text) {
  return text.find('\0') == std::string::npos && nlohmann::json::accept(text);
}

template <typename Blanker>
void Check(const std::string& text, bool is_whole, const Blanker& blank) {
  std::string shown = text;
  const bool found = blank(shown) > 0;
  if (shown.size() != text.size() || found != (shown != text)) std::abort();
  if (IsJson(text) && !IsJson(shown)) std::abort();
  if (is_whole && blank(shown) != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool is_json = IsJson(text);
  const bool begins_as_json = size > 0 && std::string("\"{[").find(text[0]) != std::string::npos;
  Check(text, is_json || !begins_as_json,
        [](std::string& shown) { return tacho::BlankSecrets(shown); });
  Check(text, is_json, [](std::string& shown) { return tacho::BlankSecretsInJson(shown); });
  Check(text, is_json,
        [](std::string& shown) { return tacho::BlankSecretValue("api_key", shown); });
  return 0;
}
