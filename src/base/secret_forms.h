#pragma once

#include <cstddef>
#include <span>

namespace tacho {

// These functions blank secrets that their form gives away, whatever the name in front of them
// (base/secrets.h). Each returns how many secrets it blanked, and goes over the text once for each
// form.

// Secrets of a known form: hf_..., sk-..., "Bearer ...", JSON web tokens.
size_t BlankKnownForms(std::span<char> text);

// Passwords in "scheme://user:password@host", and keys in the place of the user
// ("https://KEY@host").
size_t BlankUrlPasswords(std::span<char> text);

}  // namespace tacho
