#pragma once

#include <string>
#include <string_view>

#include "analysis/ranks/digest.h"
#include "base/result.h"

namespace tacho {

// A digest as bytes, for a file: about 12 bytes a communication kernel, and 6 for each part of its
// lead-up. Equal digests give equal bytes. Cost: O(bytes).
std::string BytesOfDigest(const TraceDigest& digest);

// Reads them back. kUnreadable: the bytes are damaged, or of another version of tacho. Whatever the
// bytes hold, the digest is consistent: indexes are in range, kernels are sorted, times are within
// 36 years (2^60 ns) of 0, and it takes less than 100 times the memory of the bytes.
Result<TraceDigest> ReadDigest(std::string_view bytes);

}  // namespace tacho
