#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// Fetches what was written below PATH of "HOST:PATH" since `since_unix_ns` into `target`, with the
// system's ssh and tar (the user's own configuration and keys; no password is asked for). Gives the
// local files, sorted. kUsage: not of that form; kRemote: ssh failed, with its last words.
Result<std::vector<std::string>> FetchFiles(const std::string& from, int64_t since_unix_ns,
                                            const std::string& target);

}  // namespace tacho
