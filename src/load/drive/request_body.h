#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "load/drive/drive.h"
#include "load/plan/plan.h"

namespace tacho {

// The address for a target's requests: its URL, followed by the target's own route or, if it has
// none, the route of its API ("/v1/completions"). kUsage: an unknown API, an invalid URL, or
// `sampling` or `extra_body` that is not a JSON object.
Result<std::string> AddressOf(const DriveTarget& target);

// The body of one request to `target`. It asks for exactly output_tokens: ignore_eos, and
// min_tokens = max_tokens. `id` goes into SGLang's body ("rid"), because SGLang has no header for
// it.
std::string BodyOf(const DriveTarget& target, const PlannedRequest& request, uint64_t salt,
                   std::string_view id);

// How many tokens a target's requests really ask for. This is not always the planned number:
// DriveTarget::sampling or extra_body may replace it.
struct AskedTokens {
  std::optional<int64_t> output;  // tokens per choice; absent: the planned number
  int64_t choices = 1;

  // The tokens of all choices together; 0: not known.
  int64_t Of(int64_t planned) const;
};
AskedTokens AskedBy(const DriveTarget& target);

// Checks DriveTarget::sampling and extra_body.
bool IsJsonObject(std::string_view text);

}  // namespace tacho
