#include "cli/options/secret.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/secret_names.h"
#include "base/secrets.h"
#include "base/words.h"
#include "net/keys.h"
#include "net/url.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

bool IsVariableName(std::string_view name) {
  return !name.empty() && !IsDigit(name[0]) &&
         std::ranges::all_of(name, [](char c) { return c == '_' || IsLetter(c) || IsDigit(c); });
}

// The name of a variable for `header`: "X_API_KEY" for "X-Api-Key". "" if that gives no valid name.
std::string VariableOf(std::string_view header) {
  std::string name;
  for (const char c : header)
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  return IsVariableName(name) ? name : "";
}

std::string WrittenHeader(const std::string& word) {
  const size_t sign = word.find_first_of("=:");
  if (sign == std::string::npos) return "***";
  const std::string name = word.substr(0, sign);
  if (IsPlainHeader(name)) return ShellWord(word);
  if (SameHeaderName(name, "Authorization") && word.find("Bearer ") != std::string::npos)
    return "\"" + name + "=Bearer $TACHO_API_KEY\"";
  const std::string variable = VariableOf(name);
  return variable.empty() ? "***" : "\"" + name + "=$" + variable + "\"";
}

std::string WrittenVariable(const std::string& word) {
  const size_t sign = word.find('=');
  if (sign == std::string::npos) return ShellWord(word);
  const std::string name = word.substr(0, sign), value = word.substr(sign + 1);
  if (!IsVariableName(name)) return "***";
  std::string blanked = word;
  // For example, AWS_ACCESS_KEY_ID and SLACK_WEBHOOK are secret;
  // SGLANG_NUM_RESERVED_DECODE_TOKENS=512 is not.
  const bool is_secret =
      HowNamed(name) == Named::kSecret || BlankSecrets(blanked) > 0 ||
      (MayHoldSecret(name) && (LooksLikeKey(value) || value.find("://") != value.npos));
  return is_secret ? "\"" + name + "=$" + name + "\"" : ShellWord(word);
}

std::string WithoutStrings(std::string_view json) {
  std::string shown;
  for (size_t at = 0; at < json.size();) {
    if (json[at] != '"') {
      shown += json[at++];
      continue;
    }
    const JsonString string = JsonStringAt(json, at);
    const size_t end = std::min(string.end + 1, json.size());
    shown += string.is_key ? json.substr(at, end - at) : "\"***\"";
    at = end;
  }
  return shown;
}

}  // namespace

std::string WrittenWord(Secret secret, const std::string& value) {
  switch (secret) {
    case Secret::kKey:
      return "\"$TACHO_API_KEY\"";
    case Secret::kHeader:
      return WrittenHeader(value);
    case Secret::kJson:
      return ShellWord(WithoutStrings(value));
    case Secret::kUrl:
      return ShellWord(ShownUrl(value));
    case Secret::kVariable:
      return WrittenVariable(value);
    case Secret::kNone:
      break;
  }
  return ShellWord(value);
}

}  // namespace tacho
