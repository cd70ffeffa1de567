#pragma once

#include <cstddef>
#include <memory>

#include "io/block_stream.h"
#include "io/byte_source.h"

namespace tacho {

// Large enough that the work for each block does not count; small enough that a block which was
// just inflated is still in the L2 cache when it is parsed.
inline constexpr size_t kPlainBlockBytes = 1024 * 1024;
inline constexpr size_t kInflatedBlockBytes = 512 * 1024;

// A block stream that reads from `source` in the thread of the caller, or ahead of him.
std::unique_ptr<BlockStream> StreamOfSource(std::unique_ptr<ByteSource> source,
                                            StreamThreads threads, size_t block_bytes);

// Reads until a block is at least half full, so that a slow pipe is not waited for longer than
// needed and a source that gives small pieces still makes few blocks.
size_t FillBlock(ByteSource& source, char* data, size_t capacity);

}  // namespace tacho
