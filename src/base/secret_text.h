#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/secret_names.h"
#include "base/words.h"

namespace tacho {

// The part of base/secrets.h for plain text. Some of it is also used for JSON. To blank means to
// replace each byte by '*'.

// Does what BlankSecrets does, for a text that is not JSON.
size_t BlankSecretsInText(std::span<char> text);

// Whether a character may be part of a name.
inline bool IsWordChar(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

void Blank(std::span<char> text, size_t from, size_t to);
// Blanks this part. False if it was already blanked.
bool BlankOnce(std::span<char> text, size_t from, size_t to);

// Whether `value` is a secret. `named`: how HowNamed judged the name of the value. Values such as
// "None" or "128" and very short ones are not secrets.
bool IsSecretValue(Named named, std::string_view value);

// If the text at `at` is "Bearer KEY", or has another scheme instead of Bearer: the index of KEY.
// Otherwise `at`.
size_t BehindScheme(std::string_view text, size_t at);

// How many words after a command-line option are secrets. vLLM's --api-key takes several.
enum class Option : uint8_t { kNone, kOneSecret, kSecrets };
// `word`: a word of a command line, such as "--hf-token". The result is kNone for
// "--hf-token=VALUE", because the next word is not its value, and for a word that is not an option.
Option OptionNamed(std::string_view word);

}  // namespace tacho
