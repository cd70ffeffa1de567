#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "control/live/profile_control.h"

namespace tacho {

// Parts of start requests, for the engines that make their own (EngineType::PlanStart).

// The body of a start for an SGLang session that never begins: its first step is out of reach.
// SGLang refuses it while another session runs. It replaces a session that has not begun.
std::string BodyThatNeverBegins();
// kUsage, with the worker's address in front.
tl::unexpected<Error> RefuseStart(const Worker& worker, std::string_view why);
// The checked fields as the beginning of a request's body.
Result<nlohmann::json> StartBodyOf(const Worker& worker, const EngineFacts& facts,
                                   const ProfileOptions& options);

}  // namespace tacho
