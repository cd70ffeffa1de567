#pragma once

#include <functional>
#include <istream>
#include <stop_token>
#include <string_view>

namespace tacho {

// Calls `visit` for each line of a log, without its end, until it returns false or `stop`. Memory:
// 1 MiB; of a longer line the parts come as lines of their own. Cost: one pass.
void ForEachLogLine(std::istream& log, const std::stop_token& stop,
                    const std::function<bool(std::string_view)>& visit);

}  // namespace tacho
