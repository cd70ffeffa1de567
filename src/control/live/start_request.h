#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "control/live/profile_control.h"

namespace tacho {

// Parts of start requests, for engine types that build their own (EngineType::PlanStart).

// The body of a start request to SGLang for a session that never begins, because its first step is
// out of reach. SGLang refuses the request while another session runs. Otherwise the new session
// replaces one that has not begun. Serves as a guard before a start, and to cancel a session that
// has not begun.
std::string BodyThatNeverBegins();
// A kUsage error that begins with the worker's address.
tl::unexpected<Error> RefuseStart(const Worker& worker, std::string_view why);
// The beginning of a request's body: the checked fields.
Result<nlohmann::json> StartBodyOf(const Worker& worker, const EngineFacts& facts,
                                   const ProfileOptions& options);

}  // namespace tacho
