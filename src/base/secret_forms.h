#pragma once

#include <cstddef>
#include <span>

namespace tacho {

// These functions blank secrets (replace them by '*') that can be recognized without a name before
// them; see base/secrets.h. Each returns how many secrets it blanked. It goes over the text once
// for each form.

// Secrets of a known form: hf_..., sk-..., "Bearer ...", JSON web tokens.
size_t BlankKnownForms(std::span<char> text);

// Passwords in "scheme://user:password@host", and keys that stand for the user
// ("https://KEY@host").
size_t BlankUrlPasswords(std::span<char> text);

}  // namespace tacho
