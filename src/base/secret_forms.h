#pragma once

#include <cstddef>
#include <span>

namespace tacho {

// Blank secrets that show what they are, whatever name they are given: see base/secrets.h. Each
// returns how many it blanked, and goes over the text once for each form.

// Secrets of a known form: hf_..., sk-..., "Bearer ...", JSON web tokens.
size_t BlankKnownForms(std::span<char> text);

// Passwords of "scheme://user:password@host", and a user there that is a key.
size_t BlankUrlPasswords(std::span<char> text);

}  // namespace tacho
