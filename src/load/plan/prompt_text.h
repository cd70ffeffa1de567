#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "load/plan/plan.h"

namespace tacho {

// Appends the prompt's token ids as a JSON list. They are drawn from `token_ids`, which must not be
// empty. The same plan, salt and ids give the same text. Cost: about 5 ns per token.
void AppendTokenIds(const PlannedRequest& request, uint64_t salt,
                    std::span<const int64_t> token_ids, std::string& out);

// Appends the prompt as common English words of about one token each, for an API that takes no ids
// (chat) or if no ids are known. The server's usage reports the actual number of tokens.
void AppendWords(const PlannedRequest& request, uint64_t salt, std::string& out);

}  // namespace tacho
