#pragma once

#include <functional>
#include <istream>
#include <stop_token>
#include <string_view>

namespace tacho {

// Calls `visit` for each line of a log, without its line end, until `visit` returns false or `stop`
// is requested. Memory: 1 MiB; a longer line is passed in parts, each as a line. Cost: one pass.
void ForEachLogLine(std::istream& log, const std::stop_token& stop,
                    const std::function<bool(std::string_view)>& visit);

}  // namespace tacho
