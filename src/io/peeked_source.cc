#include "io/peeked_source.h"

#include <algorithm>
#include <cstring>

namespace tacho {

std::string_view PeekedSource::Peek(size_t size) {
  const size_t have = peeked_.size();
  if (have < size) {
    peeked_.resize(size);
    peeked_.resize(have + ReadFully(*source_, peeked_.data() + have, size - have));
  }
  return std::string_view(peeked_).substr(0, size);
}

size_t PeekedSource::Read(char* to, size_t room) {
  if (given_ == peeked_.size()) return source_->Read(to, room);
  const size_t size = std::min(room, peeked_.size() - given_);
  std::memcpy(to, peeked_.data() + given_, size);
  given_ += size;
  return size;
}

}  // namespace tacho
