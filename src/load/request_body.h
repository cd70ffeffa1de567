#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "load/drive.h"
#include "load/plan.h"

namespace tacho {

// Where its requests go: its URL with the route of its API ("/v1/completions"), or the one it
// names. kUsage: no such API, no URL, its sampling or extra_body is no JSON object.
Result<std::string> AddressOf(const DriveTarget& target);

// The body of one request as its target takes it. Exactly output_tokens come back: ignore_eos, and
// min_tokens = max_tokens. `id` goes into SGLang's body ("rid"), which knows no header for it.
std::string BodyOf(const DriveTarget& target, const PlannedRequest& request, uint64_t salt,
                   std::string_view id);

// What the sampling and extra_body of a target must be, where they are given.
bool IsJsonObject(std::string_view text);

}  // namespace tacho
