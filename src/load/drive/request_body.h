#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "load/drive/drive.h"
#include "load/plan/plan.h"

namespace tacho {

// Where its requests go: its URL with the route of its API ("/v1/completions"), or the one it
// names. kUsage: no such API, no URL, its sampling or extra_body is no JSON object.
Result<std::string> AddressOf(const DriveTarget& target);

// The body of one request as its target takes it. Exactly output_tokens come back: ignore_eos, and
// min_tokens = max_tokens. `id` goes into SGLang's body ("rid"), which knows no header for it.
std::string BodyOf(const DriveTarget& target, const PlannedRequest& request, uint64_t salt,
                   std::string_view id);

// How many tokens a target's requests ask for, where its own fields replace the planned number.
struct AskedTokens {
  std::optional<int64_t> output;  // of each choice; else the planned number
  int64_t choices = 1;

  // Of all choices together; 0: not known.
  int64_t Of(int64_t planned) const;
};
AskedTokens AskedBy(const DriveTarget& target);

// What the sampling and extra_body of a target must be, where they are given.
bool IsJsonObject(std::string_view text);

}  // namespace tacho
