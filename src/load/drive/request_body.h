#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "load/drive/drive.h"
#include "load/plan/plan.h"

namespace tacho {

// Where a target's requests go: its URL with its own route or its API's route ("/v1/completions").
// kUsage: an unknown API, an invalid URL, or sampling or extra_body that is not a JSON object.
Result<std::string> AddressOf(const DriveTarget& target);

// The body of one request for its target. Exactly output_tokens come back: ignore_eos, and
// min_tokens = max_tokens. `id` goes into SGLang's body ("rid"), because SGLang has no header for
// it.
std::string BodyOf(const DriveTarget& target, const PlannedRequest& request, uint64_t salt,
                   std::string_view id);

// How many tokens a target's requests ask for. The target's fields (DriveTarget::sampling,
// extra_body) may replace the planned number.
struct AskedTokens {
  std::optional<int64_t> output;  // tokens of each choice; absent: the planned number
  int64_t choices = 1;

  // The tokens of all choices together; 0: not known.
  int64_t Of(int64_t planned) const;
};
AskedTokens AskedBy(const DriveTarget& target);

// For the sampling and extra_body of a target.
bool IsJsonObject(std::string_view text);

}  // namespace tacho
