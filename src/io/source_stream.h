#pragma once

#include <cstddef>
#include <memory>

#include "io/block_stream.h"
#include "io/byte_source.h"

namespace tacho {

// The size of a block. It is large enough to make the cost per block negligible, and small enough
// to leave room in the L2 cache for the tables of the block's reader.
inline constexpr size_t kBlockBytes = 256 * 1024;

// A block stream that reads from `source`, in the caller's thread or in one that reads ahead.
std::unique_ptr<BlockStream> StreamOfSource(std::unique_ptr<ByteSource> source,
                                            StreamThreads threads, size_t block_bytes);

// Reads until a block is at least half full. It does not wait for a full block, so that bytes of a
// slow pipe are not held back for long; and a source that gives small pieces still makes few
// blocks.
size_t FillBlock(ByteSource& source, char* data, size_t capacity);

}  // namespace tacho
