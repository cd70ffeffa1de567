#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tacho {

// These functions blank secrets in foreign text: traces, logs and command lines may hold the
// environment of an engine. They put '*' in place of each byte of a secret, so that no length
// changes, and return how many secrets they blanked. The prefix that shows the form of a secret
// stays ("hf_", "Bearer "). A blanked text has no secrets left. Cost: one or a few passes over the
// text.

// Blanks in any text: secrets of a known form (hf_..., sk-..., ghp_..., AKIA..., "Bearer ...", JSON
// web tokens), passwords in URLs, and values given to names of secrets (base/secret_names.h):
// "NAME=value", "'NAME': 'value'", "NAME=['value', ...]", "--name value", "?name=value". The plain
// name "key" or "token" counts only as a variable, as an option, in a URL, or if its value is
// quoted. A text that is JSON goes to BlankSecretsInJson.
size_t BlankSecrets(std::span<char> text);

// Blanks in JSON, or in a part of it: the strings under keys that name a secret, also in lists and
// objects, and the secrets in all other strings, escaped or not. Numbers, true, false, null and
// keys stay; valid JSON stays valid.
size_t BlankSecretsInJson(std::span<char> json);

// Blanks secrets in `json`, the value of `key`, as BlankSecretsInJson would in a whole document.
size_t BlankSecretValue(std::string_view key, std::span<char> json);

}  // namespace tacho
