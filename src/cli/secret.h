#pragma once

#include <string>

namespace tacho {

// Where in the value of an option a secret may be. What is written down (run.json, commands.sh)
// leaves it out.
enum class Secret {
  kNone,
  kKey,     // all of it
  kHeader,  // NAME=VALUE: the value, unless headers of that name hold no secret (IsPlainHeader)
  kJson,    // every string that is a value
  kUrl,     // a name and a password, the values of a query (ShownUrl)
};

// The value as a word for a shell, to run the command again: keys and headers as variables
// ("$TACHO_API_KEY", "X-Api-Key=$X_API_KEY"), what else is left out as ***.
std::string WrittenWord(Secret secret, const std::string& value);

}  // namespace tacho
