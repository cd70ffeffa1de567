#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"

namespace tacho {

struct UnpackBounds {
  uint64_t bytes = uint64_t{64} << 30;  // of all files together, unpacked
  size_t files = 10'000;
};

// Writes the traces in a tar `archive` from another host into `target`: only regular files whose
// names begin with `key`, each under the last part of its name or a similar name (FreshNames).
// Skips links, devices and everything else; writes nothing outside `target`. A file gets its name
// only when it is whole on disk; an incomplete file is removed. `progress` gets the number of bytes
// so far. Returns the files, sorted. kRemote: not an archive, a damaged one, or larger than
// `bounds`; kOutput: no room.
Result<std::vector<std::string>> UnpackTraces(std::unique_ptr<ByteSource> archive,
                                              std::string_view key, const std::string& target,
                                              const UnpackBounds& bounds,
                                              const std::function<void(uint64_t)>& progress);

}  // namespace tacho
