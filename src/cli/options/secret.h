#pragma once

#include <string>

namespace tacho {

// Which part of an option's value may be secret, and is left out of run.json and commands.sh.
enum class Secret {
  kNone,
  kKey,     // all of it
  kHeader,  // NAME=VALUE: the value, except in headers that hold no secret (IsPlainHeader)
  kJson,    // every string that is a value
  kUrl,     // the user's name, the password, and the values in the query (ShownUrl)
  // NAME=VALUE of an environment variable: the value, if NAME or the value itself looks like a
  // secret (base/secrets.h). Any other value is written out, because whoever runs the command again
  // may not have set that variable.
  kVariable,
};

// The value as a shell word for running the command again. Secret keys, headers and variables
// become references to variables ("$TACHO_API_KEY", "X-Api-Key=$X_API_KEY"); other secrets become
// ***.
std::string WrittenWord(Secret secret, const std::string& value);

}  // namespace tacho
