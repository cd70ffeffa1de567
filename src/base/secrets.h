#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tacho {

// These functions blank secrets in text from elsewhere: traces, logs and command lines may hold the
// environment of an engine. To blank means to replace each byte of a secret by '*', so all lengths
// stay the same. A prefix that shows the form of a secret stays ("hf_", "Bearer "). Afterwards no
// secrets are left in the text. Each function returns how many secrets it blanked. Cost: one or a
// few passes over the text.

// Blanks in any text: secrets of a known form (hf_..., sk-..., ghp_..., AKIA..., "Bearer ...", JSON
// web tokens); passwords in URLs; and values whose names tell that they are secrets
// (base/secret_names.h): "NAME=value", "'NAME': 'value'", "NAME=['value', ...]", "--name value",
// "?name=value". The plain names "key" and "token" count only as a variable, as an option, in a
// URL, or if the value is quoted. If the text is JSON, BlankSecretsInJson does the work.
size_t BlankSecrets(std::span<char> text);

// Blanks in JSON, or in a part of it: strings whose key names a secret, also inside lists and
// objects under that key, and secrets in all other strings, escaped or not. Numbers, true, false,
// null and keys stay. Valid JSON stays valid.
size_t BlankSecretsInJson(std::span<char> json);

// `json` is the value of `key` in a JSON document. Blanks those parts of `json` that
// BlankSecretsInJson would blank in the whole document.
size_t BlankSecretValue(std::string_view key, std::span<char> json);

}  // namespace tacho
