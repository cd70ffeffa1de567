#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/secret_names.h"

namespace tacho {

// The parts of base/secrets.h that plain text and JSON have in common.

// As BlankSecrets, of a text that is no JSON.
size_t BlankSecretsInText(std::span<char> text);

void Blank(std::span<char> text, size_t from, size_t to);
// False if it was blanked before.
bool BlankOnce(std::span<char> text, size_t from, size_t to);

// Whether a value of a name is a secret: not "None" or "128", and long enough to be one.
bool IsSecretValue(Named named, std::string_view value);

// Where in `text` the key of "Bearer KEY" begins, which is at `at`; `at` if no scheme is there.
size_t BehindScheme(std::string_view text, size_t at);

// How many of the words behind an option are secrets: vLLM's --api-key takes several.
enum class Option : uint8_t { kNone, kOneSecret, kSecrets };
Option OptionNamed(std::string_view word);  // "--hf-token"; kNone: it has a value, or is no option

}  // namespace tacho
