#include "io/source_stream.h"

#include <algorithm>

#include "io/ahead_stream.h"
#include "io/block_memory.h"
#include "io/memory_source.h"

namespace tacho {
namespace {

// Reads in the caller's thread. It reuses one block.
class InlineStream : public BlockStream {
 public:
  InlineStream(std::unique_ptr<ByteSource> source, size_t block_bytes)
      : source_(std::move(source)), memory_(block_bytes) {}

  Block Next() override {
    const size_t size = ended_ ? 0 : FillBlock(*source_, memory_.data(), memory_.capacity());
    if (size == 0 && !ended_) {
      ended_ = true;
      end_ = source_->end();
    }
    return {memory_.data(), size};
  }
  [[nodiscard]] StreamDefect defect() const override { return end_.defect; }
  [[nodiscard]] const std::string& defect_text() const override { return end_.text; }
  [[nodiscard]] uint64_t stored_bytes() const override { return source_->stored_bytes(); }

 private:
  std::unique_ptr<ByteSource> source_;
  BlockMemory memory_;
  bool ended_ = false;
  StreamEnd end_;
};

}  // namespace

size_t FillBlock(ByteSource& source, char* data, size_t capacity) {
  return ReadFully(source, data, capacity, (capacity + 1) / 2);
}

std::unique_ptr<BlockStream> StreamOfSource(std::unique_ptr<ByteSource> source,
                                            StreamThreads threads, size_t block_bytes) {
  if (threads == StreamThreads::kAhead) {
    return std::make_unique<AheadStream>(std::move(source), block_bytes);
  }
  return std::make_unique<InlineStream>(std::move(source), block_bytes);
}

std::unique_ptr<BlockStream> StreamOfMemory(std::string_view bytes, size_t block_size) {
  // Make the block no larger than the data: small members and tests do not need a megabyte.
  const size_t block_bytes = std::clamp<size_t>(block_size, 1, std::max<size_t>(bytes.size(), 1));
  return StreamOfSource(std::make_unique<MemorySource>(bytes), StreamThreads::kInline, block_bytes);
}

}  // namespace tacho
