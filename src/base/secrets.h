#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tacho {

// What is secret in foreign text: traces and command lines hold the environment of an engine.
// The functions that blank put '*' in place of each byte of a secret, so that no length changes.
// What shows the form of a secret in a text stays ("hf_", "Bearer "). Blanked text has no secret
// left.

// Whether a value of that name is a secret: "HF_TOKEN", "api-key", "secretKey", "Authorization".
// Not what only counts, names or holds tokens and keys: "num_tokens", "token_count", "key_cache",
// "eos_token", "tokenizer", "password_file".
bool NamesSecret(std::string_view name);

// Blanks the secrets in a plain text: those of a known form (hf_..., sk-..., ghp_..., AKIA...,
// "Bearer ...", JSON web tokens), and the values of "NAME=value", "'NAME': 'value'" and
// "--name value" where NamesSecret(NAME). A name of one word ("key=...") does not count there.
// Returns how many. Cost: one pass.
size_t BlankSecrets(std::span<char> text);

// The same in JSON, or in a part of it, and there also the texts of keys that name a secret, in
// lists and objects too. Numbers, true, false and null stay. Keys stay.
size_t BlankSecretsInJson(std::span<char> json);

// Blanks the JSON value of a key that names a secret, as BlankSecretsInJson does.
size_t BlankSecretValue(std::string_view key, std::span<char> json);

}  // namespace tacho
