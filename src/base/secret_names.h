#pragma once

#include <cstdint>
#include <string_view>

namespace tacho {

// Which names tell of a secret: the one rule for keys of JSON, variables, options, headers and
// parameters of URLs.
enum class Named : uint8_t {
  kPlain,   // "num_tokens", "tokenizer", "key_cache", "kv_key", "eos_token", "password_file"
  kMaybe,   // "key", "token", "my_token", "MY_TOKENS", "auth": where the value LooksLikeKey
  kSecret,  // "HF_TOKEN", "api-key", "API_KEYS", "secretKey", "Authorization", "MYSQL_PWD"
};
// Cost: some allocations; none for a name that is too long to be one.
Named HowNamed(std::string_view name);

// At least 8 letters, digits and signs of base64, with a letter beside a digit: no number, path or
// word.
bool LooksLikeKey(std::string_view value);

// Whether a variable of an environment may hold a secret, for commands that are shown: to hide too
// much does no harm there. Every name of HowNamed, "AWS_ACCESS_KEY_ID", "SLACK_WEBHOOK".
bool MayHoldSecret(std::string_view variable);

}  // namespace tacho
