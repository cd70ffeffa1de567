#pragma once

#include <atomic>

#include "cli/query/query_input.h"

namespace tacho {

// Set by Ctrl-C while the query shell runs: ends the statement, or the line that is being typed.
extern std::atomic<bool> query_interrupted;

// Reads SQL and commands with a dot from the terminal until ".quit" or Ctrl-D, with a history and
// completion by Tab. After an error it prints the error and goes on.
void RunQueryShell(QueryInput& input);

}  // namespace tacho
