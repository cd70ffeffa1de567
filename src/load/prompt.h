#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "load/plan.h"

namespace tacho {

// Appends the prompt's token ids as a JSON list. The ids are drawn from `token_ids`, or from 1000
// to 9999 where there are none: those are words of every vocabulary. The same plan, salt and ids
// give the same text. About 5 ns a token.
void AppendTokenIds(const PlannedRequest& request, uint64_t salt,
                    std::span<const int64_t> token_ids, std::string& out);

// The prompt as a text of common English words, about one token each, for an API that takes no ids
// (chat). How many tokens it was, the server's usage tells.
void AppendWords(const PlannedRequest& request, uint64_t salt, std::string& out);

}  // namespace tacho
