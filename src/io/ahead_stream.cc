#include "io/ahead_stream.h"

#include "io/source_stream.h"

namespace tacho {

AheadStream::AheadStream(std::unique_ptr<ByteSource> source, size_t block_bytes)
    : source_(std::move(source)), block_bytes_(block_bytes), thread_([this] { Run(); }) {}

AheadStream::~AheadStream() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  source_->Cancel();  // the thread may be waiting for bytes of a pipe
  thread_.join();
}

Block AheadStream::Next() {
  std::unique_lock lock(mutex_);
  if (released_ < taken_) {
    released_ = taken_;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return taken_ < filled_ || done_; });
  if (taken_ < filled_) {
    Slot& slot = ring_[taken_++ % kBlocks];
    return {slot.memory->data(), slot.size};
  }
  if (failure_) std::rethrow_exception(failure_);
  end_ = source_->end();
  return {};
}

void AheadStream::Run() {
  std::exception_ptr failure;
  try {
    while (FillNext()) {
    }
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  done_ = true;
  changed_.notify_all();
}

// Only this thread changes filled_, so it may read it, and fill the block, without holding the
// lock.
bool AheadStream::FillNext() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || filled_ - released_ < kBlocks; });
    if (stop_) return false;
  }
  Slot& slot = ring_[filled_ % kBlocks];
  if (!slot.memory) slot.memory = std::make_unique<BlockMemory>(block_bytes_);
  slot.size = FillBlock(*source_, slot.memory->data(), slot.memory->capacity());
  if (slot.size == 0) return false;
  const std::lock_guard lock(mutex_);
  ++filled_;
  changed_.notify_all();
  return true;
}

}  // namespace tacho
