#pragma once

#include <cstdint>
#include <string_view>

namespace tacho {

// Whether a name means that its value is a secret: the only rule for JSON keys, variables, options,
// headers and URL parameters.
enum class Named : uint8_t {
  kPlain,  // "num_tokens", "tokenizer", "key_cache", "kv_key", "eos_token", "password_file"
  // "key", "token", "my_token", "MY_TOKENS", "auth": a secret only if the value LooksLikeKey
  kMaybe,
  kSecret,  // "HF_TOKEN", "api-key", "API_KEYS", "secretKey", "Authorization", "MYSQL_PWD"
};
// Cost: some allocations; none for a name that is too long to name a secret.
Named HowNamed(std::string_view name);

// Whether `value` has at least 8 letters, digits and base64 signs, with a letter next to a digit. A
// number, a path or a word does not look like a key.
bool LooksLikeKey(std::string_view value);

// Whether an environment variable may hold a secret. For commands that are shown, where hiding too
// much does no harm: true for every name that is not kPlain, and for more, such as
// "AWS_ACCESS_KEY_ID" and "SLACK_WEBHOOK".
bool MayHoldSecret(std::string_view variable);

}  // namespace tacho
