#pragma once

#include <cstdint>
#include <string_view>

namespace tacho {

// Whether the name of a value tells that the value is a secret. Used for JSON keys, variables,
// options, headers and URL parameters alike.
enum class Named : uint8_t {
  kPlain,  // "num_tokens", "tokenizer", "key_cache", "kv_key", "eos_token", "password_file"
  // "key", "token", "my_token", "MY_TOKENS", "auth": a secret only if the value LooksLikeKey
  kMaybe,
  kSecret,  // "HF_TOKEN", "api-key", "API_KEYS", "secretKey", "Authorization", "MYSQL_PWD"
};
// Cost: some allocations. Names that are too long for this are kPlain at once.
Named HowNamed(std::string_view name);

// Whether `value` has at least 8 characters (letters, digits, base64 symbols) and a letter next to
// a digit. Numbers, paths and words do not look like a key.
bool LooksLikeKey(std::string_view value);

// Whether an environment variable may hold a secret. Meant for commands that are shown, where
// hiding too much does no harm: true for every name that is not kPlain, and for more names, such as
// "AWS_ACCESS_KEY_ID" and "SLACK_WEBHOOK".
bool MayHoldSecret(std::string_view variable);

}  // namespace tacho
