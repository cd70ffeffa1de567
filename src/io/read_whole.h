#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tacho {

// The whole content of a file ("-" is standard input), decompressed. kUsage if it is larger than
// `most` bytes; kUnreadable if it cannot be read to its end.
Result<std::string> ReadWholeFile(const std::string& path, size_t most);

}  // namespace tacho
