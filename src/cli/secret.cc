#include "cli/secret.h"

#include <algorithm>

#include "net/keys.h"
#include "net/url.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

bool IsUpperOrDigit(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// "X-Api-Key" to "X_API_KEY"; "" if that gives no name.
std::string VariableOf(std::string_view header) {
  std::string name;
  for (const char c : header)
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  const bool good =
      !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
      std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || IsUpperOrDigit(c); });
  return good ? name : "";
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

// A string before a ':' is a key.
std::string WithoutStrings(const std::string& json) {
  std::string shown;
  for (size_t at = 0; at < json.size();) {
    if (json[at] != '"') {
      shown += json[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, json.size());
    const size_t next = json.find_first_not_of(" \t\r\n", end);
    const bool key = next != std::string::npos && json[next] == ':';
    shown += key ? json.substr(at, end - at) : "\"***\"";
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
    case Secret::kNone:
      break;
  }
  return ShellWord(value);
}

}  // namespace tacho
