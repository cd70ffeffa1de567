#include "ingest/kineto_json/window.h"

#include <cstring>

namespace tacho::kineto {

bool Window::More() {
  if (cursor_.last) return false;
  const auto kept = static_cast<size_t>(cursor_.end - cursor_.p);
  if (kept <= BlockStream::kHeadroom) {
    // The bytes to keep may lie in the block that Next() takes back.
    char carry[BlockStream::kHeadroom];
    if (kept != 0) std::memcpy(carry, cursor_.p, kept);
    const Block block = stream_.Next();
    if (block.size != 0) {
      if (kept != 0) std::memcpy(block.data - kept, carry, kept);
      cursor_ = {block.data - kept, block.data + block.size, false};
      end_offset_ += block.size;
      return true;
    }
    own_.assign(carry, carry + kept);
    own_.resize(kept + BlockStream::kTailroom);
    cursor_ = {own_.data(), own_.data() + kept, true};
    return false;
  }
  std::vector<char> gathered(cursor_.p, cursor_.end);
  const size_t wanted = kept * 2;
  bool ended = false;
  while (gathered.size() < wanted) {
    const Block block = stream_.Next();
    if (block.size == 0) {
      ended = true;
      break;
    }
    gathered.insert(gathered.end(), block.data, block.data + block.size);
    end_offset_ += block.size;
  }
  const size_t size = gathered.size();
  gathered.resize(size + BlockStream::kTailroom);
  own_.swap(gathered);
  cursor_ = {own_.data(), own_.data() + size, ended};
  return size > kept;
}

}  // namespace tacho::kineto
