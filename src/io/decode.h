#pragma once

#include <memory>
#include <string_view>

#include "io/block_stream.h"
#include "io/byte_source.h"

namespace tacho {

// How stored bytes are compressed, judged by the first of them.
enum class Packing { kPlain, kGzip, kZstd };

// PackingOf needs this many bytes.
inline constexpr size_t kPackingBytes = 4;

// How data is compressed. `start`: all of it, or at least its first kPackingBytes. Data that is
// only the beginning of a magic number counts as compressed; decoding then reports that it is
// truncated.
Packing PackingOf(std::string_view start);

// A source of the plain bytes of `stored`. If it is not compressed, passes its bytes through.
std::unique_ptr<ByteSource> Decode(std::unique_ptr<ByteSource> stored);

// The plain bytes of `stored`, decompressed if necessary, in blocks.
std::unique_ptr<BlockStream> DecodeStream(std::unique_ptr<ByteSource> stored,
                                          StreamThreads threads);

}  // namespace tacho
