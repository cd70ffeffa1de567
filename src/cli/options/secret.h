#pragma once

#include <string>

namespace tacho {

// Which part of an option's value may be secret, and is left out of run.json and commands.sh.
enum class Secret {
  kNone,
  kKey,     // all of it
  kHeader,  // NAME=VALUE: the value, unless headers of that name hold no secret (IsPlainHeader)
  kJson,    // every string that is a value
  kUrl,     // a name and a password, the values of a query (ShownUrl)
  // NAME=VALUE of an environment: the value, if NAME or the form of the value indicates a secret
  // (base/secrets.h). Other values stay: whoever runs the command again may not have that variable.
  kVariable,
};

// The value as a word for a shell, to run the command again: keys, headers and variables as
// variables ("$TACHO_API_KEY", "X-Api-Key=$X_API_KEY"), other secrets as ***.
std::string WrittenWord(Secret secret, const std::string& value);

}  // namespace tacho
