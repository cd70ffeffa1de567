#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tacho {

// What is secret in foreign text: traces, logs and command lines hold the environment of an engine.
// The functions put '*' in place of each byte of a secret, so that no length changes, and return
// how many they blanked. What shows the form of a secret stays ("hf_", "Bearer "). Blanked text has
// none left. Cost: linear, a pass or a few.

// In any text: secrets of a known form (hf_..., sk-..., ghp_..., AKIA..., "Bearer ...", JSON web
// tokens), passwords in URLs, and what names of secrets (base/secret_names.h) are given:
// "NAME=value", "'NAME': 'value'", "NAME=['value', ...]", "--name value", "?name=value". A name
// that is "key" or "token" alone counts as a variable, an option, in a URL, or where its value is
// quoted. What is JSON is taken as such.
size_t BlankSecrets(std::span<char> text);

// In JSON, or in a part of it: the texts of keys that name a secret, also in lists and objects, and
// the secrets in all other texts, escaped or not. Numbers, true, false, null and keys stay; what
// was valid is valid.
size_t BlankSecretsInJson(std::span<char> json);

// Blanks the JSON value of a key as BlankSecretsInJson does.
size_t BlankSecretValue(std::string_view key, std::span<char> json);

}  // namespace tacho
