#pragma once

#include <memory>
#include <string_view>

#include "io/block_stream.h"
#include "io/byte_source.h"

namespace tacho {

// How the stored bytes are packed, by their first bytes.
enum class Packing { kPlain, kGzip, kZstd };

// How many first bytes decide the packing.
inline constexpr size_t kPackingBytes = 4;

// The packing of data that starts with `start`: all of it, or at least kPackingBytes. Data that is
// only the beginning of a magic number counts as packed (and is then reported as truncated).
Packing PackingOf(std::string_view start);

// A source of the plain bytes. If `stored` is not packed, it passes them through.
std::unique_ptr<ByteSource> Decode(std::unique_ptr<ByteSource> stored);

// The plain bytes of `stored`, decompressed if packed, in blocks.
std::unique_ptr<BlockStream> DecodeStream(std::unique_ptr<ByteSource> stored,
                                          StreamThreads threads);

}  // namespace tacho
