#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/secret_names.h"
#include "base/words.h"

namespace tacho {

// The parts of base/secrets.h that plain text and JSON have in common.

// BlankSecrets for a text that is not JSON.
size_t BlankSecretsInText(std::span<char> text);

// Whether a character may be part of a name.
inline bool IsWordChar(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

void Blank(std::span<char> text, size_t from, size_t to);
// False if this part was blanked before.
bool BlankOnce(std::span<char> text, size_t from, size_t to);

// Whether `value` is a secret, if HowNamed gives `named` for its name. "None", "128" and very short
// values are no secrets.
bool IsSecretValue(Named named, std::string_view value);

// The index of KEY if the text at `at` is "Bearer KEY" or has another scheme instead of Bearer;
// else `at`.
size_t BehindScheme(std::string_view text, size_t at);

// How many of the words after an option are secrets: vLLM's --api-key takes several.
enum class Option : uint8_t { kNone, kOneSecret, kSecrets };
// `word`: "--hf-token". kNone also for "--hf-token=VALUE" and for a word that is no option.
Option OptionNamed(std::string_view word);

}  // namespace tacho
