#pragma once

#include <string>
#include <vector>

namespace tacho {

// `tacho record TARGET...`: from a live deployment to proven, analysed traces (session/record.h).
int RunRecord(const std::vector<std::string>& arguments);
std::string RecordHelp();

}  // namespace tacho
