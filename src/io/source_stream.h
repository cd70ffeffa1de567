#pragma once

#include <cstddef>
#include <memory>

#include "io/block_stream.h"
#include "io/byte_source.h"

namespace tacho {

// Large enough that the cost of a block is negligible; small enough that a block leaves room in the
// L2 cache for the tables of its reader.
inline constexpr size_t kBlockBytes = 256 * 1024;

// A block stream that reads from `source` in the caller's thread, or ahead of it.
std::unique_ptr<BlockStream> StreamOfSource(std::unique_ptr<ByteSource> source,
                                            StreamThreads threads, size_t block_bytes);

// Reads until a block is at least half full: a slow pipe delays it little, and a source of small
// pieces still makes few blocks.
size_t FillBlock(ByteSource& source, char* data, size_t capacity);

}  // namespace tacho
