#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/url.h"

namespace tacho {

inline constexpr uint16_t kRayPort = 8265;

// The address of a cluster's job API: "http://HEAD:8265". `given` is "HOST", "HOST:PORT" or a URL;
// "auto" takes it from RAY_API_SERVER_ADDRESS or RAY_ADDRESS, as Ray's own tools do, else it is
// this host. HOST:6379, the address for Ray's drivers, gives the job API of the same host. kUsage:
// an address that is not HTTP, such as ray://.
Result<Url> RayAddress(std::string_view given);

// The same cluster as its drivers know it: "HEAD:6379" if `given`, or the variable in place of
// "auto", is that, or another "HOST:PORT" of RAY_ADDRESS; "auto" if that is this host; else absent.
std::optional<std::string> DriversAddress(std::string_view given);

// The cluster's token, from where Ray's own tools take it: RAY_AUTH_TOKEN, the file that
// RAY_AUTH_TOKEN_PATH names, ~/.ray/auth_token; "" if there is none. kUsage: RAY_AUTH_TOKEN_PATH
// names a file that cannot be read.
Result<std::string> RayToken();

}  // namespace tacho
